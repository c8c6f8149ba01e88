"""Networks that mix positions without attention: MLP-Mixer (arXiv:2105.01601), ResMLP (arXiv:2105.03404) and PoolFormer
(arXiv:2111.11418)."""
import torch
from torch import nn


class Mlp(nn.Sequential):
    def __init__(self, width, inner):
        super().__init__(nn.Linear(width, inner), nn.GELU(), nn.Linear(inner, width))


class Patches(nn.Module):
    def __init__(self, width, patch):
        super().__init__()
        self.proj = nn.Conv2d(3, width, patch, patch)

    def forward(self, x):
        return self.proj(x).flatten(2).transpose(1, 2)


class MixerBlock(nn.Module):
    def __init__(self, tokens, width, token_inner, inner):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.tokens, self.channels = Mlp(tokens, token_inner), Mlp(width, inner)

    def forward(self, x):
        x = x + self.tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channels(self.norm2(x))


# Depth, width, inner widths across positions and channels.
MIXERS = {"s": (8, 512, 256, 2048), "b": (12, 768, 384, 3072), "l": (24, 1024, 512, 4096)}


class Mixer(nn.Module):
    def __init__(self, size, patch, classes=1000):
        super().__init__()
        depth, width, token_inner, inner = MIXERS[size]
        self.stem = Patches(width, patch)
        tokens = (224 // patch) ** 2
        self.blocks = nn.Sequential(*(MixerBlock(tokens, width, token_inner, inner) for _ in range(depth)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, x):
        return self.head(self.norm(self.blocks(self.stem(x))).mean(1))


class Affine(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.alpha, self.beta = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))

    def forward(self, x):
        return self.alpha * x + self.beta


class ResMlpBlock(nn.Module):
    def __init__(self, tokens, width):
        super().__init__()
        self.norm1, self.norm2 = Affine(width), Affine(width)
        self.tokens, self.mlp = nn.Linear(tokens, tokens), Mlp(width, 4 * width)
        self.gamma1, self.gamma2 = nn.Parameter(torch.ones(width)), nn.Parameter(torch.ones(width))

    def forward(self, x):
        x = x + self.gamma1 * self.tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.gamma2 * self.mlp(self.norm2(x))


class ResMlp(nn.Module):
    def __init__(self, depth, width=384, classes=1000):
        super().__init__()
        self.stem = Patches(width, 16)
        self.blocks = nn.Sequential(*(ResMlpBlock(196, width) for _ in range(depth)))
        self.norm, self.head = Affine(width), nn.Linear(width, classes)

    def forward(self, x):
        return self.head(self.norm(self.blocks(self.stem(x))).mean(1))


class PoolBlock(nn.Module):
    """What differs from the mean of the neighbours, and two pointwise convolutions."""

    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(1, width), nn.GroupNorm(1, width)
        self.pool = nn.AvgPool2d(3, 1, 1, count_include_pad=False)
        self.mlp = nn.Sequential(nn.Conv2d(width, 4 * width, 1), nn.GELU(), nn.Conv2d(4 * width, width, 1))
        self.scale1, self.scale2 = (nn.Parameter(torch.ones(width, 1, 1)) for _ in range(2))

    def forward(self, x):
        y = self.norm1(x)
        x = x + self.scale1 * (self.pool(y) - y)
        return x + self.scale2 * self.mlp(self.norm2(x))


# Units of the stages and their widths.
POOLFORMERS = {"s12": ((2, 2, 6, 2), (64, 128, 320, 512)), "s24": ((4, 4, 12, 4), (64, 128, 320, 512)),
               "s36": ((6, 6, 18, 6), (64, 128, 320, 512)), "m36": ((6, 6, 18, 6), (96, 192, 384, 768)),
               "m48": ((8, 8, 24, 8), (96, 192, 384, 768))}


class PoolFormer(nn.Module):
    def __init__(self, size, classes=1000):
        super().__init__()
        layers, channels = [], 3
        for stage, (units, width) in enumerate(zip(*POOLFORMERS[size])):
            layers.append(nn.Conv2d(3, width, 7, 4, 2) if stage == 0 else nn.Conv2d(channels, width, 3, 2, 1))
            layers += [PoolBlock(width) for _ in range(units)]
            channels = width
        self.features = nn.Sequential(*layers)
        self.norm, self.head = nn.GroupNorm(1, channels), nn.Linear(channels, classes)

    def forward(self, x):
        return self.head(self.norm(self.features(x)).mean((2, 3)))
