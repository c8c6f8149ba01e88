"""Single-shot detectors (arXiv:1512.02325) on MobileNet and ResNet-34, up to the raw boxes and scores: anchor
decoding and non-maximum suppression run outside the network."""
import torch
from torch import nn
import torchvision

from . import mobilenet_v1
from .layers import conv_norm_act
from .mobilenet_v1 import DepthwiseSeparable

BOX_CODE = 4


def per_anchor(prediction, width):
    """[batch, anchors * width, h, w] to [batch, h * w * anchors, width]."""
    return prediction.permute(0, 2, 3, 1).reshape(prediction.shape[0], -1, width)


class Head(nn.Module):
    """Box and class predictors, one pair of convolutions for each feature map."""

    def __init__(self, channels, anchors, classes, kernel, stride=1):
        super().__init__()
        self.classes = classes

        def predictors(width):
            return nn.ModuleList(nn.Conv2d(c, a * width, kernel, stride, kernel // 2)
                                 for c, a in zip(channels, anchors))

        self.boxes = predictors(BOX_CODE)
        self.scores = predictors(classes)

    def forward(self, maps):
        boxes = [per_anchor(layer(x), BOX_CODE) for layer, x in zip(self.boxes, maps)]
        scores = [per_anchor(layer(x), self.classes) for layer, x in zip(self.scores, maps)]
        return torch.cat(boxes, 1), torch.cat(scores, 1)


class SsdMobileNet(nn.Module):
    """TensorFlow object detection API: six maps, the first two from the backbone, then four pairs of a 1x1 and
    a 3x3 stride-2 layer, `widen`; scores through a sigmoid."""
    EXTRAS = ((256, 512), (128, 256), (128, 256), (64, 128))
    ANCHORS = (3, 6, 6, 6, 6, 6)

    def __init__(self, stem, stem_channels, tail, tail_channels, widen, kernel, classes=91):
        super().__init__()
        self.stem, self.tail = stem, tail
        self.extras = nn.ModuleList()
        channels = tail_channels
        for middle, outputs in self.EXTRAS:
            self.extras.append(nn.Sequential(conv_norm_act(channels, middle, 1),
                                             widen(middle, outputs)))
            channels = outputs
        maps = [stem_channels, tail_channels] + [outputs for _, outputs in self.EXTRAS]
        self.head = Head(maps, self.ANCHORS, classes, kernel)

    def forward(self, x):
        stem = self.stem(x)
        x = self.tail(stem)
        maps = [stem, x]
        for layer in self.extras:
            x = layer(x)
            maps.append(x)
        boxes, scores = self.head(maps)
        return boxes, scores.sigmoid()


def ssd_mobilenet_v1():
    layers = mobilenet_v1.features()
    return SsdMobileNet(layers[:12], 512, layers[12:], 1024,
                        lambda i, o: conv_norm_act(i, o, 3, 2), kernel=1)


def ssd_mobilenet_v2():
    """The first map is the expansion of the fifteenth layer; the extra layers are separable."""
    layers = torchvision.models.mobilenet_v2(weights=None).features
    expand, *project = layers[14].conv
    stem = nn.Sequential(*layers[:14], expand)
    tail = nn.Sequential(nn.Sequential(*project), *layers[15:])
    return SsdMobileNet(stem, 576, tail, 1280, lambda i, o: DepthwiseSeparable(i, o, 2, nn.ReLU6), kernel=3)


class SsdResNet34(nn.Module):
    """MLPerf Inference's large detector: the first three stages of ResNet-34, the third without its stride, five
    pairs of convolutions, and predictors of stride 3."""
    CHANNELS = (256, 512, 512, 256, 256, 256)
    # Middle channels, stride and padding of the 3x3 convolution that makes the next map.
    EXTRAS = ((256, 2, 1), (256, 2, 1), (128, 2, 1), (128, 2, 0), (128, 1, 0))
    ANCHORS = (4, 6, 6, 6, 4, 4)

    def __init__(self, classes=81):
        super().__init__()
        self.classes = classes
        resnet = torchvision.models.resnet34(weights=None)
        resnet.layer3[0].conv1.stride = (1, 1)
        resnet.layer3[0].downsample[0].stride = (1, 1)
        self.backbone = nn.Sequential(resnet.conv1, resnet.bn1, resnet.relu, resnet.maxpool, resnet.layer1,
                                      resnet.layer2, resnet.layer3)
        self.extras = nn.ModuleList()
        for inputs, outputs, (middle, stride, padding) in zip(self.CHANNELS, self.CHANNELS[1:], self.EXTRAS):
            self.extras.append(nn.Sequential(nn.Conv2d(inputs, middle, 1), nn.ReLU(),
                                             nn.Conv2d(middle, outputs, 3, stride, padding), nn.ReLU()))
        self.head = Head(self.CHANNELS, self.ANCHORS, classes, kernel=3, stride=3)

    def forward(self, x):
        x = self.backbone(x)
        maps = [x]
        for layer in self.extras:
            x = layer(x)
            maps.append(x)
        boxes, scores = self.head(maps)
        return boxes, scores.softmax(-1)
