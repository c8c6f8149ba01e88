"""Vision transformers whose normalisations are of the batch, so that they fold into the layers behind them (Hailo Model
Zoo), and ViTPose (arXiv:2204.12484): a plain transformer and two transposed convolutions."""
import torch
from torch import nn

JOINTS = 17


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.qkv, self.proj = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        shape = (batch, tokens, 3, self.heads, width // self.heads)
        q, k, v = self.qkv(x).reshape(shape).permute(2, 0, 3, 1, 4).unbind(0)
        scores = (q @ k.transpose(2, 3) * q.shape[3] ** -0.5).softmax(3)
        return self.proj((scores @ v).transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, width, heads, norm):
        super().__init__()
        self.norm1, self.norm2 = norm(width), norm(width)
        self.attention = Attention(width, heads)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


def folded(width):
    return nn.Identity()


class FoldedViT(nn.Module):
    """A classifier with a class token."""

    def __init__(self, width, heads, depth=12, size=224, patch=16, classes=1000, norm=folded):
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.positions = nn.Parameter(torch.zeros(1, (size // patch) ** 2 + 1, width))
        self.blocks = nn.Sequential(*(Block(width, heads, norm) for _ in range(depth)))
        self.norm, self.head = norm(width), nn.Linear(width, classes)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.token.expand(x.shape[0], -1, -1), x), 1) + self.positions
        return self.head(self.norm(self.blocks(x))[:, 0])


class ViTPose(nn.Module):
    def __init__(self, width=384, heads=12, depth=12, size=(256, 192), norm=nn.LayerNorm):
        super().__init__()
        self.grid = (size[0] // 16, size[1] // 16)
        self.patches = nn.Conv2d(3, width, 16, 16, 2)
        self.positions = nn.Parameter(torch.zeros(1, self.grid[0] * self.grid[1], width))
        self.blocks = nn.Sequential(*(Block(width, heads, norm) for _ in range(depth)))
        self.norm = norm(width)
        self.deconvs = nn.Sequential(*(layer for inputs in (width, 256) for layer in (
            nn.ConvTranspose2d(inputs, 256, 4, 2, 1, bias=False), nn.BatchNorm2d(256), nn.ReLU())))
        self.last = nn.Conv2d(256, JOINTS, 1)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = self.norm(self.blocks(x + self.positions))
        x = x.transpose(1, 2).reshape(x.shape[0], x.shape[2], *self.grid)
        return self.last(self.deconvs(x))
