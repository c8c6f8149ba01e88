"""ResNets of the first publication (arXiv:1512.03385), which move the stride that torchvision has in the 3x3."""
from torch import nn
from torchvision.models.resnet import Bottleneck, ResNet


class StrideFirst(Bottleneck):
    """Stride in the first 1x1: the authors' Caffe networks."""

    def __init__(self, inplanes, planes, stride=1, *args, **kwargs):
        super().__init__(inplanes, planes, stride, *args, **kwargs)
        self.conv1.stride, self.conv2.stride = (stride, stride), (1, 1)


def caffe_resnet50():
    return ResNet(StrideFirst, [3, 4, 6, 3])


class StrideLast(ResNet):
    """Stride in the last unit of a group, whose shortcut is then every other pixel: TensorFlow-Slim."""

    def __init__(self, layers):
        super().__init__(Bottleneck, layers)
        for group in (self.layer2, self.layer3, self.layer4):
            group[0].conv2.stride = group[0].downsample[0].stride = (1, 1)
        for group in (self.layer1, self.layer2, self.layer3):
            group[-1].conv2.stride = (2, 2)
            group[-1].downsample = nn.MaxPool2d(1, 2)


def slim_resnet101():
    return StrideLast([3, 4, 23, 3])
