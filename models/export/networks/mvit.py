"""torchvision's MViT, the same work in operators that have a counterpart in ONNX: sizes are numbers, slices stand for
split lists, and sums for assignments to a part of a tensor, which are traced as tables of the attention's size."""
from unittest import mock

import torch
from torch.nn import functional
import torchvision
from torchvision.models.video import mvit


def add_shortcut(x, shortcut, with_class_token):
    """In place, for the caller reads no result; the class token may stay as it is."""
    return x.add_(shortcut if with_class_token else functional.pad(shortcut[:, :, 1:], (0, 0, 1, 0)))


def add_positions(attention, q, q_sizes, k_sizes, *tables):
    """The bias of every pair of places is one of rows, one of columns and one of frames."""
    row, column, frame = (table[distances(q_size, k_size)] for table, q_size, k_size in
                          zip(tables, (*q_sizes[1:], q_sizes[0]), (*k_sizes[1:], k_sizes[0])))
    batch, heads, _, width = q.shape
    places = q[:, :, 1:].reshape(batch, heads, *q_sizes, width)
    rows = torch.einsum("bythwc,hkc->bythwk", places, row)
    columns = torch.einsum("bythwc,wkc->bythwk", places, column)
    frames = torch.einsum("bythwc,tkc->bythwk", places, frame)
    bias = frames[..., None, None] + rows[:, :, :, :, :, None, :, None] + columns[:, :, :, :, :, None, None, :]
    count = q_sizes[0] * q_sizes[1] * q_sizes[2]
    return attention + functional.pad(bias.reshape(batch, heads, count, -1), (1, 0, 1, 0))


def distances(q_size, k_size):
    q_step, k_step = max(k_size / q_size, 1.0), max(q_size / k_size, 1.0)
    return torch.tensor([[int(q * q_step - (k + 1 - k_size) * k_step) for k in range(k_size)] for q in range(q_size)])


class Pool(mvit.Pool):
    def forward(self, x, sizes):
        grouped = x.dim() == 4
        if not grouped:
            x = x.unsqueeze(1)
        batch, heads, width = x.shape[0], x.shape[1], x.shape[3]
        y = self.pool(x[:, :, 1:].transpose(2, 3).reshape(batch * heads, width, *sizes))
        sizes = tuple(int(size) for size in y.shape[2:])
        y = torch.cat((x[:, :, :1], y.reshape(batch, heads, width, -1).transpose(2, 3)), 2)
        y = y if self.norm_act is None else self.norm_act(y)
        return y if grouped else y.squeeze(1), sizes


class Positions(mvit.PositionalEncoding):
    def forward(self, x):
        x = torch.cat((self.class_token.expand(x.size(0), 1, -1), x), 1)
        if self.spatial_pos is None:
            return x
        positions = (self.temporal_pos.unsqueeze(1) + self.spatial_pos.unsqueeze(0)).flatten(0, 1)
        return x + torch.cat((self.class_pos.unsqueeze(0), positions), 0)


class MViT(mvit.MViT):
    def forward(self, x):
        with mock.patch.multiple(mvit, _add_rel_pos=add_positions, _add_shortcut=add_shortcut):
            return super().forward(x)


def build(name):
    model = getattr(torchvision.models.video, name)(weights=None)
    for part in model.modules():
        for kind, ours in ((mvit.Pool, Pool), (mvit.PositionalEncoding, Positions), (mvit.MViT, MViT)):
            if type(part) is kind:
                part.__class__ = ours
    return model
