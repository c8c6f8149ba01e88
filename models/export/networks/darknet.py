"""YOLOv3 (arXiv:1804.02767), YOLOv4 (arXiv:2004.10934) and their tiny sizes, up to the raw maps of three anchors a cell."""
import torch
from torch import nn

from .layers import conv_norm_act

OUTPUTS = 3 * (80 + 5)


def leaky():
    return nn.LeakyReLU(0.1)


def conv(inputs, outputs, kernel=1, stride=1, act=leaky):
    return conv_norm_act(inputs, outputs, kernel, stride, act=act)


class Residual(nn.Module):
    def __init__(self, channels, inner, act=leaky):
        super().__init__()
        self.cv1, self.cv2 = conv(channels, inner, 1, act=act), conv(inner, channels, 3, act=act)

    def forward(self, x):
        return x + self.cv2(self.cv1(x))


def five(inputs, channels, act=leaky):
    """Pointwise and 3x3 convolutions in turn, which end in `channels`."""
    return nn.Sequential(conv(inputs, channels, act=act), conv(channels, 2 * channels, 3, act=act),
                         conv(2 * channels, channels, act=act), conv(channels, 2 * channels, 3, act=act),
                         conv(2 * channels, channels, act=act))


def prediction(channels, act=leaky):
    return nn.Sequential(conv(channels, 2 * channels, 3, act=act), nn.Conv2d(2 * channels, OUTPUTS, 1))


class Yolov3(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = conv(3, 32, 3)
        channels = (32, 64, 128, 256, 512, 1024)
        self.stages = nn.ModuleList(
            nn.Sequential(conv(i, o, 3, 2), *(Residual(o, o // 2) for _ in range(units)))
            for i, o, units in zip(channels, channels[1:], (1, 2, 8, 8, 4)))
        self.top5, self.top4, self.top3 = five(1024, 512), five(256 + 512, 256), five(128 + 256, 128)
        self.narrow5, self.narrow4 = conv(512, 256), conv(256, 128)
        self.up = nn.Upsample(scale_factor=2, mode="nearest")
        self.heads = nn.ModuleList(prediction(c) for c in (128, 256, 512))

    def forward(self, x):
        x, maps = self.stem(x), []
        for stage in self.stages:
            x = stage(x)
            maps.append(x)
        p5 = self.top5(maps[4])
        p4 = self.top4(torch.cat((self.up(self.narrow5(p5)), maps[3]), 1))
        p3 = self.top3(torch.cat((self.up(self.narrow4(p4)), maps[2]), 1))
        return tuple(head(p) for head, p in zip(self.heads, (p3, p4, p5)))


class Yolov3Tiny(nn.Module):
    def __init__(self):
        super().__init__()
        layers, channels = [], 3
        for outputs in (16, 32, 64, 128):
            layers += [conv(channels, outputs, 3), nn.MaxPool2d(2)]
            channels = outputs
        self.to16 = nn.Sequential(*layers, conv(128, 256, 3))
        self.to32 = nn.Sequential(nn.MaxPool2d(2), conv(256, 512, 3), nn.ZeroPad2d((0, 1, 0, 1)), nn.MaxPool2d(2, 1),
                                  conv(512, 1024, 3), conv(1024, 256))
        self.head5 = nn.Sequential(conv(256, 512, 3), nn.Conv2d(512, OUTPUTS, 1))
        self.narrow, self.up = conv(256, 128), nn.Upsample(scale_factor=2, mode="nearest")
        self.head4 = nn.Sequential(conv(384, 256, 3), nn.Conv2d(256, OUTPUTS, 1))

    def forward(self, x):
        p4 = self.to16(x)
        p5 = self.to32(p4)
        return self.head4(torch.cat((self.up(self.narrow(p5)), p4), 1)), self.head5(p5)


class CrossStage(nn.Module):
    """Half of the channels pass the residual units; the first stage has all of them twice."""

    def __init__(self, inputs, outputs, units, act, first=False):
        super().__init__()
        half = outputs if first else outputs // 2
        self.down = conv(inputs, outputs, 3, 2, act)
        self.beside, self.enter, self.leave = (conv(o, i, 1, 1, act) for o, i in
                                               ((outputs, half), (outputs, half), (half, half)))
        self.units = nn.Sequential(*(Residual(half, outputs // 2, act) for _ in range(units)))
        self.join = conv(2 * half, outputs, 1, 1, act)

    def forward(self, x):
        x = self.down(x)
        return self.join(torch.cat((self.leave(self.units(self.enter(x))), self.beside(x)), 1))


class Yolov4(nn.Module):
    """CSPDarknet-53, spatial pyramid pooling, path aggregation; `act` is the backbone's, the neck's is leaky."""

    def __init__(self, act=nn.Mish):
        super().__init__()
        channels = (32, 64, 128, 256, 512, 1024)
        self.stem = conv(3, 32, 3, 1, act)
        self.stages = nn.ModuleList(CrossStage(i, o, units, act, first=o == 64)
                                    for i, o, units in zip(channels, channels[1:], (1, 2, 8, 8, 4)))
        self.before = nn.Sequential(conv(1024, 512), conv(512, 1024, 3), conv(1024, 512))
        self.pools = nn.ModuleList(nn.MaxPool2d(k, 1, k // 2) for k in (5, 9, 13))
        self.after = nn.Sequential(conv(2048, 512), conv(512, 1024, 3), conv(1024, 512))
        self.up = nn.Upsample(scale_factor=2, mode="nearest")
        self.narrow5, self.beside4, self.top4 = conv(512, 256), conv(512, 256), five(512, 256)
        self.narrow4, self.beside3, self.top3 = conv(256, 128), conv(256, 128), five(256, 128)
        self.down3, self.bottom4 = conv(128, 256, 3, 2), five(512, 256)
        self.down4, self.bottom5 = conv(256, 512, 3, 2), five(1024, 512)
        self.heads = nn.ModuleList(prediction(c) for c in (128, 256, 512))

    def forward(self, x):
        x, maps = self.stem(x), []
        for stage in self.stages:
            x = stage(x)
            maps.append(x)
        x = self.before(maps[4])
        p5 = self.after(torch.cat([pool(x) for pool in self.pools][::-1] + [x], 1))
        p4 = self.top4(torch.cat((self.beside4(maps[3]), self.up(self.narrow5(p5))), 1))
        p3 = self.top3(torch.cat((self.beside3(maps[2]), self.up(self.narrow4(p4))), 1))
        n4 = self.bottom4(torch.cat((self.down3(p3), p4), 1))
        n5 = self.bottom5(torch.cat((self.down4(n4), p5), 1))
        return tuple(head(p) for head, p in zip(self.heads, (p3, n4, n5)))


class TinyStage(nn.Module):
    def __init__(self, channels):
        super().__init__()
        half = channels // 2
        self.cv1, self.cv2, self.cv3 = conv(channels, channels, 3), conv(half, half, 3), conv(half, half, 3)
        self.cv4, self.half = conv(channels, channels), half

    def forward(self, x):
        x = self.cv1(x)
        a = self.cv2(x[:, self.half:])
        b = self.cv4(torch.cat((self.cv3(a), a), 1))
        return torch.cat((x, b), 1), b


class Yolov4Tiny(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(conv(3, 32, 3, 2), conv(32, 64, 3, 2))
        self.stages = nn.ModuleList(TinyStage(c) for c in (64, 128, 256))
        self.pool, self.last, self.narrow5 = nn.MaxPool2d(2), conv(512, 512, 3), conv(512, 256)
        self.head5 = nn.Sequential(conv(256, 512, 3), nn.Conv2d(512, OUTPUTS, 1))
        self.narrow4, self.up = conv(256, 128), nn.Upsample(scale_factor=2, mode="nearest")
        self.head4 = nn.Sequential(conv(384, 256, 3), nn.Conv2d(256, OUTPUTS, 1))

    def forward(self, x):
        x = self.stem(x)
        for stage in self.stages:
            x, beside = stage(x)
            x = self.pool(x)
        p5 = self.narrow5(self.last(x))
        return self.head4(torch.cat((self.up(self.narrow4(p5)), beside), 1)), self.head5(p5)
