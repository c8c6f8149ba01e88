"""RT-DETR (arXiv:2304.08069), up to the scores and boxes of 300 queries: a convolutional backbone, one layer of
attention on its coarsest map, path aggregation, and a decoder of deformable attention. In the inference form: the
branches of each unit of the aggregation are one 3x3 convolution, and only the last decoder layer has scores."""
import torch
from torch import nn
from torch.nn import functional

from .layers import conv_norm_act
from .resnet_variants import ResNetVariant, Unit

QUERIES, WIDTH, HEADS, POINTS, STRIDES = 300, 256, 8, 4, (8, 16, 32)


def conv(inputs, outputs, kernel=1, stride=1, act=nn.SiLU):
    return conv_norm_act(inputs, outputs, kernel, stride, act=act)


class ResNetD(nn.Module):
    """The maps of strides 8, 16 and 32. The first unit of every stage has a projected shortcut."""

    def __init__(self, depth):
        super().__init__()
        layers = list(ResNetVariant(depth, deep_stem=True).features)
        if depth < 50:
            layers[4].downsample = conv_norm_act(64, 64, 1, act=None)
        starts = [i for i, layer in enumerate(layers) if isinstance(layer, Unit) and self.width(layer) !=
                  (self.width(layers[i - 1]) if isinstance(layers[i - 1], Unit) else 0)]
        self.channels = [self.width(layers[i]) for i in starts[1:]]
        self.stem = nn.Sequential(*layers[:starts[1]])
        self.stages = nn.ModuleList(nn.Sequential(*layers[i:j]) for i, j in zip(starts[1:], starts[2:] + [len(layers)]))

    @staticmethod
    def width(unit):
        return unit.block[-1].conv.out_channels

    def forward(self, x):
        x, maps = self.stem(x), []
        for stage in self.stages:
            x = stage(x)
            maps.append(x)
        return maps


class HgStem(nn.Module):
    def __init__(self, middle, outputs, act=nn.ReLU):
        super().__init__()
        self.conv1 = conv(3, middle, 3, 2, act)
        self.pad, self.pool = nn.ZeroPad2d((0, 1, 0, 1)), nn.MaxPool2d(2, 1, ceil_mode=True)
        self.conv2 = conv_norm_act(middle, middle // 2, 2, act=act, padding=0)
        self.conv3 = conv_norm_act(middle // 2, middle, 2, act=act, padding=0)
        self.conv4, self.conv5 = conv(2 * middle, middle, 3, 2, act), conv(middle, outputs, 1, 1, act)

    def forward(self, x):
        x = self.pad(self.conv1(x))
        y = self.conv3(self.pad(self.conv2(x)))
        return self.conv5(self.conv4(torch.cat((self.pool(x), y), 1)))


class HgBlock(nn.Module):
    """Convolutions all of whose outputs are mixed; `light`: pointwise and depthwise ones."""

    def __init__(self, inputs, middle, outputs, kernel, light, shortcut, depth=6, act=nn.ReLU):
        super().__init__()

        def layer(channels):
            if light:
                return nn.Sequential(conv(channels, middle, act=None),
                                     conv_norm_act(middle, middle, kernel, groups=middle, act=act))
            return conv(channels, middle, kernel, act=act)

        self.layers = nn.ModuleList(layer(inputs if i == 0 else middle) for i in range(depth))
        self.squeeze = conv(inputs + depth * middle, outputs // 2, act=act)
        self.excite = conv(outputs // 2, outputs, act=act)
        self.shortcut = shortcut

    def forward(self, x):
        parts = [x]
        for layer in self.layers:
            parts.append(layer(parts[-1]))
        y = self.excite(self.squeeze(torch.cat(parts, 1)))
        return x + y if self.shortcut else y


# name: (channels of the stem, of the first block, (channels within, outputs, blocks) of the later stages)
HGNETS = {"l": ((32, 48), 48, ((96, 512, 1), (192, 1024, 3), (384, 2048, 1))),
          "x": ((32, 64), 64, ((128, 512, 2), (256, 1024, 5), (512, 2048, 2)))}


class HgNet(nn.Module):
    def __init__(self, size):
        super().__init__()
        stem, middle, stages = HGNETS[size]
        self.stem = nn.Sequential(HgStem(*stem), HgBlock(stem[1], middle, 128, 3, False, False))
        self.stages, inputs = nn.ModuleList(), 128
        for i, (middle, outputs, count) in enumerate(stages):
            layers = [conv_norm_act(inputs, inputs, 3, 2, groups=inputs, act=None)]
            for j in range(count):
                layers.append(HgBlock(inputs, middle, outputs, 5 if i else 3, i > 0, j > 0))
                inputs = outputs
            self.stages.append(nn.Sequential(*layers))
        self.channels = [s[1] for s in stages]

    forward = ResNetD.forward


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(width, width) for _ in range(3))
        self.out_proj = nn.Linear(width, width)

    def heads(self, x):
        return x.reshape(x.shape[0], -1, HEADS, x.shape[2] // HEADS).transpose(1, 2)

    def forward(self, placed, x):
        q, k, v = self.heads(self.q_proj(placed)), self.heads(self.k_proj(placed)), self.heads(self.v_proj(x))
        scores = (q * q.shape[3] ** -0.5) @ k.transpose(2, 3)
        mixed = (scores.softmax(-1) @ v).transpose(1, 2)
        return self.out_proj(mixed.reshape(x.shape))


class EncoderLayer(nn.Module):
    """Attention among the places of a map of `side` x `side`, whose positions are a table of sines."""

    def __init__(self, width, feed_forward, side):
        super().__init__()
        self.attention = Attention(width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.linear1, self.linear2, self.act = nn.Linear(width, feed_forward), nn.Linear(feed_forward, width), nn.GELU()
        self.register_buffer("positions", torch.ones(1, side * side, width))

    def forward(self, x):
        y = x.flatten(2).transpose(1, 2)
        y = self.norm1(y + self.attention(y + self.positions, y))
        y = self.norm2(y + self.linear2(self.act(self.linear1(y))))
        return y.transpose(1, 2).reshape(x.shape)


class Mix(nn.Module):
    """Three 3x3 convolutions on one of two branches."""

    def __init__(self, width, expansion):
        super().__init__()
        hidden = int(width * expansion)
        self.conv1, self.conv2 = conv(2 * width, hidden), conv(2 * width, hidden)
        self.layers = nn.Sequential(*(nn.Sequential(nn.Conv2d(hidden, hidden, 3, 1, 1), nn.SiLU()) for _ in range(3)))
        self.conv3 = conv(hidden, width) if hidden != width else nn.Identity()

    def forward(self, x):
        return self.conv3(self.layers(self.conv1(x)) + self.conv2(x))


class Encoder(nn.Module):
    def __init__(self, channels, width, feed_forward, expansion, side):
        super().__init__()
        self.project = nn.ModuleList(conv(c, width, act=None) for c in channels)
        self.attend = EncoderLayer(width, feed_forward, side)
        self.lateral = nn.ModuleList(conv(width, width) for _ in range(2))
        self.up = nn.Upsample(scale_factor=2, mode="nearest")
        self.top, self.bottom = (nn.ModuleList(Mix(width, expansion) for _ in range(2)) for _ in range(2))
        self.down = nn.ModuleList(conv(width, width, 3, 2) for _ in range(2))

    def forward(self, maps):
        p3, p4, p5 = (project(x) for project, x in zip(self.project, maps))
        p5 = self.lateral[0](self.attend(p5))
        p4 = self.lateral[1](self.top[0](torch.cat((self.up(p5), p4), 1)))
        p3 = self.top[1](torch.cat((self.up(p4), p3), 1))
        n4 = self.bottom[0](torch.cat((self.down[0](p3), p4), 1))
        return p3, n4, self.bottom[1](torch.cat((self.down[1](n4), p5), 1))


def perceptron(inputs, middle, outputs, depth):
    layers = []
    for i in range(depth - 1):
        layers += [nn.Linear(middle if i else inputs, middle), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(middle, outputs))


class Deformable(nn.Module):
    """Attention to a few sampled points of each map, about the box of each query."""

    def __init__(self, levels=len(STRIDES)):
        super().__init__()
        self.levels = levels
        self.sampling_offsets = nn.Linear(WIDTH, HEADS * levels * POINTS * 2)
        self.attention_weights = nn.Linear(WIDTH, HEADS * levels * POINTS)
        self.value_proj, self.output_proj = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, query, boxes, memory, sides):
        batch, count = query.shape[0], self.levels * POINTS
        value = self.value_proj(memory).transpose(1, 2).reshape(batch * HEADS, WIDTH // HEADS, -1)
        offsets = self.sampling_offsets(query).reshape(batch, -1, HEADS, count, 2)
        weights = self.attention_weights(query).reshape(batch, -1, HEADS, count).softmax(3)
        centre, size = boxes[:, :, None, None].split((2, 2), 4)
        places = centre + offsets * (0.5 / POINTS) * size
        places = (2 * places - 1).transpose(1, 2).reshape(batch * HEADS, -1, count, 2)
        samples = [functional.grid_sample(v.reshape(batch * HEADS, WIDTH // HEADS, side, side), p, align_corners=False)
                   for v, p, side in zip(value.split([s * s for s in sides], 2), places.split(POINTS, 2), sides)]
        weights = weights.transpose(1, 2).reshape(batch * HEADS, 1, -1, count)
        mixed = (torch.cat(samples, 3) * weights).sum(3)
        return self.output_proj(mixed.reshape(batch, WIDTH, -1).transpose(1, 2))


class DecoderLayer(nn.Module):
    def __init__(self, feed_forward):
        super().__init__()
        self.self_attn, self.cross_attn = Attention(WIDTH), Deformable()
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(WIDTH) for _ in range(3))
        self.linear1, self.linear2 = nn.Linear(WIDTH, feed_forward), nn.Linear(feed_forward, WIDTH)
        self.act = nn.ReLU()

    def forward(self, x, position, boxes, memory, sides):
        x = self.norm1(x + self.self_attn(x + position, x))
        x = self.norm2(x + self.cross_attn(x + position, boxes, memory, sides))
        return self.norm3(x + self.linear2(self.act(self.linear1(x))))


def inverse_sigmoid(x):
    x = x.clamp(0, 1)
    return (x.clamp(min=1e-5) / (1 - x).clamp(min=1e-5)).log()


class Decoder(nn.Module):
    """The places whose scores are best become the queries; every layer moves their boxes."""

    def __init__(self, channels, depth, feed_forward, size, classes):
        super().__init__()
        self.sides = [size // s for s in STRIDES]
        places = sum(s * s for s in self.sides)
        self.project = nn.ModuleList(conv(channels, WIDTH, act=None) for _ in STRIDES)
        self.enc_output = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.LayerNorm(WIDTH))
        self.enc_score_head, self.enc_bbox_head = nn.Linear(WIDTH, classes), perceptron(WIDTH, WIDTH, 4, 3)
        self.query_pos_head = perceptron(4, 2 * WIDTH, WIDTH, 2)
        self.layers = nn.ModuleList(DecoderLayer(feed_forward) for _ in range(depth))
        self.bbox_heads = nn.ModuleList(perceptron(WIDTH, WIDTH, 4, 3) for _ in range(depth))
        self.score_head = nn.Linear(WIDTH, classes)
        self.register_buffer("anchors", torch.ones(1, places, 4))
        self.register_buffer("valid", torch.ones(1, places, 1))

    def forward(self, maps):
        memory = torch.cat([project(x).flatten(2) for project, x in zip(self.project, maps)], 2).transpose(1, 2)
        found = self.enc_output(memory * self.valid)
        best = self.enc_score_head(found).max(2)[0].topk(QUERIES, 1)[1].unsqueeze(2)
        boxes = self.enc_bbox_head(found) + self.anchors
        boxes = boxes.gather(1, best.expand(-1, -1, 4)).sigmoid()
        x = found.gather(1, best.expand(-1, -1, WIDTH))
        for layer, head in zip(self.layers, self.bbox_heads):
            x = layer(x, self.query_pos_head(boxes), boxes, memory, self.sides)
            boxes = (head(x) + inverse_sigmoid(boxes)).sigmoid()
        return self.score_head(x), boxes


class RtDetr(nn.Module):
    def __init__(self, backbone, width=256, feed_forward=1024, expansion=1.0, depth=6, size=640, classes=80):
        super().__init__()
        self.backbone = backbone
        self.encoder = Encoder(backbone.channels, width, feed_forward, expansion, size // STRIDES[-1])
        self.decoder = Decoder(width, depth, 1024, size, classes)

    def forward(self, x):
        return self.decoder(self.encoder(self.backbone(x)))


def resnet_size(layers, letter, **options):
    """Version 2 has the same graph."""
    name, later = f"rtdetr_r{layers}vd", f"rtdetr_v2_r{layers}vd"
    return (f"RT-DETR ResNet-{layers}", lambda: RtDetr(ResNetD(layers), **options),
            f"arXiv:2304.08069, {name} configuration",
            [later, f"rtdetrv2_r{layers}vd", f"rtdetrv2-{letter}", f"PekingU/{name}", f"PekingU/{later}",
             f"rtdetr-resnet{layers}", f"rt-detr-r{layers}"])


def hgnet_size(size, **options):
    return (f"RT-DETR-{size.upper()}", lambda: RtDetr(HgNet(size), **options),
            f"arXiv:2304.08069, rtdetr-{size} configuration", [f"Ultralytics/rtdetr-{size}", f"rt-detr-{size}"])


# name: (title, how it is built, source, other names)
SIZES = {
    "rtdetr_r18vd": resnet_size(18, "s", expansion=0.5, depth=3),
    "rtdetr_r34vd": resnet_size(34, "m", expansion=0.5, depth=4),
    "rtdetr_r50vd": resnet_size(50, "l"),
    "rtdetr_r101vd": resnet_size(101, "x", width=384, feed_forward=2048),
    "rtdetr-l": hgnet_size("l"),
    "rtdetr-x": hgnet_size("x", width=384, feed_forward=2048),
}
