"""DETR (arXiv:2005.12872): ResNet-50, six encoder and six decoder layers, one hundred queries."""
import math

import torch
from torch import nn
import torchvision

from .layers import FrozenBatchNorm2d

WIDTH, HEADS, FEED_FORWARD, QUERIES = 256, 8, 2048, 100


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(WIDTH, WIDTH)
        self.k_proj = nn.Linear(WIDTH, WIDTH)
        self.v_proj = nn.Linear(WIDTH, WIDTH)
        self.out_proj = nn.Linear(WIDTH, WIDTH)

    def heads(self, x):
        return x.reshape(x.shape[0], -1, HEADS, WIDTH // HEADS).transpose(1, 2)

    def forward(self, query, key, value):
        q, k, v = self.heads(self.q_proj(query)), self.heads(self.k_proj(key)), self.heads(self.v_proj(value))
        scores = q @ k.transpose(2, 3) * (WIDTH // HEADS) ** -0.5
        mixed = (scores.softmax(-1) @ v).transpose(1, 2)
        return self.out_proj(mixed.reshape(mixed.shape[0], -1, WIDTH))


class FeedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear1 = nn.Linear(WIDTH, FEED_FORWARD)
        self.act = nn.ReLU()
        self.linear2 = nn.Linear(FEED_FORWARD, WIDTH)

    def forward(self, x):
        return self.linear2(self.act(self.linear1(x)))


class EncoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.self_attn = Attention()
        self.norm1 = nn.LayerNorm(WIDTH)
        self.mlp = FeedForward()
        self.norm2 = nn.LayerNorm(WIDTH)

    def forward(self, x, position):
        placed = x + position
        x = self.norm1(x + self.self_attn(placed, placed, x))
        return self.norm2(x + self.mlp(x))


class DecoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.self_attn = Attention()
        self.norm1 = nn.LayerNorm(WIDTH)
        self.cross_attn = Attention()
        self.norm2 = nn.LayerNorm(WIDTH)
        self.mlp = FeedForward()
        self.norm3 = nn.LayerNorm(WIDTH)

    def forward(self, x, memory, position, query_position):
        placed = x + query_position
        x = self.norm1(x + self.self_attn(placed, placed, x))
        x = self.norm2(x + self.cross_attn(x + query_position, memory + position, memory))
        return self.norm3(x + self.mlp(x))


class SinePosition(nn.Module):
    """Half of the channels encode the row, half the column, each as sines and cosines of rising period."""

    def __init__(self):
        super().__init__()
        half = WIDTH // 2
        self.register_buffer("periods", 10000.0 ** (2 * (torch.arange(half) // 2) / half))

    def encode(self, length):
        steps = torch.arange(1, length + 1) / length * (2 * math.pi)
        angles = steps[:, None] / self.periods
        return torch.stack((angles[:, 0::2].sin(), angles[:, 1::2].cos()), 2).flatten(1)

    def forward(self, x):
        height, width = x.shape[2], x.shape[3]
        rows = self.encode(height)[:, None, :].expand(height, width, -1)
        columns = self.encode(width)[None, :, :].expand(height, width, -1)
        return torch.cat((rows, columns), 2).flatten(0, 1)[None]


class Detr(nn.Module):
    def __init__(self, classes=91):
        super().__init__()
        resnet = torchvision.models.resnet50(weights=None, norm_layer=FrozenBatchNorm2d)
        self.backbone = nn.Sequential()
        for name, module in resnet.named_children():
            if name not in ("avgpool", "fc"):
                self.backbone.add_module(name, module)
        self.position = SinePosition()
        self.input_proj = nn.Conv2d(2048, WIDTH, 1)
        self.encoder = nn.ModuleList(EncoderLayer() for _ in range(6))
        self.query_embed = nn.Embedding(QUERIES, WIDTH)
        self.decoder = nn.ModuleList(DecoderLayer() for _ in range(6))
        self.norm = nn.LayerNorm(WIDTH)
        self.class_embed = nn.Linear(WIDTH, classes + 1)
        self.bbox_embed = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(),
                                        nn.Linear(WIDTH, 4), nn.Sigmoid())

    def forward(self, image):
        feature = self.input_proj(self.backbone(image))
        position = self.position(feature)
        memory = feature.flatten(2).transpose(1, 2)
        for layer in self.encoder:
            memory = layer(memory, position)
        queries = self.query_embed.weight[None]
        x = torch.zeros_like(queries).expand(image.shape[0], -1, -1)
        for layer in self.decoder:
            x = layer(x, memory, position, queries)
        x = self.norm(x)
        return self.class_embed(x), self.bbox_embed(x)
