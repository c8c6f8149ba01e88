"""Inception-v4 and Inception-ResNet-v2 (arXiv:1602.07261) as TensorFlow-Slim builds them, without training's dropout."""
import torch
from torch import nn

from .layers import conv_norm_act


def conv(inputs, outputs, kernel, stride=1, padding=0, act=nn.ReLU):
    return conv_norm_act(inputs, outputs, kernel, stride, padding=padding, act=act)


def row_then_column(inputs, middle, outputs, length):
    """1 x length, then length x 1, the size kept."""
    return nn.Sequential(conv(inputs, middle, (1, length), padding=(0, length // 2)),
                         conv(middle, outputs, (length, 1), padding=(length // 2, 0)))


def average_then(inputs, outputs):
    return nn.Sequential(nn.AvgPool2d(3, 1, 1, count_include_pad=False), conv(inputs, outputs, 1))


class Branches(nn.Module):
    """Branches side by side, their channels one after another."""

    def __init__(self, *branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        return torch.cat([branch(x) for branch in self.branches], 1)


class Residual(nn.Module):
    """Branches, a 1x1 back to the width of the input, and their sum with it; Slim folds the scale into the 1x1."""

    def __init__(self, inputs, joined, *branches, act=True):
        super().__init__()
        self.branches = Branches(*branches)
        self.up = nn.Conv2d(joined, inputs, 1)
        self.act = nn.ReLU() if act else nn.Identity()

    def forward(self, x):
        return self.act(x + self.up(self.branches(x)))


def stem_v4():
    return nn.Sequential(
        conv(3, 32, 3, 2), conv(32, 32, 3), conv(32, 64, 3, padding=1),
        Branches(nn.MaxPool2d(3, 2), conv(64, 96, 3, 2)),
        Branches(nn.Sequential(conv(160, 64, 1), conv(64, 96, 3)),
                 nn.Sequential(conv(160, 64, 1), row_then_column(64, 64, 64, 7), conv(64, 96, 3))),
        Branches(conv(192, 192, 3, 2), nn.MaxPool2d(3, 2)))


def block_a():
    return Branches(conv(384, 96, 1), nn.Sequential(conv(384, 64, 1), conv(64, 96, 3, padding=1)),
                    nn.Sequential(conv(384, 64, 1), conv(64, 96, 3, padding=1), conv(96, 96, 3, padding=1)),
                    average_then(384, 96))


def block_b():
    return Branches(conv(1024, 384, 1), nn.Sequential(conv(1024, 192, 1), row_then_column(192, 224, 256, 7)),
                    nn.Sequential(conv(1024, 192, 1), conv(192, 192, (7, 1), padding=(3, 0)),
                                  conv(192, 224, (1, 7), padding=(0, 3)), conv(224, 224, (7, 1), padding=(3, 0)),
                                  conv(224, 256, (1, 7), padding=(0, 3))),
                    average_then(1024, 128))


def both_ways(inputs):
    return Branches(conv(inputs, 256, (1, 3), padding=(0, 1)), conv(inputs, 256, (3, 1), padding=(1, 0)))


def block_c():
    return Branches(conv(1536, 256, 1), nn.Sequential(conv(1536, 384, 1), both_ways(384)),
                    nn.Sequential(conv(1536, 384, 1), conv(384, 448, (3, 1), padding=(1, 0)),
                                  conv(448, 512, (1, 3), padding=(0, 1)), both_ways(512)),
                    average_then(1536, 256))


def reduction_a(inputs, direct, first, second, third):
    return Branches(conv(inputs, direct, 3, 2),
                    nn.Sequential(conv(inputs, first, 1), conv(first, second, 3, padding=1),
                                  conv(second, third, 3, 2)),
                    nn.MaxPool2d(3, 2))


def reduction_b_v4():
    return Branches(nn.Sequential(conv(1024, 192, 1), conv(192, 192, 3, 2)),
                    nn.Sequential(conv(1024, 256, 1), row_then_column(256, 256, 320, 7), conv(320, 320, 3, 2)),
                    nn.MaxPool2d(3, 2))


class Classifier(nn.Module):
    def __init__(self, features, channels, classes=1001):
        super().__init__()
        self.features = features
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(channels, classes)

    def forward(self, x):
        return self.classifier(self.pool(self.features(x)).flatten(1))


def inception_v4():
    return Classifier(nn.Sequential(stem_v4(), *(block_a() for _ in range(4)), reduction_a(384, 384, 192, 224, 256),
                                    *(block_b() for _ in range(7)), reduction_b_v4(), *(block_c() for _ in range(3))),
                      1536)


def block_35():
    return Residual(320, 128, conv(320, 32, 1), nn.Sequential(conv(320, 32, 1), conv(32, 32, 3, padding=1)),
                    nn.Sequential(conv(320, 32, 1), conv(32, 48, 3, padding=1), conv(48, 64, 3, padding=1)))


def block_17():
    return Residual(1088, 384, conv(1088, 192, 1),
                    nn.Sequential(conv(1088, 128, 1), row_then_column(128, 160, 192, 7)))


def block_8(act=True):
    return Residual(2080, 448, conv(2080, 192, 1),
                    nn.Sequential(conv(2080, 192, 1), row_then_column(192, 224, 256, 3)), act=act)


def trunk_of_residual():
    """Up to the last block of 17 x 17 pixels, where the auxiliary classifier reads."""
    mixed = Branches(conv(192, 96, 1), nn.Sequential(conv(192, 48, 1), conv(48, 64, 5, padding=2)),
                     nn.Sequential(conv(192, 64, 1), conv(64, 96, 3, padding=1), conv(96, 96, 3, padding=1)),
                     average_then(192, 64))
    return nn.Sequential(conv(3, 32, 3, 2), conv(32, 32, 3), conv(32, 64, 3, padding=1), nn.MaxPool2d(3, 2),
                         conv(64, 80, 1), conv(80, 192, 3), nn.MaxPool2d(3, 2), mixed,
                         *(block_35() for _ in range(10)), reduction_a(320, 384, 256, 256, 384),
                         *(block_17() for _ in range(20)))


def inception_resnet_v2():
    reduction = Branches(nn.Sequential(conv(1088, 256, 1), conv(256, 384, 3, 2)),
                         nn.Sequential(conv(1088, 256, 1), conv(256, 288, 3, 2)),
                         nn.Sequential(conv(1088, 256, 1), conv(256, 288, 3, padding=1), conv(288, 320, 3, 2)),
                         nn.MaxPool2d(3, 2))
    return Classifier(nn.Sequential(trunk_of_residual(), reduction, *(block_8() for _ in range(9)),
                                    block_8(act=False), conv(2080, 1536, 1)), 1536)


class Auxiliary(nn.Module):
    """The network up to its auxiliary classifier: what TensorFlow Lite and the Open Model Zoo publish under its name."""

    def __init__(self, classes=1001):
        super().__init__()
        self.features = trunk_of_residual()
        self.head = nn.Sequential(nn.AvgPool2d(5, 3), conv(1088, 128, 1), conv(128, 768, 5))
        self.classifier = nn.Linear(768, classes)

    def forward(self, x):
        return self.classifier(self.head(self.features(x)).flatten(1))
