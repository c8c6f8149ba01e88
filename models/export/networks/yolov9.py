"""YOLOv9-C (arXiv:2402.13616) without its auxiliary branch, deployed: each RepConv one convolution."""
import torch
from torch import nn

from .layers import conv_norm_act
from .yolo import CLASSES, DetectV8

BINS = 16


def conv(inputs, outputs, kernel=1, stride=1, groups=1):
    return conv_norm_act(inputs, outputs, kernel, stride, groups, act=nn.SiLU)


class Bottleneck(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.cv1 = nn.Sequential(nn.Conv2d(channels, channels, 3, 1, 1), nn.SiLU())
        self.cv2 = conv(channels, channels, 3)

    def forward(self, x):
        return x + self.cv2(self.cv1(x))


class Csp(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        half = outputs // 2
        self.cv1, self.cv2, self.cv3 = conv(inputs, half), conv(inputs, half), conv(2 * half, outputs)
        self.m = Bottleneck(half)

    def forward(self, x):
        return self.cv3(torch.cat((self.m(self.cv1(x)), self.cv2(x)), 1))


class CspElan(nn.Module):
    def __init__(self, inputs, outputs, width, inner):
        super().__init__()
        self.half = width // 2
        self.cv1 = conv(inputs, width)
        self.cv2 = nn.Sequential(Csp(self.half, inner), conv(inner, inner, 3))
        self.cv3 = nn.Sequential(Csp(inner, inner), conv(inner, inner, 3))
        self.cv4 = conv(width + 2 * inner, outputs)

    def forward(self, x):
        parts = list(self.cv1(x).split((self.half, self.half), 1))
        parts.append(self.cv2(parts[-1]))
        parts.append(self.cv3(parts[-1]))
        return self.cv4(torch.cat(parts, 1))


class Down(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.half = channels // 2
        self.mean, self.pool = nn.AvgPool2d(2, 1), nn.MaxPool2d(3, 2, 1)
        self.cv1, self.cv2 = conv(self.half, self.half, 3, 2), conv(self.half, self.half)

    def forward(self, x):
        a, b = self.mean(x).split((self.half, self.half), 1)
        return torch.cat((self.cv1(a), self.cv2(self.pool(b))), 1)


class SppElan(nn.Module):
    def __init__(self, channels, width):
        super().__init__()
        self.cv1, self.cv5 = conv(channels, width), conv(4 * width, channels)
        self.pool = nn.MaxPool2d(5, 1, 2)

    def forward(self, x):
        parts = [self.cv1(x)]
        for _ in range(3):
            parts.append(self.pool(parts[-1]))
        return self.cv5(torch.cat(parts, 1))


class Detect(DetectV8):
    """The branch of the boxes is grouped: each side has a quarter of it."""

    def __init__(self, channels):
        super().__init__(channels)
        box = max(channels[0] // 4, 4 * BINS)
        score = max(channels[0], min(2 * CLASSES, 128))
        self.cv2 = nn.ModuleList(nn.Sequential(conv(c, box, 3), conv(box, box, 3, groups=4),
                                               nn.Conv2d(box, 4 * BINS, 1, groups=4)) for c in channels)
        self.cv3 = nn.ModuleList(nn.Sequential(conv(c, score, 3), conv(score, score, 3),
                                               nn.Conv2d(score, CLASSES, 1)) for c in channels)


class Yolov9C(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(conv(3, 64, 3, 2), conv(64, 128, 3, 2), CspElan(128, 256, 128, 64))
        self.stage3 = nn.Sequential(Down(256), CspElan(256, 512, 256, 128))
        self.stage4 = nn.Sequential(Down(512), CspElan(512, 512, 512, 256))
        self.stage5 = nn.Sequential(Down(512), CspElan(512, 512, 512, 256), SppElan(512, 256))
        self.up = nn.Upsample(scale_factor=2, mode="nearest")
        self.top4, self.top3 = CspElan(1024, 512, 512, 256), CspElan(1024, 256, 256, 128)
        self.down3, self.bottom4 = Down(256), CspElan(768, 512, 512, 256)
        self.down4, self.bottom5 = Down(512), CspElan(1024, 512, 512, 256)
        self.head = Detect((256, 512, 512))

    def forward(self, x):
        c3 = self.stage3(self.stem(x))
        c4 = self.stage4(c3)
        c5 = self.stage5(c4)
        p4 = self.top4(torch.cat((self.up(c5), c4), 1))
        p3 = self.top3(torch.cat((self.up(p4), c3), 1))
        n4 = self.bottom4(torch.cat((self.down3(p3), p4), 1))
        return self.head((p3, n4, self.bottom5(torch.cat((self.down4(n4), c5), 1))))
