"""EfficientNet-EdgeTPU (arXiv:2003.02838): the first groups expand with a full 3x3 instead of a 1x1 and a depthwise one,
no squeeze-and-excitation, ReLU throughout."""
from math import ceil

from torch import nn

from .layers import conv_norm_act

# Kind of expansion, units, kernel, stride, factor of expansion, output channels.
GROUPS = (("fused", 1, 3, 1, 4, 24), ("fused", 2, 3, 2, 8, 32), ("fused", 4, 3, 2, 8, 48), ("depthwise", 5, 5, 2, 8, 96),
          ("depthwise", 4, 5, 1, 8, 144), ("depthwise", 2, 5, 2, 8, 192))
# Factors of width and depth, the side of the image.
SIZES = {"s": (1.0, 1.0, 224), "m": (1.0, 1.1, 240), "l": (1.2, 1.4, 300)}


def round_to_eight(channels, factor):
    wide = channels * factor
    rounded = max(8, int(wide + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * wide else rounded


class Unit(nn.Module):
    def __init__(self, kind, inputs, given, outputs, kernel, stride, expansion, skip):
        super().__init__()
        middle = given * expansion
        act = nn.ReLU
        # A fused unit takes its stride in the projection.
        layers = ([conv_norm_act(inputs, middle, kernel, act=act), conv_norm_act(middle, outputs, 1, stride, act=None)]
                  if kind == "fused" else
                  [conv_norm_act(inputs, middle, 1, act=act),
                   conv_norm_act(middle, middle, kernel, stride, groups=middle, act=act),
                   conv_norm_act(middle, outputs, 1, act=None)])
        self.block = nn.Sequential(*layers)
        self.skip = skip and stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.block(x) if self.skip else self.block(x)


class EfficientNetEdgeTpu(nn.Module):
    def __init__(self, size, classes=1001):
        super().__init__()
        width, depth, _ = SIZES[size]
        channels = round_to_eight(32, width)
        layers = [conv_norm_act(3, channels, 3, 2, act=nn.ReLU)]
        given = round_to_eight(24, width)  # the first group expands these, whatever the stem gives
        for index, (kind, units, kernel, stride, expansion, outputs) in enumerate(GROUPS):
            outputs = round_to_eight(outputs, width)
            for unit in range(ceil(units * depth)):
                layers.append(Unit(kind, channels, given, outputs, kernel, stride if unit == 0 else 1, expansion,
                                   index > 0))
                channels = given = outputs
        last = round_to_eight(1280, width)
        layers.append(conv_norm_act(channels, last, 1, act=nn.ReLU))
        self.features = nn.Sequential(*layers)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(last, classes)

    def forward(self, x):
        return self.classifier(self.pool(self.features(x)).flatten(1))
