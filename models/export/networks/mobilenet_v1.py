"""MobileNetV1 (arXiv:1704.04861, table 1)."""
from torch import nn

from .layers import conv_norm_act

# Output channels and stride of the thirteen depthwise-separable layers.
LAYERS = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1), (512, 1), (512, 1), (512, 1),
          (512, 1), (1024, 2), (1024, 1))


class DepthwiseSeparable(nn.Module):
    def __init__(self, inputs, outputs, stride, act):
        super().__init__()
        self.depthwise = conv_norm_act(inputs, inputs, 3, stride, groups=inputs, act=act)
        self.pointwise = conv_norm_act(inputs, outputs, 1, act=act)

    def forward(self, x):
        return self.pointwise(self.depthwise(x))


def features(act=nn.ReLU6):
    """The fourteen convolution layers. The published models clip at 6 (TensorFlow's checkpoints)."""
    layers = [conv_norm_act(3, 32, 3, 2, act=act)]
    channels = 32
    for outputs, stride in LAYERS:
        layers.append(DepthwiseSeparable(channels, outputs, stride, act))
        channels = outputs
    return nn.Sequential(*layers)


class MobileNetV1(nn.Module):
    def __init__(self, classes=1000):
        super().__init__()
        self.features = features()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(1024, classes)

    def forward(self, x):
        return self.classifier(self.pool(self.features(x)).flatten(1))
