"""CAS-ViT (arXiv:2408.03703): transformers whose mixing of positions is a sum of two gated maps instead of products."""
from torch import nn

# Depths and widths of the stages.
SIZES = {"s": ((3, 3, 6, 3), (48, 64, 128, 256)), "m": ((3, 3, 6, 3), (64, 96, 192, 384)),
         "t": ((3, 3, 6, 3), (96, 128, 256, 512))}


class Spatial(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.block = nn.Sequential(nn.Conv2d(width, width, 3, 1, 1, groups=width), nn.BatchNorm2d(width), nn.ReLU(),
                                   nn.Conv2d(width, 1, 1, bias=False), nn.Sigmoid())

    def forward(self, x):
        return x * self.block(x)


class Channel(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.block = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(width, width, 1, bias=False), nn.Sigmoid())

    def forward(self, x):
        return x * self.block(x)


class Mixer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qkv = nn.Conv2d(width, 3 * width, 1, bias=False)
        self.q, self.k = (nn.Sequential(Spatial(width), Channel(width)) for _ in range(2))
        self.dwc, self.proj = (nn.Conv2d(width, width, 3, 1, 1, groups=width) for _ in range(2))
        self.width = width

    def forward(self, x):
        q, k, v = self.qkv(x).split((self.width,) * 3, 1)
        return self.proj(self.dwc(self.q(q) + self.k(k)) * v)


class Local(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.block = nn.Sequential(nn.Conv2d(width, width, 1), nn.BatchNorm2d(width),
                                   nn.Conv2d(width, width, 3, 1, 1, groups=width), nn.GELU(), nn.Conv2d(width, width, 1))

    def forward(self, x):
        return x + self.block(x)


class Block(nn.Module):
    def __init__(self, width, ratio=4):
        super().__init__()
        self.local, self.mixer = Local(width), Mixer(width)
        self.norm1, self.norm2 = nn.BatchNorm2d(width), nn.BatchNorm2d(width)
        self.mlp = nn.Sequential(nn.Conv2d(width, ratio * width, 1), nn.GELU(), nn.Conv2d(ratio * width, width, 1))

    def forward(self, x):
        x = self.local(x)
        x = x + self.mixer(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class CasViT(nn.Module):
    def __init__(self, size, classes=1000):
        super().__init__()
        depths, widths = SIZES[size]
        first = widths[0]
        layers = [nn.Conv2d(3, first // 2, 3, 2, 1), nn.BatchNorm2d(first // 2), nn.GELU(),
                  nn.Conv2d(first // 2, first, 3, 2, 1), nn.BatchNorm2d(first), nn.GELU()]
        channels = first
        for depth, width in zip(depths, widths):
            if width != channels:
                layers += [nn.Conv2d(channels, width, 3, 2, 1), nn.BatchNorm2d(width)]
            layers += [Block(width) for _ in range(depth)]
            channels = width
        self.features = nn.Sequential(*layers, nn.BatchNorm2d(channels))
        self.head, self.distilled = nn.Linear(channels, classes), nn.Linear(channels, classes)

    def forward(self, x):
        x = self.features(x).mean((2, 3))
        return (self.head(x) + self.distilled(x)) / 2
