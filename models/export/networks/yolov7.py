"""YOLOv7 and its tiny size (arXiv:2207.02696), deployed (each RepConv one convolution), up to the raw maps of three
anchors a cell."""
import torch
from torch import nn

from .layers import conv_norm_act

OUTPUTS = 3 * (80 + 5)


def silu(inputs, outputs, kernel=1, stride=1):
    return conv_norm_act(inputs, outputs, kernel, stride, act=nn.SiLU)


def leaky(inputs, outputs, kernel=1, stride=1):
    return conv_norm_act(inputs, outputs, kernel, stride, act=lambda: nn.LeakyReLU(0.1))


class Elan(nn.Module):
    """Two pointwise convolutions, a chain of 3x3 ones behind the second, and every `step`-th of its maps joined."""

    def __init__(self, inputs, width, outputs, conv=silu, depth=4, step=2, chain=None):
        super().__init__()
        chain = chain or width
        self.cv1, self.cv2 = conv(inputs, width), conv(inputs, width)
        self.chain = nn.ModuleList(conv(width if i == 0 else chain, chain, 3) for i in range(depth))
        self.step = step
        joined = 2 * width + chain * (depth // step)
        self.join = conv(joined, outputs)

    def forward(self, x):
        kept = [self.cv1(x), self.cv2(x)]
        y = kept[1]
        for i, layer in enumerate(self.chain, 1):
            y = layer(y)
            if i % self.step == 0:
                kept.append(y)
        return self.join(torch.cat(kept[::-1], 1))


class Down(nn.Module):
    """Half the size by a pool and by a convolution, side by side."""

    def __init__(self, inputs, width):
        super().__init__()
        self.pool, self.cv1 = nn.MaxPool2d(2), silu(inputs, width)
        self.cv2 = nn.Sequential(silu(inputs, width), silu(width, width, 3, 2))

    def forward(self, x):
        return torch.cat((self.cv2(x), self.cv1(self.pool(x))), 1)


class SppCsp(nn.Module):
    def __init__(self, inputs, width):
        super().__init__()
        self.before = nn.Sequential(silu(inputs, width), silu(width, width, 3), silu(width, width))
        self.beside = silu(inputs, width)
        self.pools = nn.ModuleList(nn.MaxPool2d(k, 1, k // 2) for k in (5, 9, 13))
        self.after = nn.Sequential(silu(4 * width, width), silu(width, width, 3))
        self.join = silu(2 * width, width)

    def forward(self, x):
        y = self.before(x)
        y = self.after(torch.cat([y] + [pool(y) for pool in self.pools], 1))
        return self.join(torch.cat((y, self.beside(x)), 1))


def wide(inputs, width):
    """The neck's form: every map of the chain is joined, at half the width."""
    return Elan(inputs, width, width, step=1, chain=width // 2)


class Yolov7(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(silu(3, 32, 3), silu(32, 64, 3, 2), silu(64, 64, 3), silu(64, 128, 3, 2),
                                  Elan(128, 64, 256))
        self.stage3 = nn.Sequential(Down(256, 128), Elan(256, 128, 512))
        self.stage4 = nn.Sequential(Down(512, 256), Elan(512, 256, 1024))
        self.stage5 = nn.Sequential(Down(1024, 512), Elan(1024, 256, 1024))
        self.spp = SppCsp(1024, 512)
        self.up = nn.Upsample(scale_factor=2, mode="nearest")
        self.narrow5, self.beside4, self.top4 = silu(512, 256), silu(1024, 256), wide(512, 256)
        self.narrow4, self.beside3, self.top3 = silu(256, 128), silu(512, 128), wide(256, 128)
        self.down3, self.bottom4 = Down(128, 128), wide(512, 256)
        self.down4, self.bottom5 = Down(256, 256), wide(1024, 512)
        self.heads = nn.ModuleList(nn.Sequential(nn.Conv2d(c, 2 * c, 3, 1, 1), nn.SiLU(), nn.Conv2d(2 * c, OUTPUTS, 1))
                                   for c in (128, 256, 512))

    def forward(self, x):
        c3 = self.stage3(self.stem(x))
        c4 = self.stage4(c3)
        p5 = self.spp(self.stage5(c4))
        p4 = self.top4(torch.cat((self.beside4(c4), self.up(self.narrow5(p5))), 1))
        p3 = self.top3(torch.cat((self.beside3(c3), self.up(self.narrow4(p4))), 1))
        n4 = self.bottom4(torch.cat((self.down3(p3), p4), 1))
        n5 = self.bottom5(torch.cat((self.down4(n4), p5), 1))
        return tuple(head(p) for head, p in zip(self.heads, (p3, n4, n5)))


def small(inputs, width, outputs):
    return Elan(inputs, width, outputs, leaky, depth=2, step=1)


class Yolov7Tiny(nn.Module):
    def __init__(self):
        super().__init__()
        pool = nn.MaxPool2d(2)
        self.stem = nn.Sequential(leaky(3, 32, 3, 2), leaky(32, 64, 3, 2), small(64, 32, 64))
        self.stage3 = nn.Sequential(pool, small(64, 64, 128))
        self.stage4 = nn.Sequential(pool, small(128, 128, 256))
        self.stage5 = nn.Sequential(pool, small(256, 256, 512))
        self.before, self.beside, self.after, self.join = (leaky(i, 256) for i in (512, 512, 1024, 512))
        self.pools = nn.ModuleList(nn.MaxPool2d(k, 1, k // 2) for k in (5, 9, 13))
        self.up = nn.Upsample(scale_factor=2, mode="nearest")
        self.narrow5, self.beside4, self.top4 = leaky(256, 128), leaky(256, 128), small(256, 64, 128)
        self.narrow4, self.beside3, self.top3 = leaky(128, 64), leaky(128, 64), small(128, 32, 64)
        self.down3, self.bottom4 = leaky(64, 128, 3, 2), small(256, 64, 128)
        self.down4, self.bottom5 = leaky(128, 256, 3, 2), small(512, 128, 256)
        self.heads = nn.ModuleList(
            nn.Sequential(leaky(c, 2 * c, 3), nn.Conv2d(2 * c, OUTPUTS, 1)) for c in (64, 128, 256))

    def forward(self, x):
        c3 = self.stage3(self.stem(x))
        c4 = self.stage4(c3)
        c5 = self.stage5(c4)
        y = self.before(c5)
        y = self.after(torch.cat([pool(y) for pool in self.pools][::-1] + [y], 1))
        p5 = self.join(torch.cat((y, self.beside(c5)), 1))
        p4 = self.top4(torch.cat((self.beside4(c4), self.up(self.narrow5(p5))), 1))
        p3 = self.top3(torch.cat((self.beside3(c3), self.up(self.narrow4(p4))), 1))
        n4 = self.bottom4(torch.cat((self.down3(p3), p4), 1))
        n5 = self.bottom5(torch.cat((self.down4(n4), p5), 1))
        return tuple(head(p) for head, p in zip(self.heads, (p3, n4, n5)))
