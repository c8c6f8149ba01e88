"""MobileNetV4 (arXiv:2404.10518): inverted bottlenecks whose depthwise convolutions, before and within, are chosen a
block; the hybrids have attention of many queries on one key and value besides."""
import torch
from torch import nn

from .layers import conv_norm_act


class Scale(nn.Module):
    """A learned factor a channel."""

    def __init__(self, channels):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(channels))

    def forward(self, x):
        return x * self.gamma.reshape(1, -1, 1, 1)


class Bottleneck(nn.Module):
    """Kernels of the depthwise convolution ahead of the expansion and of the one after it; 0: none."""

    def __init__(self, inputs, outputs, before, within, stride, expansion, act, scaled):
        super().__init__()
        middle = (inputs * expansion + 4) // 8 * 8
        layers = []
        if before:
            layers.append(conv_norm_act(inputs, inputs, before, 1 if within else stride, groups=inputs, act=None))
        layers.append(conv_norm_act(inputs, middle, 1, act=act))
        if within:
            layers.append(conv_norm_act(middle, middle, within, stride, groups=middle, act=act))
        layers.append(conv_norm_act(middle, outputs, 1, act=None))
        if scaled:
            layers.append(Scale(outputs))
        self.block = nn.Sequential(*layers)
        self.skip = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.block(x) if self.skip else self.block(x)


class Fused(nn.Module):
    """Expansion by a whole 3x3 convolution."""

    def __init__(self, inputs, outputs, stride, expansion, act):
        super().__init__()
        self.block = nn.Sequential(conv_norm_act(inputs, expansion * inputs, 3, stride, act=act),
                                   conv_norm_act(expansion * inputs, outputs, 1, act=None))

    def forward(self, x):
        return self.block(x)


class MultiQuery(nn.Module):
    """Attention over all positions; keys and values are halved maps where `stride` is 2."""

    def __init__(self, channels, heads, width, stride):
        super().__init__()
        self.heads, self.width = heads, width
        self.norm = nn.BatchNorm2d(channels)
        self.query = nn.Conv2d(channels, heads * width, 1, bias=False)

        def shared():
            down = [conv_norm_act(channels, channels, 3, stride, groups=channels, act=None)] if stride > 1 else []
            return nn.Sequential(*down, nn.Conv2d(channels, width, 1, bias=False))

        self.key, self.value = shared(), shared()
        self.output = nn.Conv2d(heads * width, channels, 1, bias=False)
        self.scale = Scale(channels)

    def forward(self, x):
        y = self.norm(x)
        q = self.query(y).reshape(x.shape[0], self.heads, self.width, -1)
        k, v = self.key(y).flatten(2).unsqueeze(1), self.value(y).flatten(2).unsqueeze(1)
        scores = (q.transpose(2, 3) * self.width ** -0.5 @ k).softmax(3)
        mixed = (v @ scores.transpose(2, 3)).reshape(x.shape[0], self.heads * self.width, *x.shape[2:])
        return x + self.scale(self.output(mixed))


def units(count, *unit):
    return [unit] * count


# (before, within, stride, expansion, channels) of a bottleneck; ("attention", heads, width, stride); plain and fused
# convolutions by name.
SMALL = [("conv", 3, 2, 32), ("conv", 1, 1, 32), ("conv", 3, 2, 96), ("conv", 1, 1, 64),
         (5, 5, 2, 3, 96), *units(4, 0, 3, 1, 2, 96), (3, 0, 1, 4, 96),
         (3, 3, 2, 6, 128), (5, 5, 1, 4, 128), (0, 5, 1, 4, 128), (0, 5, 1, 3, 128), *units(2, 0, 3, 1, 4, 128)]
MEDIUM = [("fused", 2, 4, 48), (3, 5, 2, 4, 80), (3, 3, 1, 2, 80),
          (3, 5, 2, 6, 160), *units(2, 3, 3, 1, 4, 160), (3, 5, 1, 4, 160), (3, 3, 1, 4, 160), (3, 0, 1, 4, 160),
          (0, 0, 1, 2, 160), (3, 0, 1, 4, 160),
          (5, 5, 2, 6, 256), (5, 5, 1, 4, 256), *units(2, 3, 5, 1, 4, 256), (0, 0, 1, 4, 256), (3, 0, 1, 4, 256),
          (3, 5, 1, 2, 256), (5, 5, 1, 4, 256), *units(2, 0, 0, 1, 4, 256), (5, 0, 1, 2, 256)]
LARGE = [("fused", 2, 4, 48), (3, 5, 2, 4, 96), (3, 3, 1, 4, 96),
         (3, 5, 2, 4, 192), *units(3, 3, 3, 1, 4, 192), (3, 5, 1, 4, 192), *units(5, 5, 3, 1, 4, 192),
         (3, 0, 1, 4, 192),
         (5, 5, 2, 4, 512), *units(3, 5, 5, 1, 4, 512), (5, 0, 1, 4, 512), (5, 3, 1, 4, 512),
         *units(2, 5, 0, 1, 4, 512), (5, 3, 1, 4, 512), (5, 5, 1, 4, 512), *units(3, 5, 0, 1, 4, 512)]
HALVED, WHOLE = ("attention", 4, 64, 2), ("attention", 4, 64, 1)
HYBRID_MEDIUM = [("fused", 2, 4, 48), (3, 5, 2, 4, 80), (3, 3, 1, 2, 80),
                 (3, 5, 2, 6, 160), (0, 0, 1, 2, 160), (3, 3, 1, 4, 160), (3, 5, 1, 4, 160), HALVED, (3, 3, 1, 4, 160),
                 HALVED, (3, 0, 1, 4, 160), HALVED, (3, 3, 1, 4, 160), HALVED, (3, 0, 1, 4, 160),
                 (5, 5, 2, 6, 256), (5, 5, 1, 4, 256), *units(2, 3, 5, 1, 4, 256), (0, 0, 1, 2, 256), (3, 5, 1, 2, 256),
                 (0, 0, 1, 2, 256), (0, 0, 1, 4, 256), WHOLE, (3, 0, 1, 4, 256), WHOLE, (5, 5, 1, 4, 256), WHOLE,
                 (5, 0, 1, 4, 256), WHOLE, (5, 0, 1, 4, 256)]
HALVED8, WHOLE8 = ("attention", 8, 48, 2), ("attention", 8, 64, 1)
HYBRID_LARGE = [("fused", 2, 4, 48), (3, 5, 2, 4, 96), (3, 3, 1, 4, 96),
                (3, 5, 2, 4, 192), *units(3, 3, 3, 1, 4, 192), (3, 5, 1, 4, 192), *units(2, 5, 3, 1, 4, 192),
                *(HALVED8, (5, 3, 1, 4, 192)) * 3, HALVED8, (3, 0, 1, 4, 192),
                (5, 5, 2, 4, 512), *units(3, 5, 5, 1, 4, 512), (5, 0, 1, 4, 512), (5, 3, 1, 4, 512),
                *units(2, 5, 0, 1, 4, 512), (5, 3, 1, 4, 512), (5, 5, 1, 4, 512), *(WHOLE8, (5, 0, 1, 4, 512)) * 4]
# name: (title, channels of the stem, blocks, activation, side of the image)
SIZES = {
    "conv_small": ("Conv-S", 32, SMALL, nn.ReLU, 224),
    "conv_medium": ("Conv-M", 32, MEDIUM, nn.ReLU, 256),
    "conv_large": ("Conv-L", 24, LARGE, nn.ReLU, 384),
    "hybrid_medium": ("Hybrid-M", 32, HYBRID_MEDIUM, nn.ReLU, 256),
    "hybrid_large": ("Hybrid-L", 24, HYBRID_LARGE, nn.GELU, 384),
}


class MobileNetV4(nn.Module):
    def __init__(self, size, classes=1000):
        super().__init__()
        _, channels, blocks, act, _ = SIZES[size]
        hybrid = size.startswith("hybrid")
        layers = [conv_norm_act(3, channels, 3, 2, act=act)]
        for kind, *block in blocks:
            if kind == "attention":
                layers.append(MultiQuery(channels, *block))
                continue
            outputs = block[-1]
            if kind == "conv":
                layers.append(conv_norm_act(channels, outputs, *block[:2], act=act))
            elif kind == "fused":
                layers.append(Fused(channels, outputs, *block[:2], act))
            else:
                layers.append(Bottleneck(channels, outputs, kind, *block[:3], act, hybrid))
            channels = outputs
        layers.append(conv_norm_act(channels, 960, 1, act=act))
        self.features = nn.Sequential(*layers)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = conv_norm_act(960, 1280, 1, act=act)
        self.classifier = nn.Linear(1280, classes)

    def forward(self, x):
        return self.classifier(self.head(self.pool(self.features(x))).flatten(1))
