"""Heads beside the boxes: masks (prototypes and their coefficients), key points, and classification, for YOLOv5,
YOLOv8 and YOLO11. Their maps are those of the detectors; what is chosen of the boxes runs outside."""
import torch
from torch import nn

from .yolo import (C2f, C3, CLASSES, YOLOV5, YOLOV8, DetectV5, DetectV8, Yolo, conv, grid, STRIDES, yolov5_trunk,
                   yolov8_trunk)

MASKS = 32
KEY_POINTS = 17


def width_of(channels):
    """Channels of the prototypes: as wide as the finest map's 256 of the largest size."""
    return channels[0]


class Prototypes(nn.Module):
    """Masks of the whole image at a quarter of its size. YOLOv8 learns the enlargement."""

    def __init__(self, inputs, width, learned):
        super().__init__()
        self.cv1 = conv(inputs, width, 3)
        self.upsample = nn.ConvTranspose2d(width, width, 2, 2) if learned else nn.Upsample(scale_factor=2)
        self.cv2 = conv(width, width, 3)
        self.cv3 = conv(width, MASKS)

    def forward(self, x):
        return self.cv3(self.cv2(self.upsample(self.cv1(x))))


class SegmentV5(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.detect = DetectV5(channels, extras=MASKS)
        self.proto = Prototypes(channels[0], width_of(channels), learned=False)

    def forward(self, maps):
        return self.detect(maps), self.proto(maps[0])


def extra_branch(channels, width, outputs):
    return nn.ModuleList(nn.Sequential(conv(c, width, 3), conv(width, width, 3), nn.Conv2d(width, outputs, 1))
                         for c in channels)


class FusedPrototypes(Prototypes):
    """YOLO26's: the coarser maps are added to the finest one before."""

    def __init__(self, channels, width):
        super().__init__(width, width, learned=True)
        self.refine = nn.ModuleList(conv(c, channels[0]) for c in channels[1:])
        self.enlarge = nn.ModuleList(nn.Upsample(scale_factor=2 << i) for i in range(len(channels) - 1))
        self.fuse = conv(channels[0], width, 3)

    def forward(self, maps):
        x = maps[0]
        for refine, enlarge, y in zip(self.refine, self.enlarge, maps[1:]):
            x = x + enlarge(refine(y))
        return super().forward(self.fuse(x))


class SegmentV8(nn.Module):
    """`light` and `bins` as the detectors' head; `levels`: the prototypes are of all maps."""

    def __init__(self, channels, light=False, prototypes=None, classes=CLASSES, bins=16, levels=None):
        super().__init__()
        self.detect = DetectV8(channels, classes=classes, light=light, bins=bins)
        width = prototypes or width_of(channels)
        self.all_maps = levels is not None
        self.proto = FusedPrototypes(levels, width) if levels else Prototypes(channels[0], width, learned=True)
        self.cv4 = extra_branch(channels, max(channels[0] // 4, MASKS), MASKS)

    def forward(self, maps):
        coefficients = torch.cat([branch(x).flatten(2) for branch, x in zip(self.cv4, maps)], 2)
        return torch.cat((self.detect(maps), coefficients), 1), self.proto(maps if self.all_maps else maps[0])


class PoseV8(nn.Module):
    """Persons with 17 key points: two coordinates and whether the point is seen. `spread` (YOLO26): the branch is wide
    enough for two deviations a point, which only training reads, and an offset is not doubled."""

    def __init__(self, channels, light=False, classes=1, bins=16, spread=False):
        super().__init__()
        self.detect = DetectV8(channels, classes=classes, light=light, bins=bins)
        self.spread = spread
        width = max(channels[0] // 4, (5 if spread else 3) * KEY_POINTS)
        self.cv4 = extra_branch(channels, width, 3 * KEY_POINTS)

    def forward(self, maps):
        points = []
        for i, (branch, x) in enumerate(zip(self.cv4, maps)):
            y = branch(x).reshape(x.shape[0], KEY_POINTS, 3, -1)
            place, seen = y.split((2, 1), 2)
            place = (place + grid(x, 0.5) if self.spread else place * 2 + grid(x, 0)) * STRIDES[i]
            points.append(torch.cat((place, seen.sigmoid()), 2).flatten(1, 2))
        return torch.cat((self.detect(maps), torch.cat(points, 2)), 1)


class Classifier(nn.Module):
    """The backbone's stages, a pointwise convolution to 1280 channels, and a linear layer."""

    def __init__(self, layers, channels, classes=1000):
        super().__init__()
        self.backbone = nn.Sequential(*layers)
        self.conv = conv(channels, 1280)
        self.linear = nn.Linear(1280, classes)

    def forward(self, x):
        return self.linear(self.conv(self.backbone(x)).mean((2, 3)))


def stages(channels, depths, block):
    return [nn.Sequential(conv(inputs, outputs, 3, 2), block(outputs, outputs, depth))
            for inputs, outputs, depth in zip(channels, channels[1:], depths)]


def yolov5_seg(size):
    backbone, neck, channels = yolov5_trunk(size)
    return Yolo(backbone, neck, SegmentV5(channels))


def yolov5_cls(size):
    channels, depths = YOLOV5[size]
    return Classifier([conv(3, channels[0], 6, 2, padding=2)] + stages(channels, depths, C3), channels[-1])


def yolov8_seg(size, classes=CLASSES):
    backbone, neck, channels = yolov8_trunk(size)
    return Yolo(backbone, neck, SegmentV8(channels, classes=classes))


def yolov8_pose(size):
    backbone, neck, channels = yolov8_trunk(size)
    return Yolo(backbone, neck, PoseV8(channels))


def yolov8_cls(size):
    channels, depths = YOLOV8[size]
    channels = channels[:4] + (2 * channels[3],)  # not held to 512 or 768 channels as in the detectors
    return Classifier([conv(3, channels[0], 3, 2)] + stages(channels, depths, C2f), channels[-1])
