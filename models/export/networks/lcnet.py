"""PP-LCNet (arXiv:2109.15099): depthwise separable convolutions, hard swish, squeeze-and-excitation in the last two."""
from torch import nn

from .layers import conv_norm_act

# Kernel, output channels, stride, whether it squeezes.
LAYERS = ((3, 32, 1, False), (3, 64, 2, False), (3, 64, 1, False), (3, 128, 2, False), (3, 128, 1, False),
          (3, 256, 2, False), (5, 256, 1, False), (5, 256, 1, False), (5, 256, 1, False), (5, 256, 1, False),
          (5, 256, 1, False), (5, 512, 2, True), (5, 512, 1, True))


def rounded(channels):
    new = max(8, int(channels + 4) // 8 * 8)
    return new + 8 if new < 0.9 * channels else new


class Squeeze(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.reduce, self.expand = nn.Conv2d(channels, channels // 4, 1), nn.Conv2d(channels // 4, channels, 1)
        self.act, self.gate = nn.ReLU(), nn.Hardsigmoid()

    def forward(self, x):
        return x * self.gate(self.expand(self.act(self.reduce(self.pool(x)))))


class LcNet(nn.Module):
    def __init__(self, width, classes=1000):
        super().__init__()
        act, channels = nn.Hardswish, rounded(16 * width)
        layers = [conv_norm_act(3, channels, 3, 2, act=act)]
        for kernel, outputs, stride, squeezes in LAYERS:
            outputs = rounded(outputs * width)
            layers.append(conv_norm_act(channels, channels, kernel, stride, groups=channels, act=act))
            layers += [Squeeze(channels)] if squeezes else []
            layers.append(conv_norm_act(channels, outputs, 1, act=act))
            channels = outputs
        self.features = nn.Sequential(*layers)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Sequential(nn.Conv2d(channels, 1280, 1), nn.Hardswish())
        self.classifier = nn.Linear(1280, classes)

    def forward(self, x):
        return self.classifier(self.head(self.pool(self.features(x))).flatten(1))
