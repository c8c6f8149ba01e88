"""RepViT (arXiv:2307.09283) in its inference form: the depthwise branches and the two classifiers are fused."""
from torch import nn

from .fastvit import SqueezeExcite, depthwise


def squeezed(channels):
    """A quarter of the channels, rounded to a multiple of eight."""
    return max(8, (channels // 4 + 4) // 8 * 8)


class ChannelMixer(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, 2 * channels, 1)
        self.act = nn.GELU()
        self.conv2 = nn.Conv2d(2 * channels, channels, 1)

    def forward(self, x):
        return x + self.conv2(self.act(self.conv1(x)))


class Block(nn.Sequential):
    def __init__(self, channels, squeeze):
        super().__init__()
        self.add_module("token_mixer", depthwise(channels, 3))
        if squeeze:
            self.add_module("se", SqueezeExcite(channels, squeezed(channels)))
        self.add_module("channel_mixer", ChannelMixer(channels))


class Downsample(nn.Sequential):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.add_module("pre_block", Block(inputs, squeeze=False))
        self.add_module("spatial", depthwise(inputs, 3, 2))
        self.add_module("channel", nn.Conv2d(inputs, outputs, 1))
        self.add_module("ffn", ChannelMixer(outputs))


class RepVit(nn.Module):
    def __init__(self, widths, depths, classes=1000):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, widths[0] // 2, 3, 2, 1), nn.GELU(),
                                  nn.Conv2d(widths[0] // 2, widths[0], 3, 2, 1))
        self.stages = nn.ModuleList()
        for i, (channels, depth) in enumerate(zip(widths, depths)):
            stage = [] if i == 0 else [Downsample(widths[i - 1], channels)]
            stage += [Block(channels, squeeze=j % 2 == 0) for j in range(depth)]
            self.stages.append(nn.Sequential(*stage))
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(widths[-1], classes)

    def forward(self, x):
        x = self.stem(x)
        for stage in self.stages:
            x = stage(x)
        return self.head(self.pool(x).flatten(1))


def repvit_m0_9():
    return RepVit((48, 96, 192, 384), (2, 2, 14, 2))


def repvit_m1_1():
    return RepVit((64, 128, 256, 512), (2, 2, 12, 2))
