"""Networks as the Caffe model zoo published them, where torchvision's of the same name differ.

AlexNet (bvlc_alexnet): two groups in three convolutions, wider first layers, response normalisation; 227 pixels.
GoogLeNet (bvlc_googlenet): 5x5 branches where torchvision has 3x3, response normalisation, no batch normalisation.
"""
import torch
from torch import nn


class ResponseNorm(torch.autograd.Function):
    """Local response normalisation over five channels as one ONNX operator; torch's own exports as seven."""

    @staticmethod
    def forward(ctx, x):
        return nn.functional.local_response_norm(x, 5, 1e-4, 0.75)

    @staticmethod
    def symbolic(g, x):
        return g.op("LRN", x, size_i=5, alpha_f=1e-4, beta_f=0.75, bias_f=1.0)


class Norm(nn.Module):
    def forward(self, x):
        return ResponseNorm.apply(x)


def conv(inputs, outputs, kernel, stride=1, padding=0, groups=1):
    block = nn.Sequential()
    block.add_module("conv", nn.Conv2d(inputs, outputs, kernel, stride, padding, groups=groups))
    block.add_module("act", nn.ReLU())
    return block


def pool(stride, padding=0):
    return nn.MaxPool2d(3, stride, padding, ceil_mode=True)


class AlexNet(nn.Module):
    def __init__(self, classes=1000):
        super().__init__()
        self.features = nn.Sequential(
            conv(3, 96, 11, 4), Norm(), pool(2), conv(96, 256, 5, 1, 2, groups=2), Norm(), pool(2),
            conv(256, 384, 3, 1, 1), conv(384, 384, 3, 1, 1, groups=2), conv(384, 256, 3, 1, 1, groups=2), pool(2))
        self.classifier = nn.Sequential(nn.Linear(256 * 6 * 6, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU(),
                                        nn.Linear(4096, classes))

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


class Inception(nn.Module):
    def __init__(self, inputs, direct, reduce3, outputs3, reduce5, outputs5, pooled):
        super().__init__()
        self.direct = conv(inputs, direct, 1)
        self.branch3 = nn.Sequential(conv(inputs, reduce3, 1), conv(reduce3, outputs3, 3, 1, 1))
        self.branch5 = nn.Sequential(conv(inputs, reduce5, 1), conv(reduce5, outputs5, 5, 1, 2))
        self.pooled = nn.Sequential(pool(1, 1), conv(inputs, pooled, 1))

    def forward(self, x):
        return torch.cat((self.direct(x), self.branch3(x), self.branch5(x), self.pooled(x)), 1)


# arXiv:1409.4842, table 1; None = pooling with stride 2.
INCEPTIONS = ((192, 64, 96, 128, 16, 32, 32), (256, 128, 128, 192, 32, 96, 64), None,
              (480, 192, 96, 208, 16, 48, 64), (512, 160, 112, 224, 24, 64, 64), (512, 128, 128, 256, 24, 64, 64),
              (512, 112, 144, 288, 32, 64, 64), (528, 256, 160, 320, 32, 128, 128), None,
              (832, 256, 160, 320, 32, 128, 128), (832, 384, 192, 384, 48, 128, 128))


class GoogLeNet(nn.Module):
    def __init__(self, classes=1000):
        super().__init__()
        self.stem = nn.Sequential(conv(3, 64, 7, 2, 3), pool(2), Norm(), conv(64, 64, 1), conv(64, 192, 3, 1, 1),
                                  Norm(), pool(2))
        self.blocks = nn.Sequential(*(pool(2) if block is None else Inception(*block) for block in INCEPTIONS))
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(1024, classes)

    def forward(self, x):
        return self.classifier(self.pool(self.blocks(self.stem(x))).flatten(1))
