"""Images that are made better: Zero-DCE (CVPR 2020), its light successor, and DnCNN (arXiv:1608.03981)."""
import torch
from torch import nn


class ZeroDce(nn.Module):
    """Seven convolutions that give eight curves a colour; each is applied to what the one before it made. `light`:
    depthwise separable ones, and the same curve eight times."""
    STEPS, WIDTH = 8, 32

    def __init__(self, light=False):
        super().__init__()
        outputs = 3 if light else 3 * self.STEPS

        def layer(inputs, outputs):
            if not light:
                return nn.Conv2d(inputs, outputs, 3, 1, 1)
            return nn.Sequential(nn.Conv2d(inputs, inputs, 3, 1, 1, groups=inputs), nn.Conv2d(inputs, outputs, 1))

        width = self.WIDTH
        self.light = light
        self.convs = nn.ModuleList(layer(i, o) for i, o in (
            (3, width), (width, width), (width, width), (width, width), (2 * width, width), (2 * width, width),
            (2 * width, outputs)))

    def forward(self, image):
        x1 = self.convs[0](image).relu()
        x2 = self.convs[1](x1).relu()
        x3 = self.convs[2](x2).relu()
        x4 = self.convs[3](x3).relu()
        x5 = self.convs[4](torch.cat((x3, x4), 1)).relu()
        x6 = self.convs[5](torch.cat((x2, x5), 1)).relu()
        curves = self.convs[6](torch.cat((x1, x6), 1)).tanh()
        for step in range(self.STEPS):
            curve = curves if self.light else curves[:, 3 * step:3 * step + 3]
            image = image + curve * (image * image - image)
        return image


class DnCnn(nn.Module):
    """The noise of an image, by `depth` convolutions; normalisation is folded into them."""

    def __init__(self, depth=20, width=64, colours=3):
        super().__init__()
        layers = [nn.Conv2d(colours, width, 3, 1, 1), nn.ReLU()]
        for _ in range(depth - 2):
            layers += [nn.Conv2d(width, width, 3, 1, 1), nn.ReLU()]
        self.body = nn.Sequential(*layers, nn.Conv2d(width, colours, 3, 1, 1))

    def forward(self, x):
        return x - self.body(x)
