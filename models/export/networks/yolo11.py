"""YOLO11, YOLO12, YOLO26 and YOLOv10, up to decoded boxes and scores. Their detectors share the head of depthwise
and pointwise convolutions; YOLOv10 and YOLO26 need no suppression of boxes, only the best of them."""
import torch
from torch import nn

from .layers import conv_norm_act
from .yolo import C2f, DetectV8, Sppf, Yolo, conv, depthwise
from .yolo_tasks import Classifier, PoseV8, SegmentV8


def linear_conv(inputs, outputs, kernel=1, stride=1, groups=1):
    """Convolution and normalisation without activation."""
    block = conv_norm_act(inputs, outputs, kernel, stride, groups=groups, act=None)
    block.norm.eps = 1e-3
    return block


class Bottleneck(nn.Module):
    def __init__(self, channels, expansion=0.5):
        super().__init__()
        hidden = int(channels * expansion)
        self.cv1, self.cv2 = conv(channels, hidden, 3), conv(hidden, channels, 3)

    def forward(self, x):
        return x + self.cv2(self.cv1(x))


class C3k(nn.Module):
    """Cross-stage partial block with two bottlenecks."""

    def __init__(self, channels):
        super().__init__()
        hidden = channels // 2
        self.cv1, self.cv2, self.cv3 = conv(channels, hidden), conv(channels, hidden), conv(2 * hidden, channels)
        self.m = nn.Sequential(Bottleneck(hidden, 1.0), Bottleneck(hidden, 1.0))

    def forward(self, x):
        return self.cv3(torch.cat((self.m(self.cv1(x)), self.cv2(x)), 1))


class Attention(nn.Module):
    """Attention over all positions, keys half as wide as values, with positions by a depthwise convolution."""

    def __init__(self, channels):
        super().__init__()
        self.heads = max(channels // 64, 1)
        self.value = channels // self.heads
        self.key = self.value // 2
        self.qkv = linear_conv(channels, channels + 2 * self.key * self.heads)
        self.proj = linear_conv(channels, channels)
        self.pe = linear_conv(channels, channels, 3, groups=channels)

    def forward(self, x):
        batch, channels, height, width = x.shape
        qkv = self.qkv(x).reshape(batch, self.heads, 2 * self.key + self.value, -1)
        q, k, v = qkv.split((self.key, self.key, self.value), 2)
        scores = (q.transpose(2, 3) @ k * self.key ** -0.5).softmax(3)
        mixed = (v @ scores.transpose(2, 3)).reshape(batch, channels, height, width)
        return self.proj(mixed + self.pe(v.reshape(batch, channels, height, width)))


class AttentionBlock(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.attn = Attention(channels)
        self.ffn = nn.Sequential(conv(channels, 2 * channels), linear_conv(2 * channels, channels))

    def forward(self, x):
        x = x + self.attn(x)
        return x + self.ffn(x)


class C2Psa(nn.Module):
    """Half of the channels go through attention."""

    def __init__(self, channels, depth=1):
        super().__init__()
        self.hidden = channels // 2
        self.cv1, self.cv2 = conv(channels, channels), conv(channels, channels)
        self.m = nn.Sequential(*(AttentionBlock(self.hidden) for _ in range(depth)))

    def forward(self, x):
        a, b = self.cv1(x).split((self.hidden, self.hidden), 1)
        return self.cv2(torch.cat((a, self.m(b)), 1))


class Split(nn.Module):
    """C2f's frame about the blocks that `make(hidden)` gives."""

    def __init__(self, inputs, outputs, depth, make, expansion=0.5):
        super().__init__()
        self.hidden = int(outputs * expansion)
        self.cv1 = conv(inputs, 2 * self.hidden)
        self.cv2 = conv((2 + depth) * self.hidden, outputs)
        self.m = nn.ModuleList(make(self.hidden) for _ in range(depth))

    def forward(self, x):
        parts = list(self.cv1(x).split((self.hidden, self.hidden), 1))
        for block in self.m:
            parts.append(block(parts[-1]))
        return self.cv2(torch.cat(parts, 1))


def c3k2(inputs, outputs, depth, inner, expansion=0.5):
    return Split(inputs, outputs, depth, C3k if inner else Bottleneck, expansion)


def attended(hidden):
    return nn.Sequential(Bottleneck(hidden), AttentionBlock(hidden))


class Area(nn.Module):
    """YOLO12's attention within `areas` equal strips of the map; positions by a depthwise convolution."""

    def __init__(self, channels, areas):
        super().__init__()
        self.areas, self.heads = areas, channels // 32
        self.qkv = linear_conv(channels, 3 * channels)
        self.proj = linear_conv(channels, channels)
        self.pe = linear_conv(channels, channels, 7, groups=channels)

    def forward(self, x):
        batch, channels, height, width = x.shape
        qkv = self.qkv(x).flatten(2).transpose(1, 2)
        qkv = qkv.reshape(batch * self.areas, -1, self.heads, 96).permute(0, 2, 3, 1)
        q, k, v = qkv.split((32, 32, 32), 2)
        mixed = v @ (q.transpose(2, 3) @ k * 32 ** -0.5).softmax(3).transpose(2, 3)

        def as_map(y):
            return y.permute(0, 3, 1, 2).reshape(batch, height, width, channels).permute(0, 3, 1, 2)

        return self.proj(as_map(mixed) + self.pe(as_map(v)))


class AreaBlock(nn.Module):
    def __init__(self, channels, areas, ratio):
        super().__init__()
        self.attn = Area(channels, areas)
        inner = int(channels * ratio)
        self.mlp = nn.Sequential(conv(channels, inner), linear_conv(inner, channels))

    def forward(self, x):
        x = x + self.attn(x)
        return x + self.mlp(x)


class A2C2f(nn.Module):
    """YOLO12's block: pairs of area attention, or C3k where `areas` is 0; `scaled` adds a learned part of it."""

    def __init__(self, inputs, outputs, depth, areas, ratio, scaled):
        super().__init__()
        hidden = outputs // 2
        self.cv1, self.cv2 = conv(inputs, hidden), conv((1 + depth) * hidden, outputs)
        self.m = nn.ModuleList(
            nn.Sequential(*(AreaBlock(hidden, areas, ratio) for _ in range(2))) if areas else C3k(hidden)
            for _ in range(depth))
        if areas and scaled:
            self.gamma = nn.Parameter(torch.ones(outputs))

    def forward(self, x):
        parts = [self.cv1(x)]
        for block in self.m:
            parts.append(block(parts[-1]))
        y = self.cv2(torch.cat(parts, 1))
        return x + self.gamma.reshape(1, -1, 1, 1) * y if hasattr(self, "gamma") else y


class Trunk(nn.Module):
    """Backbone and path aggregation without reducing convolutions. `down` makes a halving convolution of a level
    (3: to stride 8), `block` the block of a place: "b2" to "b5" in the backbone, "t4", "t3", "n4", "n5" in the
    neck; `last` what follows the backbone."""

    def __init__(self, channels, stem, down, block, last):
        super().__init__()
        c1, c2, c3, c4, c5 = channels[:5]
        self.stem = stem
        self.d2, self.b2 = down(c1, c2, 2), block("b2")
        self.d3, self.b3 = down(self.out(self.b2), c3, 3), block("b3")
        self.d4, self.b4 = down(self.out(self.b3), c4, 4), block("b4")
        self.d5, self.b5 = down(self.out(self.b4), c5, 5), block("b5")
        self.last = last
        self.up = nn.Upsample(scale_factor=2, mode="nearest")
        self.t4, self.t3, self.n4, self.n5 = block("t4"), block("t3"), block("n4"), block("n5")
        n3, n4 = self.out(self.t3), self.out(self.n4)
        self.e3, self.e4 = conv(n3, n3, 3, 2), down(n4, n4, 5)

    @staticmethod
    def out(block):
        return block.cv2.conv.out_channels

    def backbone(self):
        return [self.stem, self.d2, self.b2, self.d3, self.b3, self.d4, self.b4, self.d5, self.b5]

    def features(self, x):
        p2 = self.b2(self.d2(self.stem(x)))
        p3 = self.b3(self.d3(p2))
        p4 = self.b4(self.d4(p3))
        return p3, p4, self.last(self.b5(self.d5(p4)))

    def forward(self, x):
        p3, p4, p5 = self.features(x)
        t4 = self.t4(torch.cat((self.up(p5), p4), 1))
        t3 = self.t3(torch.cat((self.up(t4), p3), 1))
        n4 = self.n4(torch.cat((self.e3(t3), t4), 1))
        return t3, n4, self.n5(torch.cat((self.e4(n4), p5), 1))


class Detector(nn.Module):
    def __init__(self, trunk, head):
        super().__init__()
        self.trunk, self.head = trunk, head

    def forward(self, x):
        return self.head(self.trunk(x))


def plain_down(inputs, outputs, level):
    return conv(inputs, outputs, 3, 2)


def separable_down(inputs, outputs, level):
    """YOLOv10's: pointwise, then depthwise, from stride 16 on."""
    if level < 4:
        return conv(inputs, outputs, 3, 2)
    return nn.Sequential(conv(inputs, outputs), depthwise(outputs, 3, 2, act=None))


# Depth of the blocks, width, largest number of channels.
SCALES = {"n": (1, 0.25, 1024), "s": (1, 0.5, 1024), "m": (1, 1, 512), "l": (2, 1, 512), "x": (2, 1.5, 512)}


def scaled(size, *channels):
    _, width, most = SCALES[size]
    return tuple(int(min(c, most) * width) for c in channels)


def yolo11_block(size):
    depth, inner = SCALES[size][0], size in "mlx"
    c2, c3, c4, c5 = scaled(size, 256, 512, 512, 1024)
    n3 = scaled(size, 256)[0]
    sizes = {"b2": (scaled(size, 128)[0], c2, False, 0.25), "b3": (scaled(size, 256)[0], c3, False, 0.25),
             "b4": (c4, c4, True, 0.5), "b5": (c5, c5, True, 0.5), "t4": (c5 + c4, c4, False, 0.5),
             "t3": (c4 + c3, n3, False, 0.5), "n4": (n3 + c4, c4, False, 0.5), "n5": (c4 + c5, c5, True, 0.5)}

    def block(place):
        inputs, outputs, c3k, expansion = sizes[place]
        return c3k2(inputs, outputs, depth, c3k or inner, expansion)

    return block, sizes


def yolo11_trunk(size):
    block, _ = yolo11_block(size)
    channels = scaled(size, 64, 128, 256, 512, 1024)
    last = nn.Sequential(Sppf(channels[4]), C2Psa(channels[4], SCALES[size][0]))
    return Trunk(channels, conv(3, channels[0], 3, 2), plain_down, block, last), scaled(size, 256, 512, 1024)


def yolo11(size):
    trunk, channels = yolo11_trunk(size)
    return Detector(trunk, DetectV8(channels, light=True))


def yolo11_seg(size):
    trunk, channels = yolo11_trunk(size)
    return Detector(trunk, SegmentV8(channels, light=True))


def yolo11_pose(size, classes=1):
    trunk, channels = yolo11_trunk(size)
    return Detector(trunk, PoseV8(channels, light=True, classes=classes))


def yolo11_cls(size, classes=1000):
    """YOLO26's classifier, too."""
    trunk, channels = yolo11_trunk(size)
    return Classifier([*trunk.backbone(), C2Psa(channels[-1], SCALES[size][0])], channels[-1], classes)


class Sppf26(Sppf):
    """YOLO26's pooling: no activation before, the input is added."""

    def __init__(self, channels):
        super().__init__(channels)
        self.cv1 = linear_conv(channels, channels // 2)

    def forward(self, x):
        return x + super().forward(x)


def yolo26_trunk(size):
    depth = SCALES[size][0]
    _, sizes = yolo11_block(size)
    inner = size in "mlx"

    def block(place):
        inputs, outputs, _, expansion = sizes[place]
        if place == "n5":
            return Split(inputs, outputs, 1, attended, expansion)
        return c3k2(inputs, outputs, depth, inner or place not in ("b2", "b3"), expansion)

    channels = scaled(size, 64, 128, 256, 512, 1024)
    last = nn.Sequential(Sppf26(channels[4]), C2Psa(channels[4], depth))
    return Trunk(channels, conv(3, channels[0], 3, 2), plain_down, block, last), scaled(size, 256, 512, 1024)


def yolo26(size):
    trunk, channels = yolo26_trunk(size)
    return Detector(trunk, DetectV8(channels, bins=1, light=True))


def yolo26_seg(size):
    trunk, channels = yolo26_trunk(size)
    return Detector(trunk, SegmentV8(channels, light=True, bins=1, levels=channels))


def yolo26_pose(size):
    trunk, channels = yolo26_trunk(size)
    return Detector(trunk, PoseV8(channels, light=True, bins=1, spread=True))


# YOLOv10: depths, width, channels held to, and which blocks have the inverted bottleneck (C2fCIB), which of them
# with a kernel of 7.
YOLOV10 = {
    "n": ((1, 2, 2, 1), 0.25, 1024, {"n5"}, {"n5"}),
    "s": ((1, 2, 2, 1), 0.5, 1024, {"b5", "n5"}, {"b5", "n5"}),
    "m": ((2, 4, 4, 2), 0.75, 768, {"b5", "n4", "n5"}, set()),
    "b": ((2, 4, 4, 2), 1.0, 512, {"b5", "t4", "n4", "n5"}, set()),
    "l": ((3, 6, 6, 3), 1.0, 512, {"b5", "t4", "n4", "n5"}, set()),
    "x": ((3, 6, 6, 3), 1.25, 512, {"b4", "b5", "t4", "n4", "n5"}, set()),
}


class Inverted(nn.Module):
    """Depthwise and pointwise convolutions in turn; the one of 7 x 7 as it is deployed, in one."""

    def __init__(self, channels, kernel):
        super().__init__()
        wide = 2 * channels
        self.cv1 = nn.Sequential(depthwise(channels), conv(channels, wide), depthwise(wide, kernel),
                                 conv(wide, channels), depthwise(channels))

    def forward(self, x):
        return x + self.cv1(x)


class Psa(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.hidden = channels // 2
        self.cv1, self.cv2 = conv(channels, channels), conv(channels, channels)
        self.block = AttentionBlock(self.hidden)

    def forward(self, x):
        a, b = self.cv1(x).split((self.hidden, self.hidden), 1)
        return self.cv2(torch.cat((a, self.block(b)), 1))


def yolov10(size):
    depths, width, most, inverted, large = YOLOV10[size]
    c1, c2, c3, c4, c5 = (int(min(c, most) * width) for c in (64, 128, 256, 512, 1024))
    places = {"b2": (c2, c2, 0), "b3": (c3, c3, 1), "b4": (c4, c4, 2), "b5": (c5, c5, 3), "t4": (c5 + c4, c4, 0),
              "t3": (c4 + c3, c3, 0), "n4": (c3 + c4, c4, 0), "n5": (c4 + c5, c5, 0)}

    def block(place):
        inputs, outputs, stage = places[place]
        depth = depths[stage]
        if place in inverted:
            return Split(inputs, outputs, depth, lambda hidden: Inverted(hidden, 7 if place in large else 3))
        return C2f(inputs, outputs, depth, place.startswith("b"))

    last = nn.Sequential(Sppf(c5), Psa(c5))
    trunk = Trunk((c1, c2, c3, c4, c5), conv(3, c1, 3, 2), separable_down, block, last)
    return Detector(trunk, DetectV8((c3, c4, c5), light=True))


def yolo12_trunk(size):
    """Area attention at strides 16 and 32, as Ultralytics' yolo12*.pt have it; YOLOv12's authors' later "turbo"
    configuration has other counts."""
    depth, large = SCALES[size][0], size in "lx"
    _, sizes = yolo11_block(size)

    def block(place):
        inputs, outputs, inner, expansion = sizes[place]
        if place in ("b4", "b5"):
            return A2C2f(inputs, outputs, 2 * depth, 4 if place == "b4" else 1, 1.2 if large else 2.0, large)
        if place in ("t4", "t3", "n4"):
            return A2C2f(inputs, outputs, depth, 0, 0, False)
        return c3k2(inputs, outputs, depth, inner or size in "mlx", expansion)

    channels = scaled(size, 64, 128, 256, 512, 1024)
    trunk = Trunk(channels, conv(3, channels[0], 3, 2), plain_down, block, nn.Identity())
    return trunk, scaled(size, 256, 512, 1024)


def yolo12(size):
    trunk, channels = yolo12_trunk(size)
    return Detector(trunk, DetectV8(channels, light=True))


def yolo12_seg(size):
    trunk, channels = yolo12_trunk(size)
    return Detector(trunk, SegmentV8(channels, light=True))


def yolo12_cls(size, classes=1000):
    trunk, channels = yolo12_trunk(size)
    return Classifier(trunk.backbone(), channels[-1], classes)
