"""RepVGG (arXiv:2101.03697) as it is deployed: each unit's branches in one 3x3 convolution."""
from torch import nn

# Units of the stages; width factors of the first three stages and of the last.
SIZES = {"a0": ((2, 4, 14, 1), 0.75, 2.5), "a1": ((2, 4, 14, 1), 1, 2.5), "a2": ((2, 4, 14, 1), 1.5, 2.75),
         "b3": ((4, 6, 16, 1), 3, 5)}


class RepVgg(nn.Module):
    def __init__(self, size, classes=1000):
        super().__init__()
        units, width, last = SIZES[size]
        channels = int(min(64, 64 * width))
        layers = [nn.Conv2d(3, channels, 3, 2, 1), nn.ReLU()]
        for count, outputs in zip(units, (64 * width, 128 * width, 256 * width, 512 * last)):
            for unit in range(count):
                layers += [nn.Conv2d(channels, int(outputs), 3, 2 if unit == 0 else 1, 1), nn.ReLU()]
                channels = int(outputs)
        self.features = nn.Sequential(*layers)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.linear = nn.Linear(channels, classes)

    def forward(self, x):
        return self.linear(self.pool(self.features(x)).flatten(1))
