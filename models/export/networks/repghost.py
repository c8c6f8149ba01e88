"""RepGhostNet (arXiv:2211.06088), deployed: each module's branches in one depthwise convolution."""
from torch import nn

# Kernel, width inside, output channels, share of squeeze-and-excitation, stride.
UNITS = ((3, 8, 16, 0, 1), (3, 24, 24, 0, 2), (3, 36, 24, 0, 1), (5, 36, 40, 0.25, 2), (5, 60, 40, 0.25, 1),
         (3, 120, 80, 0, 2), (3, 100, 80, 0, 1), (3, 120, 80, 0, 1), (3, 120, 80, 0, 1), (3, 240, 112, 0.25, 1),
         (3, 336, 112, 0.25, 1), (5, 336, 160, 0.25, 2), (5, 480, 160, 0, 1), (5, 480, 160, 0.25, 1),
         (5, 480, 160, 0, 1), (5, 480, 160, 0.25, 1))


def four(channels):
    """A multiple of four that is not a tenth too small."""
    rounded = max(4, int(channels + 2) // 4 * 4)
    return rounded + 4 if rounded < 0.9 * channels else rounded


def conv(inputs, outputs, kernel=1, stride=1, groups=1, act=True):
    layers = [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups)]
    return nn.Sequential(*layers, *([nn.ReLU()] if act else []))


def module(inputs, outputs, act):
    return nn.Sequential(conv(inputs, outputs, act=act), conv(outputs, outputs, 3, groups=outputs, act=act))


class Squeeze(nn.Module):
    def __init__(self, channels, share):
        super().__init__()
        reduced = four(channels * share)
        self.reduce, self.expand = nn.Conv2d(channels, reduced, 1), nn.Conv2d(reduced, channels, 1)
        self.act, self.gate = nn.ReLU(), nn.Hardsigmoid()

    def forward(self, x):
        return x * self.gate(self.expand(self.act(self.reduce(x.mean((2, 3), keepdim=True)))))


class Unit(nn.Module):
    def __init__(self, inputs, middle, outputs, kernel, stride, share):
        super().__init__()
        layers = [module(inputs, middle, True)]
        if stride > 1:
            layers.append(conv(middle, middle, kernel, stride, middle, act=False))
        if share:
            layers.append(Squeeze(middle, share))
        self.block = nn.Sequential(*layers, module(middle, outputs, False))
        plain = inputs == outputs and stride == 1
        self.skip = nn.Identity() if plain else nn.Sequential(conv(inputs, inputs, kernel, stride, inputs, act=False),
                                                              conv(inputs, outputs, act=False))

    def forward(self, x):
        return self.block(x) + self.skip(x)


class RepGhost(nn.Module):
    def __init__(self, width, classes=1000):
        super().__init__()
        channels = four(16 * width)
        layers = [conv(3, channels, 3, 2)]
        for kernel, middle, outputs, share, stride in UNITS:
            outputs = four(outputs * width)
            layers.append(Unit(channels, four(middle * width), outputs, kernel, stride, share))
            channels = outputs
        last = four(480 * width * 2)
        self.features = nn.Sequential(*layers, conv(channels, last))
        self.pool, self.head = nn.AdaptiveAvgPool2d(1), conv(last, 1280)
        self.classifier = nn.Linear(1280, classes)

    def forward(self, x):
        return self.classifier(self.head(self.pool(self.features(x))).flatten(1))
