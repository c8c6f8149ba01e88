"""ResNets with other units: squeeze-and-excitation (arXiv:1709.01507), and the deep stem with averaged shortcuts of
ResNet-D (arXiv:1812.01187)."""
from torch import nn

from .layers import conv_norm_act


class Squeeze(nn.Module):
    def __init__(self, channels, inner):
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc1, self.fc2 = nn.Conv2d(channels, inner, 1), nn.Conv2d(inner, channels, 1)
        self.act, self.gate = nn.ReLU(), nn.Sigmoid()

    def forward(self, x):
        return x * self.gate(self.fc2(self.act(self.fc1(self.pool(x)))))


class Unit(nn.Module):
    def __init__(self, inputs, width, stride, bottleneck, squeeze, averaged):
        super().__init__()
        outputs = 4 * width if bottleneck else width
        act = nn.ReLU
        layers = ([conv_norm_act(inputs, width, 1, act=act), conv_norm_act(width, width, 3, stride, act=act),
                   conv_norm_act(width, outputs, 1, act=None)] if bottleneck else
                  [conv_norm_act(inputs, width, 3, stride, act=act), conv_norm_act(width, width, 3, act=None)])
        self.block = nn.Sequential(*layers)
        # 1/16 of the channels, rounded to eights.
        self.squeeze = Squeeze(outputs, max(8, int(outputs / 16 + 4) // 8 * 8)) if squeeze else nn.Identity()
        self.downsample = nn.Identity()
        if stride > 1 or inputs != outputs:
            if averaged:
                pool = [nn.AvgPool2d(2, 2, ceil_mode=True, count_include_pad=False)] if stride > 1 else []
                self.downsample = nn.Sequential(*pool, conv_norm_act(inputs, outputs, 1, act=None))
            else:
                self.downsample = conv_norm_act(inputs, outputs, 1, stride, act=None)
        self.act = nn.ReLU()

    def forward(self, x):
        return self.act(self.squeeze(self.block(x)) + self.downsample(x))


DEPTHS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}


class ResNetVariant(nn.Module):
    def __init__(self, depth, squeeze=False, deep_stem=False, classes=1000):
        super().__init__()
        bottleneck, act = depth >= 50, nn.ReLU
        stem = ([conv_norm_act(3, 32, 3, 2, act=act), conv_norm_act(32, 32, 3, act=act),
                 conv_norm_act(32, 64, 3, act=act)] if deep_stem else [conv_norm_act(3, 64, 7, 2, act=act)])
        layers, channels = stem + [nn.MaxPool2d(3, 2, 1)], 64
        for stage, units in enumerate(DEPTHS[depth]):
            width = 64 << stage
            for unit in range(units):
                stride = 2 if unit == 0 and stage > 0 else 1
                layers.append(Unit(channels, width, stride, bottleneck, squeeze, deep_stem))
                channels = 4 * width if bottleneck else width
        self.features = nn.Sequential(*layers)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(channels, classes)

    def forward(self, x):
        return self.fc(self.pool(self.features(x)).flatten(1))
