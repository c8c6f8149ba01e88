"""FastViT (arXiv:2303.14189) in its inference form, where every reparameterised branch is one convolution."""
import torch
from torch import nn


def depthwise(channels, kernel, stride=1, bias=True, outputs=None):
    return nn.Conv2d(channels, outputs or channels, kernel, stride, kernel // 2, groups=channels, bias=bias)


class SqueezeExcite(nn.Module):
    def __init__(self, channels, reduced):
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.reduce = nn.Conv2d(channels, reduced, 1)
        self.expand = nn.Conv2d(reduced, channels, 1)

    def forward(self, x):
        return x * self.expand(self.reduce(self.pool(x)).relu()).sigmoid()


class ConvFfn(nn.Module):
    def __init__(self, channels, ratio):
        super().__init__()
        self.conv = depthwise(channels, 7, bias=False)
        self.norm = nn.BatchNorm2d(channels)
        self.fc1 = nn.Conv2d(channels, ratio * channels, 1)
        self.act = nn.GELU()
        self.fc2 = nn.Conv2d(ratio * channels, channels, 1)

    def forward(self, x):
        return self.fc2(self.act(self.fc1(self.norm(self.conv(x)))))


class RepMixerBlock(nn.Module):
    def __init__(self, channels, ratio):
        super().__init__()
        self.token_mixer = depthwise(channels, 3)
        self.mlp = ConvFfn(channels, ratio)
        self.layer_scale = nn.Parameter(torch.ones(channels, 1, 1))

    def forward(self, x):
        x = self.token_mixer(x)
        return x + self.layer_scale * self.mlp(x)


class Attention(nn.Module):
    HEAD = 32

    def __init__(self, channels):
        super().__init__()
        self.heads = channels // self.HEAD
        self.qkv = nn.Linear(channels, 3 * channels, bias=False)
        self.proj = nn.Linear(channels, channels)

    def forward(self, x):
        batch, channels, height, width = x.shape
        tokens = x.flatten(2).transpose(1, 2)
        q, k, v = self.qkv(tokens).reshape(batch, -1, 3, self.heads, self.HEAD).permute(2, 0, 3, 1, 4).unbind(0)
        mixed = ((q * self.HEAD ** -0.5) @ k.transpose(-2, -1)).softmax(-1) @ v
        tokens = self.proj(mixed.transpose(1, 2).reshape(batch, -1, channels))
        return tokens.transpose(1, 2).reshape(batch, channels, height, width)


class AttentionBlock(nn.Module):
    def __init__(self, channels, ratio):
        super().__init__()
        self.norm = nn.BatchNorm2d(channels)
        self.token_mixer = Attention(channels)
        self.layer_scale_1 = nn.Parameter(torch.ones(channels, 1, 1))
        self.mlp = ConvFfn(channels, ratio)
        self.layer_scale_2 = nn.Parameter(torch.ones(channels, 1, 1))

    def forward(self, x):
        x = x + self.layer_scale_1 * self.token_mixer(self.norm(x))
        return x + self.layer_scale_2 * self.mlp(x)


class PatchEmbed(nn.Sequential):
    def __init__(self, inputs, outputs):
        super().__init__(depthwise(inputs, 7, 2, outputs=outputs), nn.GELU(),
                         nn.Conv2d(outputs, outputs, 1), nn.GELU())


class ConditionalPosition(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = depthwise(channels, 7)

    def forward(self, x):
        return self.conv(x)


class FastVit(nn.Module):
    def __init__(self, widths, depths, ratio, attention_in_last=False, classes=1000):
        super().__init__()
        first, last = widths[0], 2 * widths[-1]
        self.stem = nn.Sequential(nn.Conv2d(3, first, 3, 2, 1), nn.GELU(), depthwise(first, 3, 2), nn.GELU(),
                                  nn.Conv2d(first, first, 1), nn.GELU())
        self.stages = nn.ModuleList()
        for i, (channels, depth) in enumerate(zip(widths, depths)):
            attention = attention_in_last and i == len(widths) - 1
            block = AttentionBlock if attention else RepMixerBlock
            stage = [] if i == 0 else [PatchEmbed(widths[i - 1], channels)]
            stage += [ConditionalPosition(channels)] if attention else []
            self.stages.append(nn.Sequential(*stage, *(block(channels, ratio) for _ in range(depth))))
        self.final_conv = depthwise(widths[-1], 3, outputs=last)
        self.final_se = SqueezeExcite(last, last // 16)
        self.act = nn.GELU()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(last, classes)

    def forward(self, x):
        x = self.stem(x)
        for stage in self.stages:
            x = stage(x)
        x = self.act(self.final_se(self.final_conv(x)))
        return self.head(self.pool(x).flatten(1))


def fastvit_t8():
    return FastVit((48, 96, 192, 384), (2, 2, 4, 2), 3)


def fastvit_t12():
    return FastVit((64, 128, 256, 512), (2, 2, 6, 2), 3)


def fastvit_s12():
    return FastVit((64, 128, 256, 512), (2, 2, 6, 2), 4)


def fastvit_sa12():
    return FastVit((64, 128, 256, 512), (2, 2, 6, 2), 4, attention_in_last=True)
