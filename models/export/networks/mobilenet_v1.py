"""MobileNetV1 (arXiv:1704.04861, table 1)."""
from torch import nn

from .layers import conv_norm_act

# Output channels and stride of the thirteen depthwise-separable layers.
LAYERS = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1), (512, 1), (512, 1), (512, 1),
          (512, 1), (1024, 2), (1024, 1))


class DepthwiseSeparable(nn.Module):
    def __init__(self, inputs, outputs, stride, act):
        super().__init__()
        self.depthwise = conv_norm_act(inputs, inputs, 3, stride, groups=inputs, act=act)
        self.pointwise = conv_norm_act(inputs, outputs, 1, act=act)

    def forward(self, x):
        return self.pointwise(self.depthwise(x))


def features(act=nn.ReLU6, width=1.0):
    """The fourteen convolution layers, of `width` times as many channels. The published models clip at 6
    (TensorFlow's checkpoints)."""
    channels = int(32 * width)
    layers = [conv_norm_act(3, channels, 3, 2, act=act)]
    for outputs, stride in LAYERS:
        outputs = int(outputs * width)
        layers.append(DepthwiseSeparable(channels, outputs, stride, act))
        channels = outputs
    return nn.Sequential(*layers)


class MobileNetV1(nn.Module):
    def __init__(self, classes=1000, width=1.0):
        super().__init__()
        self.features = features(width=width)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(int(1024 * width), classes)

    def forward(self, x):
        return self.classifier(self.pool(self.features(x)).flatten(1))
