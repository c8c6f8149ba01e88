"""YOLOv6 (arXiv:2209.02976 of release 0.2, arXiv:2301.05586 of release 0.3), deployed: each unit's branches in one
3x3 convolution."""
import torch
from torch import nn

from .yolo import CLASSES, STRIDES, grid


def rep(inputs, outputs, stride=1):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, stride, 1), nn.ReLU())


def conv(inputs, outputs, kernel=1, stride=1, act=nn.ReLU):
    return nn.Sequential(nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2), act())


def silu(inputs, outputs, stride=1):
    return conv(inputs, outputs, 3, stride, nn.SiLU)


def block(inputs, outputs, depth):
    return nn.Sequential(rep(inputs, outputs), *(rep(outputs, outputs) for _ in range(depth - 1)))


class Sppf(nn.Module):
    def __init__(self, channels, act=nn.ReLU):
        super().__init__()
        self.cv1, self.cv2 = conv(channels, channels // 2, act=act), conv(2 * channels, channels, act=act)
        self.pool = nn.MaxPool2d(5, 1, 2)

    def forward(self, x):
        parts = [self.cv1(x)]
        for _ in range(3):
            parts.append(self.pool(parts[-1]))
        return self.cv2(torch.cat(parts, 1))


class CspSppf(nn.Module):
    """Pooling on one of two branches, with convolutions before and after."""

    def __init__(self, channels):
        super().__init__()
        hidden = channels // 2
        self.before = nn.Sequential(conv(channels, hidden), conv(hidden, hidden, 3), conv(hidden, hidden))
        self.beside = conv(channels, hidden)
        self.pool = nn.MaxPool2d(5, 1, 2)
        self.after = nn.Sequential(conv(4 * hidden, hidden), conv(hidden, hidden, 3))
        self.last = conv(2 * hidden, channels)

    def forward(self, x):
        parts = [self.before(x)]
        for _ in range(3):
            parts.append(self.pool(parts[-1]))
        return self.last(torch.cat((self.beside(x), self.after(torch.cat(parts, 1))), 1))


class Pair(nn.Module):
    """Two units and a learned share of what went in."""

    def __init__(self, channels, unit):
        super().__init__()
        self.conv1, self.conv2 = unit(channels, channels), unit(channels, channels)
        self.alpha = nn.Parameter(torch.ones(1))

    def forward(self, x):
        return self.conv2(self.conv1(x)) + self.alpha * x


class Csp(nn.Module):
    """Half as many pairs as the depth says, on one of two branches."""

    def __init__(self, inputs, outputs, depth, expansion, unit, act):
        super().__init__()
        hidden = int(outputs * expansion)
        self.cv1, self.cv2 = conv(inputs, hidden, act=act), conv(inputs, hidden, act=act)
        self.cv3 = conv(2 * hidden, outputs, act=act)
        self.m = nn.Sequential(*(Pair(hidden, unit) for _ in range(depth // 2)))

    def forward(self, x):
        return self.cv3(torch.cat((self.m(self.cv1(x)), self.cv2(x)), 1))


class Head(nn.Module):
    """Decoupled: a branch of scores and one of four distances, each the mean of a distribution where `bins` is more
    than 1."""

    def __init__(self, channels, bins=1):
        super().__init__()
        self.bins = bins
        self.stem, self.cls, self.reg = (conv(channels, channels, k, act=nn.SiLU) for k in (1, 3, 3))
        self.scores, self.boxes = nn.Conv2d(channels, CLASSES, 1), nn.Conv2d(channels, 4 * bins, 1)

    def forward(self, x, mean=None):
        x = self.stem(x)
        scores, sides = self.scores(self.cls(x)).flatten(2).sigmoid(), self.boxes(self.reg(x)).flatten(2)
        if self.bins > 1:
            sides = sides.reshape(x.shape[0], 4, self.bins, -1).transpose(1, 2)
            sides = mean(sides.softmax(1)).squeeze(1)
        return scores, sides


def decoded(heads, maps, *mean):
    outputs = []
    for i, (head, p) in enumerate(zip(heads, maps)):
        scores, sides = head(p, *mean)
        near, far = sides.split((2, 2), 1)
        cells = grid(p, 0.5)
        low, high = cells - near, cells + far
        boxes = torch.cat(((low + high) / 2, high - low), 1) * STRIDES[i]
        outputs.append(torch.cat((boxes, scores), 1))
    return torch.cat(outputs, 2)


class Yolov6Nano(nn.Module):
    """Release 0.2."""

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
        return decoded(self.heads, (p3, n4, n5))


class BiFusion(nn.Module):
    """A coarser map enlarged, the map itself, and a finer one halved."""

    def __init__(self, same, finer, outputs):
        super().__init__()
        self.up = nn.ConvTranspose2d(outputs, outputs, 2, 2)
        self.same = conv(same, outputs)
        self.down = nn.Sequential(conv(finer, outputs), conv(outputs, outputs, 3, 2))
        self.fuse = conv(3 * outputs, outputs)

    def forward(self, coarser, same, finer):
        return self.fuse(torch.cat((self.up(coarser), self.same(same), self.down(finer)), 1))


# Width, depth, share of the channels within a cross-stage block (none: plain units in a row), whether units have SiLU.
SIZES = {"n": (0.25, 1 / 3, None, False), "s": (0.5, 1 / 3, None, False), "m": (0.75, 0.6, 2 / 3, False),
         "l": (1.0, 1.0, 0.5, True)}


class Yolov6(nn.Module):
    """Release 0.3."""

    def __init__(self, size):
        super().__init__()
        width, depth, share, smooth = SIZES[size]
        unit, act = (silu, nn.SiLU) if smooth else (rep, nn.ReLU)
        c1, c2, c3, c4, c5 = (int(c * width) for c in (64, 128, 256, 512, 1024))
        n3, n4, n5 = c2, c3, c4

        def units(inputs, outputs, repeats):
            repeats = round(repeats * depth)
            return Csp(inputs, outputs, repeats, share, unit, act) if share else block(inputs, outputs, repeats)

        self.stem = unit(3, c1, 2)
        self.stages = nn.ModuleList(nn.Sequential(unit(i, o, 2), units(o, o, repeats))
                                    for i, o, repeats in zip((c1, c2, c3, c4), (c2, c3, c4, c5), (6, 12, 18, 6)))
        self.sppf = Sppf(c5, act) if share else CspSppf(c5)
        self.reduce5, self.fuse4, self.top4 = conv(c5, n4), BiFusion(c4, c3, n4), units(n4, n4, 12)
        self.reduce4, self.fuse3, self.top3 = conv(n4, n3), BiFusion(c3, c2, n3), units(n3, n3, 12)
        self.down3, self.bottom4 = conv(n3, n3, 3, 2), units(2 * n3, n4, 12)
        self.down4, self.bottom5 = conv(n4, n4, 3, 2), units(2 * n4, n5, 12)
        bins = 17 if share else 1
        self.heads = nn.ModuleList(Head(c, bins) for c in (n3, n4, n5))
        self.mean = nn.Conv2d(bins, 1, 1, bias=False) if share else None

    def forward(self, x):
        x, maps = self.stem(x), []
        for stage in self.stages:
            x = stage(x)
            maps.append(x)
        r5 = self.reduce5(self.sppf(maps[3]))
        r4 = self.reduce4(self.top4(self.fuse4(r5, maps[2], maps[1])))
        p3 = self.top3(self.fuse3(r4, maps[1], maps[0]))
        n4 = self.bottom4(torch.cat((self.down3(p3), r4), 1))
        n5 = self.bottom5(torch.cat((self.down4(n4), r5), 1))
        return decoded(self.heads, (p3, n4, n5), self.mean)
