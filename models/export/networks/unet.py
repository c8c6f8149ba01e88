"""U-Net (arXiv:1505.04597) on MobileNetV2: TensorFlow's image segmentation tutorial. Down to the last projection of the
encoder, and up again by transposed convolutions, each beside the encoder's map of its size."""
import torch
from torch import nn
import torchvision

CLASSES = 3
# Layers of the encoder whose expansions are kept, from the coarsest map to the finest.
KEPT = (14, 7, 4, 2)
CHANNELS = (512, 256, 128, 64)


class Up(nn.Sequential):
    """A transposed convolution of stride 2, normalised and rectified."""

    def __init__(self, inputs, outputs):
        super().__init__(nn.ConvTranspose2d(inputs, outputs, 3, 2, padding=1, output_padding=1, bias=False),
                         nn.BatchNorm2d(outputs), nn.ReLU())


class UNetMobileNetV2(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = torchvision.models.mobilenet_v2(weights=None).features[:-1]
        self.up = nn.ModuleList()
        inputs = self.encoder[-1].out_channels
        for kept, outputs in zip(KEPT, CHANNELS):
            self.up.append(Up(inputs, outputs))
            inputs = outputs + self.encoder[kept].conv[0][0].out_channels
        self.last = nn.ConvTranspose2d(inputs, CLASSES, 3, 2, padding=1, output_padding=1)

    def forward(self, x):
        maps = {}
        for i, layer in enumerate(self.encoder):
            if i in KEPT:
                maps[i] = layer.conv[0](x)
                inner = layer.conv[1:](maps[i])
                x = x + inner if layer.use_res_connect else inner
            else:
                x = layer(x)
        for kept, up in zip(KEPT, self.up):
            x = torch.cat([up(x), maps[kept]], 1)
        return self.last(x)
