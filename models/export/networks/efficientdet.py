"""EfficientDet (arXiv:1911.09070), up to the raw scores and boxes: anchor decoding and non-maximum suppression run
outside the network."""
import torch
from torch import nn
import torchvision

from .ssd import BOX_CODE, per_anchor

CLASSES, ANCHORS_PER_LOCATION = 90, 9
LEVELS = 5
# Channels of the backbone's maps of stride 8, 16 and 32, and after which of torchvision's stages they lie.
STAGES = {3: 40, 5: 112, 7: 320}
EPSILON = 1e-4


def norm(channels):
    return nn.BatchNorm2d(channels, eps=1e-3)


def resampled(inputs, outputs):
    """A map of the backbone in the pyramid's width."""
    return nn.Sequential(nn.Conv2d(inputs, outputs, 1), norm(outputs))


def separable(inputs, outputs):
    """A depthwise 3x3 and a pointwise convolution; the bias comes with the second."""
    return nn.Sequential(nn.Conv2d(inputs, inputs, 3, padding=1, groups=inputs, bias=False),
                         nn.Conv2d(inputs, outputs, 1))


class Fusion(nn.Module):
    """Maps of one size, added with learned weights that are normalised by their sum (section 3.3)."""

    def __init__(self, inputs, width):
        super().__init__()
        self.weights = nn.Parameter(torch.ones(inputs))
        self.act = nn.SiLU()
        self.conv, self.norm = separable(width, width), norm(width)

    def forward(self, *maps):
        weights = self.weights.relu()
        weights = weights / (weights.sum() + EPSILON)
        total = maps[0] * weights[0]
        for i, x in enumerate(maps[1:], 1):
            total = total + x * weights[i]
        return self.norm(self.conv(self.act(total)))


class Pyramid(nn.Module):
    """One bidirectional layer over five levels: down the pyramid, and up again with what came in beside it."""

    def __init__(self, width):
        super().__init__()
        self.down = nn.ModuleList(Fusion(2, width) for _ in range(LEVELS - 1))
        # The top level has no way down of its own, so that two maps meet there.
        self.up = nn.ModuleList(Fusion(2 if level == LEVELS - 1 else 3, width) for level in range(1, LEVELS))
        self.larger = nn.Upsample(scale_factor=2, mode="nearest")
        self.smaller = nn.MaxPool2d(3, 2, 1)

    def forward(self, down_inputs, up_inputs):
        """What the way down and the way up take of each level; both are lists of the maps, finest first."""
        coarser = down_inputs[-1]
        on_the_way = [coarser]
        for level in reversed(range(LEVELS - 1)):
            coarser = self.down[level](down_inputs[level], self.larger(coarser))
            on_the_way.insert(0, coarser)
        outputs = [on_the_way[0]]
        for level in range(1, LEVELS):
            below = self.smaller(outputs[-1])
            beside = (up_inputs[level],) if level == LEVELS - 1 else (up_inputs[level], on_the_way[level])
            outputs.append(self.up[level - 1](*beside, below))
        return outputs


class Neck(nn.Module):
    """Levels of stride 8 to 128 from the backbone's three maps, then the bidirectional layers. Maps of the backbone
    are brought to the pyramid's width anew for each of their uses in the first layer."""

    def __init__(self, channels, width, depth):
        super().__init__()
        self.down = nn.ModuleList(resampled(c, width) for c in channels)
        self.up = nn.ModuleList(resampled(c, width) for c in channels[1:])
        self.level6 = resampled(channels[-1], width)
        self.smaller = nn.MaxPool2d(3, 2, 1)
        self.layers = nn.ModuleList(Pyramid(width) for _ in range(depth))

    def forward(self, maps):
        level6 = self.smaller(self.level6(maps[-1]))
        above = [level6, self.smaller(level6)]
        down = [layer(x) for layer, x in zip(self.down, maps)] + above
        up = [None] + [layer(x) for layer, x in zip(self.up, maps[1:])] + above
        outputs = self.layers[0](down, up)
        for layer in self.layers[1:]:
            outputs = layer(outputs, outputs)
        return outputs


class Head(nn.Module):
    """Convolutions that all levels share; each level normalises with statistics of its own."""

    def __init__(self, width, depth, outputs):
        super().__init__()
        self.outputs = outputs
        self.convs = nn.ModuleList(separable(width, width) for _ in range(depth))
        self.norms = nn.ModuleList(nn.ModuleList(norm(width) for _ in range(depth)) for _ in range(LEVELS))
        self.act = nn.SiLU()
        self.last = separable(width, ANCHORS_PER_LOCATION * outputs)

    def forward(self, maps):
        predictions = []
        for x, norms in zip(maps, self.norms):
            for conv, normalise in zip(self.convs, norms):
                x = self.act(normalise(conv(x)))
            predictions.append(per_anchor(self.last(x), self.outputs))
        return torch.cat(predictions, 1)


class EfficientDet(nn.Module):
    def __init__(self, backbone, width, pyramids, head_depth):
        super().__init__()
        # The stages after the map of stride 32 are the classifier's.
        self.backbone = backbone.features[:max(STAGES) + 1]
        self.neck = Neck(list(STAGES.values()), width, pyramids)
        self.scores = Head(width, head_depth, CLASSES)
        self.boxes = Head(width, head_depth, BOX_CODE)

    def forward(self, x):
        maps = []
        for i, stage in enumerate(self.backbone):
            x = stage(x)
            if i in STAGES:
                maps.append(x)
        levels = self.neck(maps)
        return self.scores(levels).sigmoid(), self.boxes(levels)


def efficientdet_d0():
    return EfficientDet(torchvision.models.efficientnet_b0(weights=None), 64, 3, 3)
