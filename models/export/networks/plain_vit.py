"""Transformers of image patches whose features others build on: DINOv2 (arXiv:2304.07193), DINOv3 (arXiv:2508.10104), the
image encoder of SigLIP (arXiv:2303.15343), and Depth Anything V2 (arXiv:2406.09414) on top of the first."""
import torch
from torch import nn
from torch.nn import functional

# name: (layers, heads, width)
SIZES = {"s": (12, 6, 384), "b": (12, 12, 768)}
# name: (width of the fusion, channels of the four maps, layers they are taken from)
DEPTH = {"s": (64, (48, 96, 192, 384), (2, 5, 8, 11))}
# name: (layers, heads, width, of the MLP, patch, side)
SIGLIP = {"base-patch16-224": (12, 12, 768, 3072, 16, 224)}
TRAINED_SIDE = 37  # patches of 14 in 518 pixels, of which DINOv2 has positions
REGISTERS = 4


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.qkv, self.proj = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x, turn=None):
        batch, tokens, width = x.shape
        shape = (batch, tokens, 3, self.heads, width // self.heads)
        q, k, v = self.qkv(x).reshape(shape).permute(2, 0, 3, 1, 4).unbind(0)
        if turn is not None:
            q, k = turn(q), turn(k)
        scores = (q @ k.transpose(2, 3) * q.shape[3] ** -0.5).softmax(3)
        return self.proj((scores @ v).transpose(1, 2).flatten(2))


class Block(nn.Module):
    """With scales of each channel behind both halves where these are asked for."""

    def __init__(self, width, heads, inner=None, scales=True):
        super().__init__()
        self.norm1, self.norm2, self.attn = nn.LayerNorm(width), nn.LayerNorm(width), Attention(width, heads)
        inner = inner or 4 * width
        self.mlp = nn.Sequential(nn.Linear(width, inner), nn.GELU(), nn.Linear(inner, width))
        self.scale1 = nn.Parameter(torch.ones(width)) if scales else 1
        self.scale2 = nn.Parameter(torch.ones(width)) if scales else 1

    def forward(self, x, turn=None):
        x = x + self.scale1 * self.attn(self.norm1(x), turn)
        return x + self.scale2 * self.mlp(self.norm2(x))


class DinoV2(nn.Module):
    """Positions of other sizes than the trained one are interpolated once, from a table that is then not needed."""

    def __init__(self, size, side=224, patch=14):
        super().__init__()
        depth, heads, width = SIZES[size]
        tokens = (side // patch) ** 2
        self.patches, self.token = nn.Conv2d(3, width, patch, patch), nn.Parameter(torch.zeros(1, 1, width))
        self.positions = nn.Parameter(torch.zeros(1, tokens + 1, width))
        # Of the trained table what is not of this size, and the token of masked patches.
        self.unused = nn.Parameter(torch.zeros(TRAINED_SIDE ** 2 - tokens + 1, width))
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(depth))
        self.norm = nn.LayerNorm(width)

    def layers(self, x, wanted):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.token.expand(x.shape[0], -1, -1), x), 1) + self.positions
        kept = []
        for i, block in enumerate(self.blocks):
            x = block(x)
            if i in wanted:
                kept.append(self.norm(x))
        return kept

    def forward(self, x):
        return self.layers(x, (len(self.blocks) - 1,))[0]


class DinoV3(nn.Module):
    """Registers beside the class token; positions of patches turn queries and keys."""

    def __init__(self, size, side=224, patch=16):
        super().__init__()
        depth, self.heads, width = SIZES[size]
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.tokens = nn.Parameter(torch.zeros(1, 1 + REGISTERS, width))
        self.unused = nn.Parameter(torch.zeros(1, width))  # the token of masked patches
        self.blocks = nn.ModuleList(Block(width, self.heads) for _ in range(depth))
        self.norm = nn.LayerNorm(width)
        self.register_buffer("cosines", torch.rand((side // patch) ** 2, width // self.heads))
        self.register_buffer("sines", torch.rand((side // patch) ** 2, width // self.heads))

    def turn(self, x):
        first, patches = x[:, :, :1 + REGISTERS], x[:, :, 1 + REGISTERS:]
        left, right = patches.chunk(2, 3)
        turned = patches * self.cosines + torch.cat((-right, left), 3) * self.sines
        return torch.cat((first, turned), 2)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.tokens.expand(x.shape[0], -1, -1), x), 1)
        for block in self.blocks:
            x = block(x, self.turn)
        return self.norm(x)


class SiglipImage(nn.Module):
    """A query that is learned gathers the patches."""

    def __init__(self, name):
        super().__init__()
        depth, self.heads, width, inner, patch, side = SIGLIP[name]
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.positions = nn.Parameter(torch.zeros(1, (side // patch) ** 2, width))
        self.blocks = nn.Sequential(*(Block(width, self.heads, inner, False) for _ in range(depth)))
        self.norm, self.last = nn.LayerNorm(width), nn.LayerNorm(width)
        self.probe, self.query = nn.Parameter(torch.zeros(1, 1, width)), nn.Linear(width, width)
        self.key, self.value, self.proj = (nn.Linear(width, width) for _ in range(3))
        self.mlp = nn.Sequential(nn.Linear(width, inner), nn.GELU(), nn.Linear(inner, width))

    def in_heads(self, x):
        return x.reshape(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2) + self.positions
        x = self.norm(self.blocks(x))
        q = self.in_heads(self.query(self.probe.expand(x.shape[0], -1, -1)))
        k, v = self.in_heads(self.key(x)), self.in_heads(self.value(x))
        x = (q @ k.transpose(2, 3) * q.shape[3] ** -0.5).softmax(3) @ v
        x = self.proj(x.transpose(1, 2).flatten(2))
        return (x + self.mlp(self.last(x)))[:, 0]


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(width, width, 3, 1, 1), nn.Conv2d(width, width, 3, 1, 1)

    def forward(self, x):
        return x + self.conv2(self.conv1(x.relu()).relu())


class Fusion(nn.Module):
    def __init__(self, width, joins):
        super().__init__()
        # The deepest map has nothing to join: its first unit is stored and not run.
        setattr(self, "first" if joins else "unused", Residual(width))
        self.second, self.last = Residual(width), nn.Conv2d(width, width, 1)

    def forward(self, x, size, side=None):
        x = x if side is None else x + self.first(side)
        x = functional.interpolate(self.second(x), size, mode="bilinear", align_corners=True)
        return self.last(x)


class DepthAnythingV2(nn.Module):
    def __init__(self, size, side=518, patch=14):
        super().__init__()
        width, channels, self.wanted = DEPTH[size]
        self.side, self.grid, inputs = side, side // patch, SIZES[size][2]
        self.encoder = DinoV2(size, side, patch)
        self.projects = nn.ModuleList(nn.Conv2d(inputs, c, 1) for c in channels)
        self.resizes = nn.ModuleList((
            nn.ConvTranspose2d(channels[0], channels[0], 4, 4), nn.ConvTranspose2d(channels[1], channels[1], 2, 2),
            nn.Identity(), nn.Conv2d(channels[3], channels[3], 3, 2, 1)))
        self.narrow = nn.ModuleList(nn.Conv2d(c, width, 3, 1, 1, bias=False) for c in channels)
        self.fusions = nn.ModuleList(Fusion(width, i < 3) for i in range(4))
        self.conv1 = nn.Conv2d(width, width // 2, 3, 1, 1)
        self.conv2 = nn.Sequential(nn.Conv2d(width // 2, 32, 3, 1, 1), nn.ReLU(), nn.Conv2d(32, 1, 1), nn.ReLU())

    def forward(self, x):
        maps = []
        for i, x in enumerate(self.encoder.layers(x, self.wanted)):
            x = x[:, 1:].transpose(1, 2).reshape(x.shape[0], -1, self.grid, self.grid)
            maps.append(self.narrow[i](self.resizes[i](self.projects[i](x))))
        sides = [4 * self.grid, 2 * self.grid, self.grid]
        x = self.fusions[3](maps[3], (sides[2], sides[2]))
        x = self.fusions[2](x, (sides[1], sides[1]), maps[2])
        x = self.fusions[1](x, (sides[0], sides[0]), maps[1])
        x = self.fusions[0](x, (2 * sides[0], 2 * sides[0]), maps[0])
        x = functional.interpolate(self.conv1(x), (self.side, self.side), mode="bilinear", align_corners=True)
        return self.conv2(x)
