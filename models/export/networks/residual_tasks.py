"""ResNets for other tasks: depth of a single image (Monodepth2's decoder, arXiv:1806.01260, as SC-DepthV3 uses it),
FCN-8s (arXiv:1411.4038), ArcFace's network of faces (arXiv:1801.07698), and CLIP's image encoders (arXiv:2103.00020)."""
import torch
from torch import nn
import torchvision


class Encoder(nn.Module):
    """ResNet-18's maps of stride 2 to 32."""

    def __init__(self):
        super().__init__()
        net = torchvision.models.resnet18(weights=None)
        self.stem = nn.Sequential(net.conv1, net.bn1, net.relu)
        self.pool = net.maxpool
        self.layers = nn.ModuleList((net.layer1, net.layer2, net.layer3, net.layer4))

    def forward(self, x):
        maps = [self.stem(x)]
        x = self.pool(maps[0])
        for layer in self.layers:
            x = layer(x)
            maps.append(x)
        return maps


def padded(inputs, outputs, act=True):
    return nn.Sequential(nn.ReflectionPad2d(1), nn.Conv2d(inputs, outputs, 3), *([nn.ELU()] if act else []))


class Depth(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        beside, widths = (64, 64, 128, 256, 512), (16, 32, 64, 128, 256)
        self.first = nn.ModuleList(padded(beside[4] if i == 4 else widths[i + 1], widths[i]) for i in range(5))
        self.second = nn.ModuleList(padded(widths[i] + (beside[i - 1] if i > 0 else 0), widths[i]) for i in range(5))
        self.last = padded(widths[0], 1, act=False)
        self.up = nn.Upsample(scale_factor=2, mode="nearest")

    def forward(self, x):
        maps = self.encoder(x)
        x = maps[4]
        for i in reversed(range(5)):
            x = self.up(self.first[i](x))
            x = self.second[i](torch.cat((x, maps[i - 1]), 1) if i > 0 else x)
        return self.last(x).sigmoid()


class Fcn8(nn.Module):
    def __init__(self, classes=19):
        super().__init__()
        self.encoder = Encoder()
        self.scores = nn.ModuleList(nn.Conv2d(c, classes, 1) for c in (128, 256, 512))

    def forward(self, x):
        maps = self.encoder(x)
        s8, s16, s32 = (score(y) for score, y in zip(self.scores, maps[2:]))
        larger = nn.functional.interpolate
        s16 = s16 + larger(s32, scale_factor=2.0, mode="bilinear", align_corners=False)
        s8 = s8 + larger(s16, scale_factor=2.0, mode="bilinear", align_corners=False)
        return larger(s8, scale_factor=8.0, mode="bilinear", align_corners=False)


class FaceUnit(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.block = nn.Sequential(nn.BatchNorm2d(inputs), nn.Conv2d(inputs, outputs, 3, 1, 1, bias=False),
                                   nn.BatchNorm2d(outputs), nn.PReLU(outputs),
                                   nn.Conv2d(outputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs))
        plain = stride == 1 and inputs == outputs
        self.skip = nn.Identity() if plain else nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False),
                                                              nn.BatchNorm2d(outputs))

    def forward(self, x):
        return self.block(x) + self.skip(x)


class ArcFace(nn.Module):
    """The mean of the last map, 512 features; the original flattens it into a layer of 13 M weights."""

    def __init__(self, units=(3, 4, 14, 3)):
        super().__init__()
        layers = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.PReLU(64)]
        channels = 64
        for count, width in zip(units, (64, 128, 256, 512)):
            for unit in range(count):
                layers.append(FaceUnit(channels, width, 2 if unit == 0 else 1))
                channels = width
        self.features = nn.Sequential(*layers, nn.BatchNorm2d(512))
        self.linear = nn.Linear(512, 512)

    def forward(self, x):
        return self.linear(self.features(x).mean((2, 3)))


class ClipUnit(nn.Module):
    """Strides are means of two by two."""

    def __init__(self, inputs, width, stride):
        super().__init__()
        outputs = 4 * width
        pool = [nn.AvgPool2d(stride)] if stride > 1 else []
        self.block = nn.Sequential(nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
                                   nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(), *pool,
                                   nn.Conv2d(width, outputs, 1, bias=False), nn.BatchNorm2d(outputs))
        self.skip = nn.Identity() if inputs == outputs and stride == 1 else nn.Sequential(
            *pool, nn.Conv2d(inputs, outputs, 1, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        return (self.block(x) + self.skip(x)).relu()


class AttentionPool(nn.Module):
    """The mean asks, all positions answer."""

    def __init__(self, side, width, heads, outputs):
        super().__init__()
        self.positions = nn.Parameter(torch.zeros(side * side + 1, width))
        self.heads = heads
        self.q, self.k, self.v, self.c = (nn.Linear(width, o) for o in (width, width, width, outputs))

    def forward(self, x):
        batch, width = x.shape[0], x.shape[1]
        x = x.flatten(2).transpose(1, 2)
        x = torch.cat((x.mean(1, keepdim=True), x), 1) + self.positions

        def split(y):
            return y.reshape(batch, -1, self.heads, width // self.heads).transpose(1, 2)

        q, k, v = split(self.q(x[:, :1])), split(self.k(x)), split(self.v(x))
        y = (q @ k.transpose(2, 3) * q.shape[3] ** -0.5).softmax(3) @ v
        return self.c(y.transpose(1, 2).flatten(1))


class ClipResNet(nn.Module):
    def __init__(self, units, width, heads, side, outputs):
        super().__init__()
        half = width // 2
        layers = [nn.Conv2d(3, half, 3, 2, 1, bias=False), nn.BatchNorm2d(half), nn.ReLU(),
                  nn.Conv2d(half, half, 3, 1, 1, bias=False), nn.BatchNorm2d(half), nn.ReLU(),
                  nn.Conv2d(half, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(), nn.AvgPool2d(2)]
        channels = width
        for stage, count in enumerate(units):
            for unit in range(count):
                layers.append(ClipUnit(channels, width << stage, 2 if unit == 0 and stage > 0 else 1))
                channels = 4 * (width << stage)
        self.features = nn.Sequential(*layers)
        self.pool = AttentionPool(side // 32, channels, heads, outputs)

    def forward(self, x):
        return self.pool(self.features(x))


def resnet18_with(classes):
    """ResNet-18 with as many outputs."""
    return torchvision.models.resnet18(weights=None, num_classes=classes)
