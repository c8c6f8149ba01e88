"""YOLOv5 (release 7.0) and YOLOv8, up to decoded boxes and scores; non-maximum suppression runs outside."""
import torch
from torch import nn

from .layers import conv_norm_act

STRIDES = (8, 16, 32)
CLASSES = 80


def conv(inputs, outputs, kernel=1, stride=1, padding=None):
    block = conv_norm_act(inputs, outputs, kernel, stride, act=nn.SiLU, padding=padding)
    block.norm.eps = 1e-3
    return block


def depthwise(channels, kernel=3, stride=1, act=nn.SiLU):
    block = conv_norm_act(channels, channels, kernel, stride, groups=channels, act=act)
    block.norm.eps = 1e-3
    return block


class Bottleneck(nn.Module):
    def __init__(self, channels, first_kernel, shortcut):
        super().__init__()
        self.cv1 = conv(channels, channels, first_kernel)
        self.cv2 = conv(channels, channels, 3)
        self.shortcut = shortcut

    def forward(self, x):
        y = self.cv2(self.cv1(x))
        return x + y if self.shortcut else y


class C3(nn.Module):
    """Cross-stage partial block with three convolutions."""

    def __init__(self, inputs, outputs, depth, shortcut=True):
        super().__init__()
        hidden = outputs // 2
        self.cv1 = conv(inputs, hidden)
        self.cv2 = conv(inputs, hidden)
        self.cv3 = conv(2 * hidden, outputs)
        self.m = nn.Sequential(*(Bottleneck(hidden, 1, shortcut) for _ in range(depth)))

    def forward(self, x):
        return self.cv3(torch.cat((self.m(self.cv1(x)), self.cv2(x)), 1))


class C2f(nn.Module):
    """Cross-stage partial block with two convolutions that keeps every intermediate."""

    def __init__(self, inputs, outputs, depth, shortcut=True):
        super().__init__()
        self.hidden = outputs // 2
        self.cv1 = conv(inputs, 2 * self.hidden)
        self.cv2 = conv((2 + depth) * self.hidden, outputs)
        self.m = nn.ModuleList(Bottleneck(self.hidden, 3, shortcut) for _ in range(depth))

    def forward(self, x):
        parts = list(self.cv1(x).split((self.hidden, self.hidden), 1))
        for block in self.m:
            parts.append(block(parts[-1]))
        return self.cv2(torch.cat(parts, 1))


class Sppf(nn.Module):
    """Spatial pyramid pooling by three successive poolings."""

    def __init__(self, channels):
        super().__init__()
        self.cv1 = conv(channels, channels // 2)
        self.pool = nn.MaxPool2d(5, 1, 2)
        self.cv2 = conv(2 * channels, channels)

    def forward(self, x):
        parts = [self.cv1(x)]
        for _ in range(3):
            parts.append(self.pool(parts[-1]))
        return self.cv2(torch.cat(parts, 1))


class Backbone(nn.Module):
    """A stem and four stages, each half as large; returns the maps of stride 8, 16 and 32. `channels` are those of
    the stem and of the stages."""

    def __init__(self, stem, channels, depths, block):
        super().__init__()
        self.stem = stem
        self.stages = nn.ModuleList(nn.Sequential(conv(inputs, outputs, 3, 2), block(outputs, outputs, depth))
                                    for inputs, outputs, depth in zip(channels, channels[1:], depths))
        self.sppf = Sppf(channels[-1])

    def forward(self, x):
        x = self.stem(x)
        maps = []
        for stage in self.stages:
            x = stage(x)
            maps.append(x)
        return maps[1], maps[2], self.sppf(maps[3])


class Neck(nn.Module):
    """Path aggregation: down the pyramid by upsampling, up again by stride-2 convolutions. `reduce` makes the
    1x1 convolutions of YOLOv5 ahead of each upsampling; YOLOv8 has none."""

    def __init__(self, channels, depth, block, reduce):
        super().__init__()
        c3, c4, c5 = channels
        self.up = nn.Upsample(scale_factor=2, mode="nearest")
        self.reduce5 = conv(c5, c4) if reduce else nn.Identity()
        self.reduce4 = conv(c4, c3) if reduce else nn.Identity()
        from5, from4 = (c4, c3) if reduce else (c5, c4)
        self.top4 = block(from5 + c4, c4, depth, False)
        self.top3 = block(from4 + c3, c3, depth, False)
        self.down3 = conv(c3, c3, 3, 2)
        self.bottom4 = block(c3 + from4, c4, depth, False)
        self.down4 = conv(c4, c4, 3, 2)
        self.bottom5 = block(c4 + from5, c5, depth, False)

    def forward(self, p3, p4, p5):
        p5 = self.reduce5(p5)
        p4 = self.reduce4(self.top4(torch.cat((self.up(p5), p4), 1)))
        p3 = self.top3(torch.cat((self.up(p4), p3), 1))
        n4 = self.bottom4(torch.cat((self.down3(p3), p4), 1))
        return p3, n4, self.bottom5(torch.cat((self.down4(n4), p5), 1))


def grid(x, offset):
    """[2, h * w]: the column and row of every cell."""
    height, width = x.shape[2], x.shape[3]
    columns = torch.arange(width, dtype=x.dtype)[None, :].expand(height, width)
    rows = torch.arange(height, dtype=x.dtype)[:, None].expand(height, width)
    return torch.stack((columns, rows)).flatten(1) + offset


class DetectV5(nn.Module):
    """Anchors of three shapes per cell: a box, an objectness and the scores of every class, and `extras` more
    numbers, which stay as they are. `levels` maps, the finest of stride 8."""
    ANCHORS = 3

    def __init__(self, channels, extras=0):
        super().__init__()
        self.extras = extras
        self.m = nn.ModuleList(nn.Conv2d(c, self.ANCHORS * (CLASSES + 5 + extras), 1) for c in channels)
        self.register_buffer("anchors", torch.ones(len(channels), self.ANCHORS, 2, 1))

    def forward(self, maps):
        outputs = []
        for i, (layer, x) in enumerate(zip(self.m, maps)):
            y = layer(x).reshape(x.shape[0], self.ANCHORS, CLASSES + 5 + self.extras, -1)
            plain = y[:, :, CLASSES + 5:] if self.extras else None
            y = (y[:, :, :CLASSES + 5] if self.extras else y).sigmoid()
            centre, size, scores = y.split((2, 2, CLASSES + 1), 2)
            centre = (centre * 2 + grid(x, -0.5)) * (STRIDES[0] << i)
            size = (size * 2) ** 2 * self.anchors[i]
            parts = (centre, size, scores) + ((plain,) if self.extras else ())
            outputs.append(torch.cat(parts, 2).transpose(2, 3).flatten(1, 2))
        return torch.cat(outputs, 1)


class DetectV8(nn.Module):
    """Anchor-free head: each side of a box is the mean of a distribution over `bins` distances, or with one bin a
    number. `light` makes the branch of the scores of depthwise and pointwise convolutions (YOLOv10 and later)."""

    def __init__(self, channels, classes=CLASSES, bins=16, light=False):
        super().__init__()
        self.bins = bins
        box, score = max(16, channels[0] // 4, 4 * bins), max(channels[0], min(classes, 100))

        def branch(width, outputs):
            return nn.ModuleList(nn.Sequential(conv(c, width, 3), conv(width, width, 3),
                                               nn.Conv2d(width, outputs, 1)) for c in channels)

        def light_branch(width, outputs):
            return nn.ModuleList(nn.Sequential(depthwise(c), conv(c, width), depthwise(width), conv(width, width),
                                               nn.Conv2d(width, outputs, 1)) for c in channels)

        self.cv2 = branch(box, 4 * bins)
        self.cv3 = light_branch(score, classes) if light else branch(score, classes)
        if bins > 1:
            self.dfl = nn.Conv2d(bins, 1, 1, bias=False)

    def sides(self, i, x):
        if self.bins == 1:
            return self.cv2[i](x).flatten(2)
        sides = self.cv2[i](x).reshape(x.shape[0], 4, self.bins, -1).transpose(1, 2)
        return self.dfl(sides.softmax(1)).squeeze(1)

    def forward(self, maps):
        outputs = []
        for i, x in enumerate(maps):
            near, far = self.sides(i, x).split((2, 2), 1)
            cells = grid(x, 0.5)
            low, high = cells - near, cells + far
            boxes = torch.cat(((low + high) / 2, high - low), 1) * STRIDES[i]
            outputs.append(torch.cat((boxes, self.cv3[i](x).flatten(2).sigmoid()), 1))
        return torch.cat(outputs, 2)


class Yolo(nn.Module):
    def __init__(self, backbone, neck, head):
        super().__init__()
        self.backbone, self.neck, self.head = backbone, neck, head

    def forward(self, x):
        return self.head(self.neck(*self.backbone(x)))


# Channels of the stem and of the stages, depths of the stages; blocks of the neck are as deep as the first stage.
YOLOV5 = {
    "n": ((16, 32, 64, 128, 256), (1, 2, 3, 1)),
    "s": ((32, 64, 128, 256, 512), (1, 2, 3, 1)),
    "m": ((48, 96, 192, 384, 768), (2, 4, 6, 2)),
    "l": ((64, 128, 256, 512, 1024), (3, 6, 9, 3)),
    "x": ((80, 160, 320, 640, 1280), (4, 8, 12, 4)),
}


def yolov5_trunk(size):
    channels, depths = YOLOV5[size]
    stem = conv(3, channels[0], 6, 2, padding=2)
    return Backbone(stem, channels, depths, C3), Neck(channels[2:], depths[0], C3, reduce=True), channels[2:]


class NeckP6(nn.Module):
    """YOLOv5's path aggregation over four levels, up to stride 64."""

    def __init__(self, channels, depth):
        super().__init__()
        self.up = nn.Upsample(scale_factor=2, mode="nearest")
        pairs = list(zip(channels, channels[1:]))  # the finer and the coarser of two levels
        self.reduce = nn.ModuleList(conv(coarse, fine) for fine, coarse in pairs)
        self.top = nn.ModuleList(C3(2 * fine, fine, depth, False) for fine, _ in pairs)
        self.down = nn.ModuleList(conv(fine, fine, 3, 2) for fine, _ in pairs)
        self.bottom = nn.ModuleList(C3(2 * fine, coarse, depth, False) for fine, coarse in pairs)

    def forward(self, *maps):
        x, reduced = maps[-1], []
        for i in reversed(range(len(self.reduce))):
            y = self.reduce[i](x)
            reduced.insert(0, y)
            x = self.top[i](torch.cat((self.up(y), maps[i]), 1))
        outputs = [x]
        for i, y in enumerate(reduced):
            x = self.bottom[i](torch.cat((self.down[i](x), y), 1))
            outputs.append(x)
        return outputs


class BackboneP6(Backbone):
    def forward(self, x):
        x = self.stem(x)
        maps = []
        for stage in self.stages:
            x = stage(x)
            maps.append(x)
        return maps[1], maps[2], maps[3], self.sppf(maps[4])


def yolov5_p6(size):
    """With a fifth stage of as many channels as a larger network's fourth (yolov5n6 to yolov5x6)."""
    channels, depths = YOLOV5[size]
    channels = channels[:4] + (3 * channels[3] // 2, 2 * channels[3])
    stem = conv(3, channels[0], 6, 2, padding=2)
    backbone = BackboneP6(stem, channels, depths + (depths[0],), C3)
    return Yolo(backbone, NeckP6(channels[2:], depths[0]), DetectV5(channels[2:]))


def yolov5(size):
    backbone, neck, channels = yolov5_trunk(size)
    return Yolo(backbone, neck, DetectV5(channels))


# Channels of the stem and of the stages, depths of the stages; blocks of the neck are as deep as the first stage.
YOLOV8 = {
    "n": ((16, 32, 64, 128, 256), (1, 2, 2, 1)),
    "s": ((32, 64, 128, 256, 512), (1, 2, 2, 1)),
    "m": ((48, 96, 192, 384, 576), (2, 4, 4, 2)),
    "l": ((64, 128, 256, 512, 512), (3, 6, 6, 3)),
    "x": ((80, 160, 320, 640, 640), (3, 6, 6, 3)),
}


def yolov8_trunk(size):
    channels, depths = YOLOV8[size]
    stem = conv(3, channels[0], 3, 2)
    return (Backbone(stem, channels, depths, C2f), Neck(channels[2:], depths[0], C2f, reduce=False), channels[2:])


def yolov8(size):
    backbone, neck, channels = yolov8_trunk(size)
    return Yolo(backbone, neck, DetectV8(channels))
