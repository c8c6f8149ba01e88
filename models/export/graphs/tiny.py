"""The four networks of MLPerf Tiny (arXiv:2106.07597, github.com/mlcommons/tiny, benchmark/training), as microcontrollers
run them: batch normalisation folded into the convolution or product before it."""

from builder import FLOAT, GraphBuilder
from catalogue import Entry


class Network:
    """A graph that grows by layers; counts the batch normalisation that the reference models keep."""

    def __init__(self, name, dims):
        self.g = GraphBuilder(name, FLOAT)
        self.x = self.g.input("input", ["batch", *dims])

    def convolution(self, path, inputs, outputs, kernel, stride=1, pads=(0, 0, 0, 0), groups=1, relu=True, x=None):
        weight = self.g.weight(f"{path}.weight", [outputs, inputs // groups, *kernel])
        y = self.g.node("Conv", path, [x or self.x, weight, self.g.weight(f"{path}.bias", [outputs])],
                        kernel_shape=list(kernel), strides=[stride, stride], pads=list(pads), dilations=[1, 1], group=groups)
        if relu:
            y = self.g.node("Relu", path, [y])
        if x is None:
            self.x = y
        return y

    def separable(self, path, inputs, outputs, stride=1, pads=(1, 1, 1, 1)):
        self.convolution(f"{path}.depthwise", inputs, inputs, (3, 3), stride, pads, groups=inputs)
        self.convolution(f"{path}.pointwise", inputs, outputs, (1, 1))

    def dense(self, path, inputs, outputs, relu=False):
        self.x = self.g.node("Gemm", path, [self.x, self.g.weight(f"{path}.weight", [outputs, inputs]),
                                            self.g.weight(f"{path}.bias", [outputs])], transB=1)
        if relu:
            self.x = self.g.node("Relu", path, [self.x])

    def pooled(self):
        self.x = self.g.node("Flatten", "pool", [self.g.node("GlobalAveragePool", "pool", [self.x])], axis=1)

    def ends(self, outputs):
        self.g.output(self.g.node("Identity", "", [self.x], out="output"), ["batch", outputs])
        return self.g


def keyword_spotting():
    """DS-CNN: 49 frames of 10 features, 12 words."""
    n = Network("tiny_ds_cnn", [1, 49, 10])
    n.convolution("conv", 1, 64, (10, 4), 2, (4, 1, 5, 1))
    for i in range(4):
        n.separable(f"blocks.{i}", 64, 64)
    n.pooled()
    n.dense("classifier", 64, 12)
    return n.ends(12)


def image_classification():
    """ResNet-8 of CIFAR-10's images."""
    n = Network("tiny_resnet8", [3, 32, 32])
    n.convolution("conv", 3, 16, (3, 3), 1, (1, 1, 1, 1))
    channels = 16
    for i, outputs in enumerate((16, 32, 64)):
        stride = 1 if i == 0 else 2
        before = n.x
        pads = (1, 1, 1, 1) if stride == 1 else (0, 0, 1, 1)
        n.convolution(f"stacks.{i}.conv1", channels, outputs, (3, 3), stride, pads)
        y = n.convolution(f"stacks.{i}.conv2", outputs, outputs, (3, 3), 1, (1, 1, 1, 1), relu=False)
        if stride > 1:
            before = n.convolution(f"stacks.{i}.shortcut", channels, outputs, (1, 1), stride, relu=False, x=before)
        n.x = n.g.node("Relu", f"stacks.{i}", [n.g.node("Add", f"stacks.{i}", [before, y])])
        channels = outputs
    n.pooled()
    n.dense("classifier", 64, 10)
    return n.ends(10)


def visual_wake_words():
    """MobileNetV1 x0.25 of 96 x 96 images: a person or none."""
    n = Network("tiny_mobilenet_v1", [3, 96, 96])
    n.convolution("conv", 3, 8, (3, 3), 2, (0, 0, 1, 1))
    channels = 8
    layers = ((16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), (128, 1), (128, 1), (128, 1), (128, 1), (128, 1),
              (256, 2), (256, 1))
    for i, (outputs, stride) in enumerate(layers):
        n.separable(f"blocks.{i}", channels, outputs, stride, (1, 1, 1, 1) if stride == 1 else (0, 0, 1, 1))
        channels = outputs
    n.pooled()
    n.dense("classifier", 256, 2)
    return n.ends(2)


def anomaly_detection():
    """An autoencoder of five frames of 128 features."""
    n = Network("tiny_autoencoder", [640])
    widths = (640, 128, 128, 128, 128, 8, 128, 128, 128, 128, 640)
    for i, (inputs, outputs) in enumerate(zip(widths, widths[1:])):
        n.dense(f"layers.{i}", inputs, outputs, relu=i + 2 < len(widths))
    return n.ends(640)


def entry(name, title, task, aliases, build, parameters, with_normalisation, macs):
    return Entry(
        name=name, title=title, family="mlperf-tiny", task=task, kind="network", catalogue="micro", aliases=aliases,
        dims={"batch": 1}, build=build, macs_formula=f"batch*{macs}",
        source="MLPerf Tiny reference models (github.com/mlcommons/tiny), normalisation folded",
        published={
            "parameters": parameters,
            "source": f"MLPerf Tiny reference models: {with_normalisation:,} parameters, "
                      f"{with_normalisation - parameters:,} of them of batch normalisation",
        })


ENTRIES = [
    entry("tiny_ds_cnn", "MLPerf Tiny keyword spotting (DS-CNN)", "keyword-spotting", ["ds_cnn", "mlperf-tiny-kws"],
          keyword_spotting, 22604, 24908, 2656768),
    entry("tiny_resnet8", "MLPerf Tiny image classification (ResNet-8)", "image-classification",
          ["resnet8", "mlperf-tiny-ic"], image_classification, 77706, 78666, 12501632),
    entry("tiny_mobilenet_v1", "MLPerf Tiny visual wake words (MobileNetV1 x0.25)", "image-classification",
          ["mlperf-tiny-vww"], visual_wake_words, 210850, 221794, 7489664),
    entry("tiny_autoencoder", "MLPerf Tiny anomaly detection (autoencoder)", "anomaly-detection", ["mlperf-tiny-ad"],
          anomaly_detection, 265864, 269992, 264192),
]
