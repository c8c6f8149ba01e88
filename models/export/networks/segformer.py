"""SegFormer (arXiv:2105.15203): a hierarchical transformer whose keys and values are taken from a smaller map, and a
decoder of linear layers; logits at a quarter of the image's size."""
import torch
from torch import nn

# Widths of the stages, their depths, width of the decoder.
SIZES = {"b0": ((32, 64, 160, 256), (2, 2, 2, 2), 256), "b1": ((64, 128, 320, 512), (2, 2, 2, 2), 256),
         "b2": ((64, 128, 320, 512), (3, 4, 6, 3), 768), "b3": ((64, 128, 320, 512), (3, 4, 18, 3), 768),
         "b4": ((64, 128, 320, 512), (3, 8, 27, 3), 768), "b5": ((64, 128, 320, 512), (3, 6, 40, 3), 768)}
HEADS, REDUCTIONS = (1, 2, 5, 8), (8, 4, 2, 1)


class Attention(nn.Module):
    def __init__(self, width, heads, reduction):
        super().__init__()
        self.heads, self.reduction = heads, reduction
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        if reduction > 1:
            self.sr, self.norm = nn.Conv2d(width, width, reduction, reduction), nn.LayerNorm(width)
        self.dense = nn.Linear(width, width)

    def split(self, x):
        return x.reshape(x.shape[0], -1, self.heads, x.shape[2] // self.heads).transpose(1, 2)

    def forward(self, x, height, width):
        memory = x
        if self.reduction > 1:
            y = x.transpose(1, 2).reshape(x.shape[0], x.shape[2], height, width)
            memory = self.norm(self.sr(y).flatten(2).transpose(1, 2))
        q, k, v = self.split(self.query(x)), self.split(self.key(memory)), self.split(self.value(memory))
        scores = (q @ k.transpose(2, 3) * q.shape[3] ** -0.5).softmax(3)
        return self.dense((scores @ v).transpose(1, 2).flatten(2))


class Layer(nn.Module):
    def __init__(self, width, heads, reduction):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads, reduction)
        self.dense1, self.dense2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.dwconv, self.act = nn.Conv2d(4 * width, 4 * width, 3, 1, 1, groups=4 * width), nn.GELU()

    def forward(self, x, height, width):
        x = x + self.attention(self.norm1(x), height, width)
        y = self.dense1(self.norm2(x))
        y = self.dwconv(y.transpose(1, 2).reshape(y.shape[0], y.shape[2], height, width)).flatten(2).transpose(1, 2)
        return x + self.dense2(self.act(y))


class Stage(nn.Module):
    def __init__(self, inputs, width, depth, heads, reduction, first):
        super().__init__()
        self.proj = nn.Conv2d(inputs, width, 7, 4, 3) if first else nn.Conv2d(inputs, width, 3, 2, 1)
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList(Layer(width, heads, reduction) for _ in range(depth))
        self.last = nn.LayerNorm(width)

    def forward(self, x):
        x = self.proj(x)
        batch, channels, height, width = x.shape
        x = self.norm(x.flatten(2).transpose(1, 2))
        for layer in self.layers:
            x = layer(x, height, width)
        return self.last(x).transpose(1, 2).reshape(batch, channels, height, width)


class SegFormer(nn.Module):
    def __init__(self, size, classes=150):
        super().__init__()
        widths, depths, decoder = SIZES[size]
        self.stages = nn.ModuleList(
            Stage(inputs, width, depth, heads, reduction, first=inputs == 3)
            for inputs, width, depth, heads, reduction in zip((3,) + widths, widths, depths, HEADS, REDUCTIONS))
        self.linear_c = nn.ModuleList(nn.Linear(width, decoder) for width in widths)
        self.linear_fuse = nn.Conv2d(4 * decoder, decoder, 1, bias=False)
        self.batch_norm, self.act = nn.BatchNorm2d(decoder), nn.ReLU()
        self.classifier = nn.Conv2d(decoder, classes, 1)

    def forward(self, x):
        maps = []
        for stage in self.stages:
            x = stage(x)
            maps.append(x)
        size, levels = maps[0].shape[2:], []
        for x, linear in zip(maps, self.linear_c):
            y = linear(x.flatten(2).transpose(1, 2)).transpose(1, 2).reshape(x.shape[0], -1, x.shape[2], x.shape[3])
            levels.insert(0, nn.functional.interpolate(y, size=size, mode="bilinear", align_corners=False))
        return self.classifier(self.act(self.batch_norm(self.linear_fuse(torch.cat(levels, 1)))))
