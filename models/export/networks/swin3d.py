"""Video Swin Transformer (arXiv:2106.13230) as torchvision 0.15 has it: windows of 8 x 7 x 7 patches, moved by half a
window in every second block where they do not reach over all of an axis."""
import torch
from torch import nn
from torchvision.models.swin_transformer import SwinTransformerBlock

WINDOW, PATCH = (8, 7, 7), (2, 4, 4)
# name: (width, blocks of the stages, heads of the stages)
SIZES = {"t": (96, (2, 2, 6, 2), (3, 6, 12, 24)), "s": (96, (2, 2, 18, 2), (3, 6, 12, 24)),
         "b": (128, (2, 2, 18, 2), (4, 8, 16, 32))}


def windows(x, window):
    """(batch, t, h, w, channels) as (batch x windows, positions of a window, channels)."""
    b, *sizes, c = x.shape
    x = x.reshape(b, *(n for size, w in zip(sizes, window) for n in (size // w, w)), c)
    return x.permute(0, 1, 3, 5, 2, 4, 6, 7).reshape(-1, window[0] * window[1] * window[2], c)


class WindowAttention(nn.Module):
    def __init__(self, width, window, shift, heads, **unused):
        super().__init__()
        self.shift, self.heads = shift, heads
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        places = (2 * window[0] - 1) * (2 * window[1] - 1) * (2 * window[2] - 1)
        self.relative_position_bias_table = nn.Parameter(torch.zeros(places, heads))
        at = torch.stack(torch.meshgrid(*(torch.arange(w) for w in window), indexing="ij")).flatten(1)
        apart = at[:, :, None] - at[:, None, :] + torch.tensor(window).reshape(3, 1, 1) - 1
        steps = torch.tensor(((2 * window[1] - 1) * (2 * window[2] - 1), 2 * window[2] - 1, 1))
        self.register_buffer("relative_position_index", (apart * steps.reshape(3, 1, 1)).sum(0))

    def mask(self, sizes, window, shift):
        """Minus 100 between positions that the shift brought together from two ends of an axis."""
        part = torch.zeros(1, *sizes, 1)
        for axis, (size, w, s) in enumerate(zip(sizes, window, shift)):
            index = torch.arange(size)
            along = (index >= size - w).float() + (index >= size - s).float() if s else torch.zeros(size)
            part = 3 * part + along.reshape([-1 if i == axis + 1 else 1 for i in range(5)])
        part = windows(part, window).squeeze(2)
        return -100.0 * (part.unsqueeze(1) != part.unsqueeze(2)).float()

    def forward(self, x):
        b, t, h, w, c = x.shape
        sizes = (int(t), int(h), int(w))
        window = [min(a, s) for a, s in zip(WINDOW, sizes)]
        shift = [s if a > w else 0 for a, w, s in zip(sizes, window, self.shift)]
        padded = [-(-a // w) * w for a, w in zip(sizes, window)]
        x = nn.functional.pad(x, (0, 0, *(n for a, p in zip(sizes[::-1], padded[::-1]) for n in (0, p - a))))
        if any(shift):
            x = torch.roll(x, [-s for s in shift], (1, 2, 3))
        x = windows(x, window)
        n, head = window[0] * window[1] * window[2], int(c) // self.heads
        q, k, v = self.qkv(x).reshape(-1, n, 3, self.heads, head).permute(2, 0, 3, 1, 4)
        bias = self.relative_position_bias_table[self.relative_position_index[:n, :n].reshape(-1)]
        scores = (q * head ** -0.5) @ k.transpose(-2, -1) + bias.reshape(n, n, -1).permute(2, 0, 1).unsqueeze(0)
        if any(shift):
            mask = self.mask(padded, window, shift)
            scores = scores.reshape(-1, mask.shape[0], self.heads, n, n) + mask.unsqueeze(1).unsqueeze(0)
            scores = scores.reshape(-1, self.heads, n, n)
        x = self.proj((scores.softmax(-1) @ v).transpose(1, 2).reshape(-1, n, int(c)))
        x = x.reshape(-1, *(a // w for a, w in zip(padded, window)), *window, int(c))
        x = x.permute(0, 1, 4, 2, 5, 3, 6, 7).reshape(-1, *padded, int(c))
        if any(shift):
            x = torch.roll(x, shift, (1, 2, 3))
        return x[:, :sizes[0], :sizes[1], :sizes[2]]


class Merge(nn.Module):
    """Every second row and column of a frame beside each other, half of the channels kept."""

    def __init__(self, width):
        super().__init__()
        self.norm, self.reduction = nn.LayerNorm(4 * width), nn.Linear(4 * width, 2 * width, bias=False)

    def forward(self, x):
        corners = [x[:, :, i::2, j::2] for j in (0, 1) for i in (0, 1)]
        return self.reduction(self.norm(torch.cat(corners, -1)))


class Swin3d(nn.Module):
    def __init__(self, size, classes=400):
        super().__init__()
        width, blocks, heads = SIZES[size]
        self.patches, self.patch_norm = nn.Conv3d(3, width, PATCH, PATCH), nn.LayerNorm(width)
        layers = []
        for stage, (count, h) in enumerate(zip(blocks, heads)):
            if stage > 0:
                layers.append(Merge(width))
                width *= 2
            layers += [SwinTransformerBlock(width, h, WINDOW, [w // 2 if i % 2 else 0 for w in WINDOW],
                                            attn_layer=lambda d, w, s, n, **_: WindowAttention(d, w, s, n))
                       for i in range(count)]
        self.features = nn.Sequential(*layers)
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, x):
        x = self.patch_norm(self.patches(x).permute(0, 2, 3, 4, 1))
        return self.head(self.norm(self.features(x)).mean((1, 2, 3)))
