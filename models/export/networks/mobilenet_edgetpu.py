"""MobileNet-EdgeTPU (its authors' TensorFlow code; MLPerf Mobile's classifier): the first groups expand with a full 3x3
convolution, no squeeze-and-excitation, ReLU throughout."""
from torch import nn

from .efficientnet_edgetpu import Unit
from .layers import conv_norm_act

# Kind of expansion, units, kernel, stride, expansion of the first unit (of the others: 4), output channels, whether the
# first unit adds its input.
GROUPS = (("fused", 4, 3, 2, 8, 32, True), ("fused", 4, 3, 2, 8, 48, True), ("depthwise", 4, 3, 2, 8, 96, True),
          ("depthwise", 4, 3, 1, 8, 96, False), ("depthwise", 4, 5, 2, 8, 160, True),
          ("depthwise", 1, 3, 1, 8, 192, True))


class Fused(nn.Module):
    """The stride is in the 3x3 convolution."""

    def __init__(self, inputs, outputs, stride, expansion):
        super().__init__()
        middle = inputs * expansion
        self.block = nn.Sequential(conv_norm_act(inputs, middle, 3, stride, act=nn.ReLU),
                                   conv_norm_act(middle, outputs, 1, act=None))
        self.skip = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.block(x) if self.skip else self.block(x)


class MobileNetEdgeTpu(nn.Module):
    def __init__(self, classes=1001):
        super().__init__()
        layers, channels = [conv_norm_act(3, 32, 3, 2, act=nn.ReLU), conv_norm_act(32, 16, 1, act=nn.ReLU)], 16
        for kind, count, kernel, stride, first, outputs, adds in GROUPS:
            for i in range(count):
                step, expansion = (stride, first) if i == 0 else (1, 4)
                if kind == "fused":
                    layers.append(Fused(channels, outputs, step, expansion))
                else:
                    layers.append(Unit(kind, channels, channels, outputs, kernel, step, expansion, i > 0 or adds))
                channels = outputs
        layers.append(conv_norm_act(channels, 1280, 1, act=nn.ReLU))
        self.features = nn.Sequential(*layers)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(1280, classes)

    def forward(self, x):
        return self.classifier(self.pool(self.features(x)).flatten(1))
