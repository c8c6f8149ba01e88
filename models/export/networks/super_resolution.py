"""Enlargement of images: EDSR (arXiv:1707.02921) and ESRGAN's network (arXiv:1809.00219), which Real-ESRGAN
(arXiv:2107.10833) trains anew."""
import torch
from torch import nn


def conv(inputs, outputs):
    return nn.Conv2d(inputs, outputs, 3, 1, 1)


class Residual(nn.Module):
    def __init__(self, width, share):
        super().__init__()
        self.conv1, self.act, self.conv2, self.share = conv(width, width), nn.ReLU(), conv(width, width), share

    def forward(self, x):
        y = self.conv2(self.act(self.conv1(x)))
        return x + (y if self.share == 1 else y * self.share)


class Edsr(nn.Module):
    """Residual blocks without normalisation; places come out of channels."""

    def __init__(self, blocks, width, scale, share=1):
        super().__init__()
        self.head = conv(3, width)
        self.body = nn.Sequential(*(Residual(width, share) for _ in range(blocks)), conv(width, width))
        steps = [2] * (scale // 2) if scale != 3 else [3]
        layers = [layer for s in steps for layer in (conv(width, s * s * width), nn.PixelShuffle(s))]
        self.tail = nn.Sequential(*layers, conv(width, 3))

    def forward(self, x):
        x = self.head(x)
        return self.tail(x + self.body(x))


class Dense(nn.Module):
    """Five convolutions, each of all that came before."""

    def __init__(self, width, growth):
        super().__init__()
        self.convs = nn.ModuleList(conv(width + i * growth, growth if i < 4 else width) for i in range(5))
        self.act = nn.LeakyReLU(0.2)

    def forward(self, x):
        parts = [x]
        for layer in self.convs[:-1]:
            parts.append(self.act(layer(torch.cat(parts, 1))))
        return x + 0.2 * self.convs[-1](torch.cat(parts, 1))


class DenseInDense(nn.Module):
    def __init__(self, width, growth):
        super().__init__()
        self.blocks = nn.Sequential(*(Dense(width, growth) for _ in range(3)))

    def forward(self, x):
        return x + 0.2 * self.blocks(x)


class Esrgan(nn.Module):
    """Fourfold, each doubling by the nearest places and a convolution."""

    def __init__(self, blocks=23, width=64, growth=32):
        super().__init__()
        self.first = conv(3, width)
        self.body = nn.Sequential(*(DenseInDense(width, growth) for _ in range(blocks)), conv(width, width))
        self.up, self.act = nn.Upsample(scale_factor=2, mode="nearest"), nn.LeakyReLU(0.2)
        self.up1, self.up2, self.high = (conv(width, width) for _ in range(3))
        self.last = conv(width, 3)

    def forward(self, x):
        x = self.first(x)
        x = x + self.body(x)
        x = self.act(self.up1(self.up(x)))
        x = self.act(self.up2(self.up(x)))
        return self.last(self.act(self.high(x)))
