"""EfficientNet-Lite (TensorFlow, models/official/efficientnet/lite): EfficientNet without squeeze-and-excitation, ReLU6,
its stem, its head and the number of first and last units not scaled."""
from math import ceil

from torch import nn

from .efficientnet_edgetpu import round_to_eight
from .layers import conv_norm_act

# Expansion, output channels, units, stride, kernel.
GROUPS = ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 3, 1, 5), (6, 192, 4, 2, 5),
          (6, 320, 1, 1, 3))
# Factors of width and depth, the side of the image.
SIZES = (("0", 1.0, 1.0, 224), ("1", 1.0, 1.1, 240), ("2", 1.1, 1.2, 260), ("3", 1.2, 1.4, 280), ("4", 1.4, 1.8, 300))


class Unit(nn.Module):
    def __init__(self, inputs, outputs, kernel, stride, expansion):
        super().__init__()
        middle = inputs * expansion
        layers = [conv_norm_act(inputs, middle, 1)] if expansion > 1 else []
        layers += [conv_norm_act(middle, middle, kernel, stride, groups=middle),
                   conv_norm_act(middle, outputs, 1, act=None)]
        self.block = nn.Sequential(*layers)
        self.skip = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.block(x) if self.skip else self.block(x)


class EfficientNetLite(nn.Module):
    def __init__(self, width, depth, classes=1000):
        super().__init__()
        channels = 32
        layers = [conv_norm_act(3, channels, 3, 2)]
        for index, (expansion, outputs, units, stride, kernel) in enumerate(GROUPS):
            outputs = round_to_eight(outputs, width)
            for unit in range(units if index in (0, 6) else ceil(units * depth)):
                layers.append(Unit(channels, outputs, kernel, stride if unit == 0 else 1, expansion))
                channels = outputs
        self.features = nn.Sequential(*layers, conv_norm_act(channels, 1280, 1))
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(1280, classes)

    def forward(self, x):
        return self.classifier(self.pool(self.features(x)).flatten(1))
