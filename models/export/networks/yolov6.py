"""YOLOv6 nano of release 0.2 (arXiv:2209.02976), deployed: each unit's branches in one 3x3 convolution."""
import torch
from torch import nn

from .yolo import CLASSES, STRIDES, grid


def rep(inputs, outputs, stride=1):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, stride, 1), nn.ReLU())


def conv(inputs, outputs, kernel=1, stride=1, act=nn.ReLU):
    return nn.Sequential(nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2), act())


def block(inputs, outputs, depth):
    return nn.Sequential(rep(inputs, outputs), *(rep(outputs, outputs) for _ in range(depth - 1)))


class Sppf(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.cv1, self.cv2 = conv(channels, channels // 2), conv(2 * channels, channels)
        self.pool = nn.MaxPool2d(5, 1, 2)

    def forward(self, x):
        parts = [self.cv1(x)]
        for _ in range(3):
            parts.append(self.pool(parts[-1]))
        return self.cv2(torch.cat(parts, 1))


class Head(nn.Module):
    """Decoupled: a branch of scores and one of four distances."""

    def __init__(self, channels):
        super().__init__()
        self.stem, self.cls, self.reg = (conv(channels, channels, k, act=nn.SiLU) for k in (1, 3, 3))
        self.scores, self.boxes = nn.Conv2d(channels, CLASSES, 1), nn.Conv2d(channels, 4, 1)

    def forward(self, x):
        x = self.stem(x)
        return self.scores(self.cls(x)).flatten(2).sigmoid(), self.boxes(self.reg(x)).flatten(2)


class Yolov6Nano(nn.Module):
    def __init__(self):
        super().__init__()
        channels = (16, 32, 64, 128, 256)
        self.stem = rep(3, 16, 2)
        self.stages = nn.ModuleList(nn.Sequential(rep(i, o, 2), block(o, o, depth))
                                    for i, o, depth in zip(channels, channels[1:], (2, 4, 6, 2)))
        self.sppf = Sppf(256)
        self.reduce5, self.up5, self.top4 = conv(256, 64), nn.ConvTranspose2d(64, 64, 2, 2), block(192, 64, 4)
        self.reduce4, self.up4, self.top3 = conv(64, 32), nn.ConvTranspose2d(32, 32, 2, 2), block(96, 32, 4)
        self.down3, self.bottom4 = conv(32, 32, 3, 2), block(64, 64, 4)
        self.down4, self.bottom5 = conv(64, 64, 3, 2), block(128, 128, 4)
        self.heads = nn.ModuleList(Head(c) for c in (32, 64, 128))

    def forward(self, x):
        x, maps = self.stem(x), []
        for stage in self.stages:
            x = stage(x)
            maps.append(x)
        r5 = self.reduce5(self.sppf(maps[3]))
        r4 = self.reduce4(self.top4(torch.cat((self.up5(r5), maps[2]), 1)))
        p3 = self.top3(torch.cat((self.up4(r4), maps[1]), 1))
        n4 = self.bottom4(torch.cat((self.down3(p3), r4), 1))
        n5 = self.bottom5(torch.cat((self.down4(n4), r5), 1))
        outputs = []
        for i, (head, p) in enumerate(zip(self.heads, (p3, n4, n5))):
            scores, sides = head(p)
            near, far = sides.split((2, 2), 1)
            cells = grid(p, 0.5)
            low, high = cells - near, cells + far
            boxes = torch.cat(((low + high) / 2, high - low), 1) * STRIDES[i]
            outputs.append(torch.cat((boxes, scores), 1))
        return torch.cat(outputs, 2)
