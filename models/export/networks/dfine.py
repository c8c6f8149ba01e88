"""D-FINE (arXiv:2410.13842): RT-DETR's frame with lighter blocks between the maps and a decoder that refines the
distributions of the four distances of a box, deployed."""
import torch
from torch import nn
from torch.nn import functional

from . import rtdetr
from .layers import conv_norm_act
from .rtdetr import HEADS, QUERIES, conv, inverse_sigmoid, perceptron

BINS = 33


class Affine(nn.Module):
    """A learned factor and summand of a whole map."""

    def __init__(self):
        super().__init__()
        self.scale, self.bias = nn.Parameter(torch.ones(1)), nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return self.scale * x + self.bias


# name: (channels of the stem, layers of a block, (channels within, outputs, blocks) of the stages, affine activations)
BACKBONES = {
    "B0": ((16, 16), 3, ((16, 64, 1), (32, 256, 1), (64, 512, 2), (128, 1024, 1)), True),
    "B2": ((24, 32), 4, ((32, 96, 1), (64, 384, 1), (128, 768, 3), (256, 1536, 1)), True),
    "B4": ((32, 48), 6, ((48, 128, 1), (96, 512, 1), (192, 1024, 3), (384, 2048, 1)), False),
    "B5": ((32, 64), 6, ((64, 128, 1), (128, 512, 2), (256, 1024, 5), (512, 2048, 2)), False),
}


class HgNetV2(nn.Module):
    """The maps of strides 8 (if asked for), 16 and 32."""

    def __init__(self, name, levels):
        super().__init__()
        stem, depth, stages, affine = BACKBONES[name]
        act = (lambda: nn.Sequential(nn.ReLU(), Affine())) if affine else nn.ReLU
        self.stem, inputs = rtdetr.HgStem(*stem, act=act), stem[1]
        self.stages = nn.ModuleList()
        for i, (middle, outputs, count) in enumerate(stages):
            layers = [conv_norm_act(inputs, inputs, 3, 2, groups=inputs, act=None)] if i else []
            for j in range(count):
                layers.append(rtdetr.HgBlock(inputs, middle, outputs, 5 if i > 1 else 3, i > 1, j > 0, depth, act))
                inputs = outputs
            self.stages.append(nn.Sequential(*layers))
        self.levels = levels
        self.channels = [outputs for _, outputs, _ in stages[-levels:]]

    def forward(self, x):
        x, maps = self.stem(x), []
        for stage in self.stages:
            x = stage(x)
            maps.append(x)
        return maps[-self.levels:]


class Csp(nn.Module):
    def __init__(self, inputs, width, depth):
        super().__init__()
        self.conv1, self.conv2 = conv(inputs, width), conv(inputs, width)
        self.layers = nn.Sequential(*(nn.Sequential(nn.Conv2d(width, width, 3, 1, 1), nn.SiLU()) for _ in range(depth)))

    def forward(self, x):
        return self.layers(self.conv1(x)) + self.conv2(x)


class Elan(nn.Module):
    """Two cross-stage blocks in a row, all of whose outputs are mixed."""

    def __init__(self, width, middle, depth):
        super().__init__()
        self.width = width
        self.cv1 = conv(2 * width, 2 * width)
        self.cv2 = nn.Sequential(Csp(width, middle, depth), conv(middle, middle, 3))
        self.cv3 = nn.Sequential(Csp(middle, middle, depth), conv(middle, middle, 3))
        self.cv4 = conv(2 * width + 2 * middle, width)

    def forward(self, x):
        a, b = self.cv1(x).split((self.width, self.width), 1)
        c = self.cv2(b)
        return self.cv4(torch.cat((a, b, c, self.cv3(c)), 1))


class Encoder(nn.Module):
    def __init__(self, channels, width, feed_forward, middle, depth, side):
        super().__init__()
        steps = len(channels) - 1
        self.project = nn.ModuleList(conv(c, width, act=None) for c in channels)
        self.attend = rtdetr.EncoderLayer(width, feed_forward, side)
        self.lateral = nn.ModuleList(conv(width, width, act=None) for _ in range(steps))
        self.up = nn.Upsample(scale_factor=2, mode="nearest")
        self.top, self.bottom = (nn.ModuleList(Elan(width, middle, depth) for _ in range(steps)) for _ in range(2))
        self.down = nn.ModuleList(nn.Sequential(conv(width, width, act=None),
                                                conv_norm_act(width, width, 3, 2, groups=width, act=None))
                                  for _ in range(steps))

    def forward(self, maps):
        maps = [project(x) for project, x in zip(self.project, maps)]
        maps[-1] = self.attend(maps[-1])
        for i, (lateral, top) in enumerate(zip(self.lateral, self.top)):
            place = len(maps) - 1 - i
            maps[place] = lateral(maps[place])
            maps[place - 1] = top(torch.cat((self.up(maps[place]), maps[place - 1]), 1))
        for i, (down, bottom) in enumerate(zip(self.down, self.bottom)):
            maps[i + 1] = bottom(torch.cat((down(maps[i]), maps[i + 1]), 1))
        return maps


class Deformable(nn.Module):
    """As RT-DETR's, without projections of the maps and of what is found; each map has its own count of points."""

    def __init__(self, width, points):
        super().__init__()
        self.width, self.points, count = width, points, sum(points)
        self.sampling_offsets = nn.Linear(width, HEADS * count * 2)
        self.attention_weights = nn.Linear(width, HEADS * count)
        shares = torch.tensor([0.5 / n for n in points for _ in range(n)])
        self.register_buffer("shares", shares.reshape(1, 1, 1, -1, 1))

    def forward(self, query, boxes, memory, sides):
        batch, count = query.shape[0], sum(self.points)
        value = memory.transpose(1, 2).reshape(batch * HEADS, self.width // HEADS, -1)
        offsets = self.sampling_offsets(query).reshape(batch, -1, HEADS, count, 2)
        weights = self.attention_weights(query).reshape(batch, -1, HEADS, count).softmax(3)
        centre, size = boxes[:, :, None, None].split((2, 2), 4)
        places = centre + offsets * self.shares * size
        places = (2 * places - 1).transpose(1, 2).reshape(batch * HEADS, -1, count, 2)
        samples = [functional.grid_sample(v.reshape(batch * HEADS, self.width // HEADS, side, side), p,
                                          align_corners=False)
                   for v, p, side in zip(value.split([s * s for s in sides], 2), places.split(self.points, 2), sides)]
        weights = weights.transpose(1, 2).reshape(batch * HEADS, 1, -1, count)
        return (torch.cat(samples, 3) * weights).sum(3).reshape(batch, self.width, -1).transpose(1, 2)


class DecoderLayer(nn.Module):
    def __init__(self, width, feed_forward, points):
        super().__init__()
        self.self_attn, self.cross_attn = rtdetr.Attention(width), Deformable(width, points)
        self.gate = nn.Linear(2 * width, 2 * width)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(width) for _ in range(3))
        self.linear1, self.linear2 = nn.Linear(width, feed_forward), nn.Linear(feed_forward, width)
        self.act = nn.ReLU()

    def forward(self, x, position, boxes, memory, sides):
        x = self.norm1(x + self.self_attn(x + position, x))
        found = self.cross_attn(x + position, boxes, memory, sides)
        gates = self.gate(torch.cat((x, found), 2)).sigmoid()
        old, new = gates.split((x.shape[2], x.shape[2]), 2)
        x = self.norm2(old * x + new * found)
        return self.norm3(x + self.linear2(self.act(self.linear1(x))))


class Quality(nn.Module):
    """What the four most likely bins of each distance say of a score."""

    def __init__(self):
        super().__init__()
        self.layers = perceptron(20, 64, 1, 2)

    def forward(self, scores, distributions):
        best = distributions.topk(4, 3)[0]
        best = torch.cat((best, best.mean(3, keepdim=True)), 3)
        return scores + self.layers(best.flatten(2))


class Decoder(nn.Module):
    """The places whose scores are best become the queries; every layer adds to the distributions of their distances."""

    def __init__(self, channels, width, depth, feed_forward, points, strides, size, reach, classes):
        super().__init__()
        self.sides, self.reach = [size // s for s in strides], reach
        places = sum(s * s for s in self.sides)
        self.project = nn.ModuleList(conv(channels, width, act=None) if channels != width else nn.Identity()
                                     for _ in strides)
        self.enc_output = nn.Sequential(nn.Linear(width, width), nn.LayerNorm(width))
        self.enc_score_head, self.enc_bbox_head = nn.Linear(width, classes), perceptron(width, width, 4, 3)
        self.query_pos_head = perceptron(4, 2 * width, width, 2)
        self.layers = nn.ModuleList(DecoderLayer(width, feed_forward, points) for _ in range(depth))
        self.first_head = perceptron(width, width, 4, 3)
        self.bbox_heads = nn.ModuleList(perceptron(width, width, 4 * BINS, 3) for _ in range(depth))
        self.score_head, self.quality = nn.Linear(width, classes), Quality()
        self.register_buffer("anchors", torch.ones(1, places, 4))
        self.register_buffer("valid", torch.ones(1, places, 1))
        self.register_buffer("distances", torch.ones(BINS, 1))

    def moved(self, boxes, likely):
        """The box whose sides lie at the mean of the distributions."""
        means = (likely @ self.distances).squeeze(3) + 0.5 * self.reach
        centre, size = boxes.split((2, 2), 2)
        near, far = means.split((2, 2), 2)
        low, high = centre - near * (size / self.reach), centre + far * (size / self.reach)
        return torch.cat(((low + high) / 2, high - low), 2)

    def forward(self, maps):
        memory = torch.cat([project(x).flatten(2) for project, x in zip(self.project, maps)], 2).transpose(1, 2)
        memory = memory * self.valid
        found = self.enc_output(memory)
        best = self.enc_score_head(found).max(2)[0].topk(QUERIES, 1)[1].unsqueeze(2)
        x = found.gather(1, best.expand(-1, -1, found.shape[2]))
        anchors = self.anchors.expand(x.shape[0], -1, -1).gather(1, best.expand(-1, -1, 4))
        boxes = (self.enc_bbox_head(x) + anchors).sigmoid()
        first, corners, last = None, 0, 0
        for layer, head in zip(self.layers, self.bbox_heads):
            x = layer(x, self.query_pos_head(boxes).clamp(-10, 10), boxes, memory, self.sides)
            if first is None:
                first = (self.first_head(x) + inverse_sigmoid(boxes)).sigmoid()
            corners = head(x + last) + corners
            likely = corners.reshape(x.shape[0], -1, 4, BINS).softmax(3)
            boxes, last = self.moved(first, likely), x
        return self.quality(self.score_head(x), likely), boxes


class DFine(nn.Module):
    def __init__(self, backbone, width, feed_forward, middle, elan, depth, points, reach=4.0, size=640, classes=80):
        super().__init__()
        self.backbone = HgNetV2(backbone, len(points))
        self.encoder = Encoder(self.backbone.channels, width, feed_forward, middle, elan, size // 32)
        inner = min(width, 256)
        self.decoder = Decoder(width, inner, depth, 1024 if inner == 256 else 512, points,
                               (8, 16, 32)[-len(points):], size, reach, classes)

    def forward(self, x):
        return self.decoder(self.encoder(self.backbone(x)))


# name: backbone, width of the encoder, of its feed-forward and of its blocks, their depth, decoder layers, points a map,
# how far a side moves at the most.
SIZES = {
    "n": ("B0", 128, 512, 21, 2, 3, (6, 6)),
    "s": ("B0", 256, 1024, 64, 1, 3, (3, 6, 3)),
    "m": ("B2", 256, 1024, 128, 2, 4, (3, 6, 3)),
    "l": ("B4", 256, 1024, 128, 3, 6, (3, 6, 3)),
    "x": ("B5", 384, 2048, 192, 3, 6, (3, 6, 3), 8.0),
}
