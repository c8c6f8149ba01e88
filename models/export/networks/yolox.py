"""YOLOX (arXiv:2107.08430), up to decoded boxes and scores; non-maximum suppression runs outside. The nano size has
depthwise separable convolutions in place of those of 3 x 3."""
import torch
from torch import nn

from .yolo import CLASSES, STRIDES, conv, depthwise, grid

# Depth and width of the sizes.
YOLOX = {"nano": (0.33, 0.25), "tiny": (0.33, 0.375), "s": (0.33, 0.5), "m": (0.67, 0.75), "l": (1.0, 1.0),
         "x": (1.33, 1.25)}


def spatial(inputs, outputs, stride=1, separable=False):
    if separable:
        return nn.Sequential(depthwise(inputs, 3, stride), conv(inputs, outputs))
    return conv(inputs, outputs, 3, stride)


class Bottleneck(nn.Module):
    def __init__(self, channels, shortcut, separable):
        super().__init__()
        self.conv1, self.conv2 = conv(channels, channels), spatial(channels, channels, 1, separable)
        self.shortcut = shortcut

    def forward(self, x):
        y = self.conv2(self.conv1(x))
        return x + y if self.shortcut else y


class Csp(nn.Module):
    def __init__(self, inputs, outputs, depth, shortcut, separable):
        super().__init__()
        hidden = outputs // 2
        self.conv1, self.conv2, self.conv3 = conv(inputs, hidden), conv(inputs, hidden), conv(2 * hidden, outputs)
        self.m = nn.Sequential(*(Bottleneck(hidden, shortcut, separable) for _ in range(depth)))

    def forward(self, x):
        return self.conv3(torch.cat((self.m(self.conv1(x)), self.conv2(x)), 1))


class Spp(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1, self.conv2 = conv(channels, channels // 2), conv(2 * channels, channels)
        self.pools = nn.ModuleList(nn.MaxPool2d(kernel, 1, kernel // 2) for kernel in (5, 9, 13))

    def forward(self, x):
        x = self.conv1(x)
        return self.conv2(torch.cat([x] + [pool(x) for pool in self.pools], 1))


class Focus(nn.Module):
    """Every other pixel of every other row as channels."""

    def __init__(self, outputs):
        super().__init__()
        self.conv = conv(12, outputs, 3)

    def forward(self, x):
        parts = [x[..., row::2, column::2] for column in (0, 1) for row in (0, 1)]
        return self.conv(torch.cat(parts, 1))


class Head(nn.Module):
    def __init__(self, channels, width, separable):
        super().__init__()

        def convs():
            return nn.ModuleList(nn.Sequential(spatial(width, width, 1, separable), spatial(width, width, 1, separable))
                                 for _ in channels)

        def predictions(outputs):
            return nn.ModuleList(nn.Conv2d(width, outputs, 1) for _ in channels)

        self.stems = nn.ModuleList(conv(c, width) for c in channels)
        self.cls_convs, self.reg_convs = convs(), convs()
        self.cls_preds, self.reg_preds, self.obj_preds = predictions(CLASSES), predictions(4), predictions(1)

    def forward(self, maps):
        outputs = []
        for i, x in enumerate(maps):
            x = self.stems[i](x)
            regression = self.reg_convs[i](x)
            boxes = self.reg_preds[i](regression).flatten(2)
            scores = torch.cat((self.obj_preds[i](regression), self.cls_preds[i](self.cls_convs[i](x))), 1)
            centre, size = boxes.split((2, 2), 1)
            centre = (centre + grid(x, 0)) * STRIDES[i]
            outputs.append(torch.cat((centre, size.exp() * STRIDES[i], scores.flatten(2).sigmoid()), 1))
        return torch.cat(outputs, 2).transpose(1, 2)


class YoloX(nn.Module):
    def __init__(self, depth, width, separable):
        super().__init__()
        c1, c2, c3, c4, c5 = (int(c * width) for c in (64, 128, 256, 512, 1024))
        base = max(round(3 * depth), 1)

        def csp(inputs, outputs, count, shortcut):
            return Csp(inputs, outputs, count, shortcut, separable)

        def down(inputs, outputs):
            return spatial(inputs, outputs, 2, separable)

        self.stem = Focus(c1)
        self.dark2 = nn.Sequential(down(c1, c2), csp(c2, c2, base, True))
        self.dark3 = nn.Sequential(down(c2, c3), csp(c3, c3, 3 * base, True))
        self.dark4 = nn.Sequential(down(c3, c4), csp(c4, c4, 3 * base, True))
        self.dark5 = nn.Sequential(down(c4, c5), Spp(c5), csp(c5, c5, base, False))
        self.up = nn.Upsample(scale_factor=2, mode="nearest")
        self.lateral, self.p4 = conv(c5, c4), csp(2 * c4, c4, base, False)
        self.reduce, self.p3 = conv(c4, c3), csp(2 * c3, c3, base, False)
        self.down3, self.n3 = down(c3, c3), csp(2 * c3, c4, base, False)
        self.down4, self.n4 = down(c4, c4), csp(2 * c4, c5, base, False)
        self.head = Head((c3, c4, c5), int(256 * width), separable)

    def forward(self, x):
        x3 = self.dark3(self.dark2(self.stem(x)))
        x4 = self.dark4(x3)
        lateral5 = self.lateral(self.dark5(x4))
        lateral4 = self.reduce(self.p4(torch.cat((self.up(lateral5), x4), 1)))
        p3 = self.p3(torch.cat((self.up(lateral4), x3), 1))
        n3 = self.n3(torch.cat((self.down3(p3), lateral4), 1))
        return self.head((p3, n3, self.n4(torch.cat((self.down4(n3), lateral5), 1))))


def yolox(size):
    depth, width = YOLOX[size]
    return YoloX(depth, width, size == "nano")
