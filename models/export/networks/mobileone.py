"""MobileOne (arXiv:2206.04040) in its inference form: the branches of each unit are one convolution."""
from torch import nn

from .fastvit import SqueezeExcite

BLOCKS, WIDTHS = (2, 8, 10, 1), (64, 128, 256, 512)
# Factors of the stages' widths.
SIZES = {"s0": (0.75, 1, 1, 2), "s1": (1.5, 1.5, 2, 2.5), "s2": (1.5, 2, 2.5, 4), "s3": (2, 2.5, 3, 4),
         "s4": (3, 3.5, 3.5, 4)}


def unit(inputs, outputs, kernel, stride=1, squeeze=False):
    groups = inputs if kernel > 1 and inputs == outputs else 1
    layers = [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups)]
    if squeeze:
        layers.append(SqueezeExcite(outputs, outputs // 16))
    return nn.Sequential(*layers, nn.ReLU())


class MobileOne(nn.Module):
    """The largest has squeeze-and-excitation in the second half of the third stage and in the last."""

    def __init__(self, size, classes=1000):
        super().__init__()
        widths = [int(w * f) for w, f in zip(WIDTHS, SIZES[size])]
        squeezed = {2: BLOCKS[2] // 2, 3: BLOCKS[3]} if size == "s4" else {}
        channels = min(64, widths[0])
        self.stem = nn.Sequential(nn.Conv2d(3, channels, 3, 2, 1), nn.ReLU())
        self.stages = nn.ModuleList()
        for i, (count, outputs) in enumerate(zip(BLOCKS, widths)):
            stage = []
            for j in range(count):
                squeeze = j >= count - squeezed.get(i, 0)
                stage.append(unit(channels, channels, 3, 2 if j == 0 else 1, squeeze))
                stage.append(unit(channels, outputs, 1, squeeze=squeeze))
                channels = outputs
            self.stages.append(nn.Sequential(*stage))
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.linear = nn.Linear(channels, classes)

    def forward(self, x):
        x = self.stem(x)
        for stage in self.stages:
            x = stage(x)
        return self.linear(self.pool(x).flatten(1))
