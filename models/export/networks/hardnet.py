"""HarDNet (arXiv:1909.00948): layers that take every earlier layer a power of two back; the separable variant (DS)
has pointwise and depthwise convolutions in turn."""
import torch
from torch import nn

from .layers import conv_norm_act

# First channels, factor of growth; per block: channels after it, growth, layers, whether the map is halved after it.
SIZES = {
    "68": ((32, 64), 1.7, ((128, 14, 8, True), (256, 16, 16, False), (320, 20, 16, True), (640, 40, 16, True),
                           (1024, 160, 4, False))),
    "39ds": ((24, 48), 1.6, ((96, 16, 4, True), (320, 20, 16, True), (640, 64, 8, True), (1024, 160, 4, False))),
}


def standard(inputs, outputs, kernel=3, stride=1):
    return conv_norm_act(inputs, outputs, kernel, stride)


def separable(inputs, outputs):
    return nn.Sequential(conv_norm_act(inputs, outputs, 1), conv_norm_act(outputs, outputs, 3, groups=outputs, act=None))


class Block(nn.Module):
    def __init__(self, inputs, growth, factor, layers, depthwise):
        super().__init__()
        self.links, self.layers = [], nn.ModuleList()
        kept = 0
        for i in range(layers):
            outputs, channels, link = self.link(i + 1, inputs, growth, factor)
            self.links.append(link)
            self.layers.append(separable(channels, outputs) if depthwise else standard(channels, outputs))
            if i % 2 == 0 or i == layers - 1:
                kept += outputs
        self.outputs = kept

    def link(self, layer, inputs, growth, factor):
        """Channels that the layer gives and takes, and from which layers."""
        if layer == 0:
            return inputs, 0, []
        outputs, link = float(growth), []
        for power in range(10):
            if layer % (1 << power) == 0:
                link.append(layer - (1 << power))
                if power > 0:
                    outputs *= factor
        outputs = int(int(outputs + 1) / 2) * 2
        return outputs, sum(self.link(i, inputs, growth, factor)[0] for i in link), link

    def forward(self, x):
        all_layers = [x]
        for link, layer in zip(self.links, self.layers):
            taken = [all_layers[i] for i in link]
            all_layers.append(layer(torch.cat(taken, 1) if len(taken) > 1 else taken[0]))
        last = len(all_layers) - 1
        return torch.cat([y for i, y in enumerate(all_layers) if i > 0 and (i % 2 == 1 or i == last)], 1)


class HarDNet(nn.Module):
    def __init__(self, size, classes=1000):
        super().__init__()
        (first, second), factor, blocks = SIZES[size]
        depthwise = size.endswith("ds")

        def halved(channels):
            return conv_norm_act(channels, channels, 3, 2, groups=channels, act=None) if depthwise else nn.MaxPool2d(2)

        layers = [standard(3, first, 3, 2), standard(first, second, 1 if depthwise else 3)]
        layers.append(halved(second) if depthwise else nn.MaxPool2d(3, 2, 1))
        channels = second
        for outputs, growth, count, halves in blocks:
            block = Block(channels, growth, factor, count, depthwise)
            layers += [block, standard(block.outputs, outputs, 1)]
            channels = outputs
            if halves:
                layers.append(halved(channels))
        self.base = nn.Sequential(*layers)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(channels, classes)

    def forward(self, x):
        return self.classifier(self.pool(self.base(x)).flatten(1))
