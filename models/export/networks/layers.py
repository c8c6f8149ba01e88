"""Blocks that several networks share."""
import torch
from torch import nn


def conv_norm_act(inputs, outputs, kernel=3, stride=1, groups=1, act=nn.ReLU6, padding=None):
    """Convolution, batch normalisation and activation, named conv, norm and act."""
    block = nn.Sequential()
    padding = kernel // 2 if padding is None else padding
    block.add_module("conv", nn.Conv2d(inputs, outputs, kernel, stride, padding, groups=groups, bias=False))
    block.add_module("norm", nn.BatchNorm2d(outputs))
    if act is not None:
        block.add_module("act", act())
    return block


class FrozenBatchNorm2d(nn.Module):
    """Batch normalisation whose statistics and affine terms are all constants, as detectors train it."""

    def __init__(self, channels, eps=1e-5):
        super().__init__()
        self.eps = eps
        for name in ("weight", "bias", "running_mean", "running_var"):
            self.register_buffer(name, torch.ones(channels))

    def forward(self, x):
        return nn.functional.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias,
                                        training=False, eps=self.eps)


def with_replaced(module, kind, make):
    """The module with every part of a kind replaced by make(part): other activations, folded normalisations."""
    for name, part in module.named_children():
        if isinstance(part, kind):
            setattr(module, name, make(part))
        else:
            with_replaced(part, kind, make)
    return module
