"""EfficientFormer-L1 (arXiv:2206.01191): pooling blocks on images, one attention block on tokens."""
import torch
from torch import nn

from .layers import conv_norm_act

EXPANSION = 4


def biased(block):
    """The published networks keep the convolution's bias ahead of the normalisation."""
    block.conv.bias = nn.Parameter(torch.zeros(block.conv.out_channels))
    return block


class PoolBlock(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.token_mixer = nn.AvgPool2d(3, 1, 1, count_include_pad=False)
        self.mlp = nn.Sequential(biased(conv_norm_act(channels, EXPANSION * channels, 1, act=nn.GELU)),
                                 biased(conv_norm_act(EXPANSION * channels, channels, 1, act=None)))
        self.layer_scale_1 = nn.Parameter(torch.ones(channels, 1, 1))
        self.layer_scale_2 = nn.Parameter(torch.ones(channels, 1, 1))

    def forward(self, x):
        x = x + self.layer_scale_1 * (self.token_mixer(x) - x)
        return x + self.layer_scale_2 * self.mlp(x)


class Attention(nn.Module):
    """Keys of 32 channels, values of 128, a learned bias for each relative distance of two cells."""
    HEADS, KEY, VALUE = 8, 32, 128

    def __init__(self, channels, side):
        super().__init__()
        self.qkv = nn.Linear(channels, self.HEADS * (2 * self.KEY + self.VALUE))
        self.proj = nn.Linear(self.HEADS * self.VALUE, channels)
        self.attention_biases = nn.Parameter(torch.zeros(self.HEADS, side * side))
        cells = torch.stack(torch.meshgrid(torch.arange(side), torch.arange(side), indexing="ij")).flatten(1)
        distance = (cells[:, :, None] - cells[:, None, :]).abs()
        self.register_buffer("attention_bias_idxs", distance[0] * side + distance[1])

    def forward(self, x):
        batch, tokens, _ = x.shape
        qkv = self.qkv(x).reshape(batch, tokens, self.HEADS, -1).transpose(1, 2)
        q, k, v = qkv.split((self.KEY, self.KEY, self.VALUE), 3)
        scores = q @ k.transpose(2, 3) * self.KEY ** -0.5 + self.attention_biases[:, self.attention_bias_idxs]
        mixed = (scores.softmax(-1) @ v).transpose(1, 2)
        return self.proj(mixed.reshape(batch, tokens, self.HEADS * self.VALUE))


class TokenBlock(nn.Module):
    def __init__(self, channels, side):
        super().__init__()
        self.norm1 = nn.LayerNorm(channels)
        self.token_mixer = Attention(channels, side)
        self.norm2 = nn.LayerNorm(channels)
        self.mlp = nn.Sequential(nn.Linear(channels, EXPANSION * channels), nn.GELU(),
                                 nn.Linear(EXPANSION * channels, channels))
        self.layer_scale_1 = nn.Parameter(torch.ones(channels))
        self.layer_scale_2 = nn.Parameter(torch.ones(channels))

    def forward(self, x):
        x = x + self.layer_scale_1 * self.token_mixer(self.norm1(x))
        return x + self.layer_scale_2 * self.mlp(self.norm2(x))


class EfficientFormer(nn.Module):
    def __init__(self, widths, depths, token_blocks, side=7, classes=1000):
        super().__init__()
        self.stem = nn.Sequential(biased(conv_norm_act(3, widths[0] // 2, 3, 2, act=nn.ReLU)),
                                  biased(conv_norm_act(widths[0] // 2, widths[0], 3, 2, act=nn.ReLU)))
        self.stages = nn.ModuleList()
        for i, (channels, depth) in enumerate(zip(widths, depths)):
            stage = [] if i == 0 else [biased(conv_norm_act(widths[i - 1], channels, 3, 2, act=None))]
            pools = depth - token_blocks if i == len(widths) - 1 else depth
            self.stages.append(nn.Sequential(*stage, *(PoolBlock(channels) for _ in range(pools))))
        self.blocks = nn.Sequential(*(TokenBlock(widths[-1], side) for _ in range(token_blocks)))
        self.norm = nn.LayerNorm(widths[-1])
        self.head = nn.Linear(widths[-1], classes)
        self.head_dist = nn.Linear(widths[-1], classes)

    def forward(self, x):
        x = self.stem(x)
        for stage in self.stages:
            x = stage(x)
        x = self.norm(self.blocks(x.flatten(2).transpose(1, 2))).mean(1)
        return (self.head(x) + self.head_dist(x)) / 2


def efficientformer_l1():
    return EfficientFormer((48, 96, 224, 448), (3, 2, 6, 4), token_blocks=1)
