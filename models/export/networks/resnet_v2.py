"""ResNets whose normalisation and activation come before each convolution (arXiv:1603.05027), as TensorFlow-Slim builds
them: the stride in the last unit of a group, whose shortcut is then every other pixel."""
from torch import nn


class Unit(nn.Module):
    def __init__(self, inputs, middle, outputs, stride):
        super().__init__()
        self.before = nn.Sequential(nn.BatchNorm2d(inputs), nn.ReLU())
        self.widen = nn.Conv2d(inputs, outputs, 1, stride) if inputs != outputs else None
        self.subsample = nn.MaxPool2d(1, stride) if stride > 1 else nn.Identity()
        self.residual = nn.Sequential(
            nn.Conv2d(inputs, middle, 1, bias=False), nn.BatchNorm2d(middle), nn.ReLU(),
            nn.Conv2d(middle, middle, 3, stride, 1, bias=False), nn.BatchNorm2d(middle), nn.ReLU(),
            nn.Conv2d(middle, outputs, 1))

    def forward(self, x):
        before = self.before(x)
        return (self.subsample(x) if self.widen is None else self.widen(before)) + self.residual(before)


def group(inputs, middle, units, stride):
    outputs = 4 * middle
    return nn.Sequential(*(Unit(inputs if unit == 0 else outputs, middle, outputs, stride if unit == units - 1 else 1)
                           for unit in range(units)))


class ResNetV2(nn.Module):
    def __init__(self, units, classes=1001):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3), nn.MaxPool2d(3, 2, 1))
        self.groups = nn.Sequential(*(group(inputs, middle, count, stride) for inputs, middle, count, stride in zip(
            (64, 256, 512, 1024), (64, 128, 256, 512), units, (2, 2, 2, 1))))
        self.after = nn.Sequential(nn.BatchNorm2d(2048), nn.ReLU(), nn.AdaptiveAvgPool2d(1))
        self.classifier = nn.Linear(2048, classes)

    def forward(self, x):
        return self.classifier(self.after(self.groups(self.stem(x))).flatten(1))


def slim_resnet50_v2():
    return ResNetV2((3, 4, 6, 3))


def slim_resnet152_v2():
    return ResNetV2((3, 8, 36, 3))
