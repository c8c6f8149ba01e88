"""MobileViT (arXiv:2110.02178): inverted bottlenecks, and transformers over the pixels that have one place in their patch."""
import torch
from torch import nn

from .layers import conv_norm_act

# name: (channels of the stem, of four stages and the last, widths of the transformers, expansion)
SIZES = {"s": ((16, 32, 64, 96, 128, 160, 640), (144, 192, 240), 4), "xs": ((16, 32, 48, 64, 80, 96, 384), (96, 120, 144), 4),
         "xxs": ((16, 16, 24, 48, 64, 80, 320), (64, 80, 96), 2)}
DEPTHS, HEADS, PATCH = (2, 4, 3), 4, 2


def block(inputs, outputs, kernel=3, stride=1, groups=1, act=nn.SiLU):
    return conv_norm_act(inputs, outputs, kernel, stride, groups, act)


class Bottleneck(nn.Module):
    def __init__(self, inputs, outputs, stride, expansion):
        super().__init__()
        inner = inputs * expansion
        self.adds = stride == 1 and inputs == outputs
        self.layers = nn.Sequential(block(inputs, inner, 1), block(inner, inner, 3, stride, inner),
                                    block(inner, outputs, 1, act=None))

    def forward(self, x):
        return x + self.layers(x) if self.adds else self.layers(x)


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.SiLU(), nn.Linear(2 * width, width))

    def forward(self, x):
        batch, tokens, width = x.shape
        shape = (batch, tokens, 3, HEADS, width // HEADS)
        q, k, v = self.qkv(self.norm1(x)).reshape(shape).permute(2, 0, 3, 1, 4).unbind(0)
        scores = (q @ k.transpose(2, 3) * q.shape[3] ** -0.5).softmax(3)
        x = x + self.proj((scores @ v).transpose(1, 2).reshape(batch, tokens, width))
        return x + self.mlp(self.norm2(x))


class MobileViTBlock(nn.Module):
    def __init__(self, channels, width, depth, side):
        super().__init__()
        self.side, self.width = side // PATCH, width
        self.local = nn.Sequential(block(channels, channels), nn.Conv2d(channels, width, 1, bias=False))
        self.layers = nn.Sequential(*(Layer(width) for _ in range(depth)))
        self.norm, self.back = nn.LayerNorm(width), block(width, channels, 1)
        self.join = block(2 * channels, channels)

    def forward(self, x):
        y, n, w = self.local(x), self.side, self.width
        y = y.reshape(-1, w, n, PATCH, n, PATCH).permute(0, 3, 5, 2, 4, 1).reshape(-1, n * n, w)
        y = self.norm(self.layers(y))
        y = y.reshape(-1, PATCH, PATCH, n, n, w).permute(0, 5, 3, 1, 4, 2).reshape(-1, w, n * PATCH, n * PATCH)
        return self.join(torch.cat((x, self.back(y)), 1))


class MobileViT(nn.Module):
    def __init__(self, size, side=256, classes=1000):
        super().__init__()
        c, widths, expansion = SIZES[size]
        layers = [block(3, c[0], 3, 2), Bottleneck(c[0], c[1], 1, expansion), Bottleneck(c[1], c[2], 2, expansion),
                  Bottleneck(c[2], c[2], 1, expansion), Bottleneck(c[2], c[2], 1, expansion)]
        for i in range(3):
            layers += [Bottleneck(c[2 + i], c[3 + i], 2, expansion),
                       MobileViTBlock(c[3 + i], widths[i], DEPTHS[i], side // (8 << i))]
        self.features = nn.Sequential(*layers, block(c[5], c[6], 1))
        self.classifier = nn.Linear(c[6], classes)

    def forward(self, x):
        return self.classifier(self.features(x).mean((2, 3)))
