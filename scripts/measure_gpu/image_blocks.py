#!/usr/bin/env python3
"""Times what generators of images consist of, in eager PyTorch on one GPU: a block of each denoiser, decoders of latents, text
encoders, each at its published sizes with random weights, operator by operator as diffusers composes them.

    python3 scripts/measure_gpu/image_blocks.py [--seconds N] [--only WORD|WORD] [--output FILE]

Needs an NVIDIA GPU with 80 GB, PyTorch 2.5 or newer, transformers and nvidia-ml-py, none of which the project installs: it is not
part of any test. Prints one JSON line for each part: milliseconds (median of executions timed by events after a warm-up), watts and clock (means that
NVML reports while it runs for N seconds, 2 unless told), and the time of its kernels by name (one profiled execution).
"""
import argparse, json, statistics, threading, time

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

DEVICE, TYPE = "cuda", torch.bfloat16


def linear(n, m, bias=True):
    return nn.Linear(n, m, bias=bias, device=DEVICE, dtype=TYPE)


class RmsNorm(nn.Module):
    """As diffusers has it: the mean square in fp32, then back."""

    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size, device=DEVICE, dtype=TYPE))

    def forward(self, x):
        variance = x.to(torch.float32).pow(2).mean(-1, keepdim=True)
        return (x * torch.rsqrt(variance + 1e-6)).to(TYPE) * self.weight


def rotary(x, cos, sin):
    real, imaginary = x.reshape(*x.shape[:-1], -1, 2).unbind(-1)
    turned = torch.stack([-imaginary, real], dim=-1).flatten(3)
    return (x.float() * cos + turned.float() * sin).to(x.dtype)


def norm(x):
    return F.layer_norm(x, x.shape[-1:], eps=1e-6)


def modulated(x, scale, shift):
    return norm(x) * (1 + scale) + shift


class Attention(nn.Module):
    def __init__(self, size, heads, context=None, norms=False):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.out = (linear(size, size), linear(context or size, size),
                                            linear(context or size, size), linear(size, size))
        self.norms = nn.ModuleList([RmsNorm(size // heads), RmsNorm(size // heads)]) if norms else None

    def split(self, x):
        return x.view(x.shape[0], -1, self.heads, x.shape[-1] // self.heads).transpose(1, 2)

    def qkv(self, x, context=None):
        context = x if context is None else context
        q, k, v = self.split(self.q(x)), self.split(self.k(context)), self.split(self.v(context))
        return (self.norms[0](q), self.norms[1](k), v) if self.norms else (q, k, v)

    def forward(self, x, context=None, mask=None):
        q, k, v = self.qkv(x, context)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.out(y.transpose(1, 2).reshape(x.shape[0], -1, x.shape[-1]).to(q.dtype))


class PixArtBlock(nn.Module):
    def __init__(self, size=1152, heads=16):
        super().__init__()
        self.own, self.cross = Attention(size, heads), Attention(size, heads)
        self.wide, self.back = linear(size, 4 * size), linear(4 * size, size)
        self.table = nn.Parameter(torch.randn(6, size, device=DEVICE, dtype=TYPE))

    def forward(self, x, text, mask, time):
        shift, scale, gate, shift2, scale2, gate2 = (self.table[None] + time.reshape(x.shape[0], 6, -1)).chunk(6, dim=1)
        x = gate * self.own(modulated(x, scale, shift)) + x
        x = self.cross(x, text, mask) + x
        y = self.back(F.gelu(self.wide(modulated(x, scale2, shift2)), approximate="tanh"))
        return gate2 * y + x


class JointBlock(nn.Module):
    """Of Stable Diffusion 3.5 medium (two attentions) and of FLUX.1 (rotary positions)."""

    def __init__(self, size, heads, dual=False):
        super().__init__()
        self.image, self.text = Attention(size, heads, norms=True), Attention(size, heads, norms=True)
        self.second = Attention(size, heads, norms=True) if dual else None
        self.shifts = nn.ModuleList([linear(size, (9 if dual else 6) * size), linear(size, 6 * size)])
        self.feed = nn.ModuleList([nn.ModuleList([linear(size, 4 * size), linear(4 * size, size)]) for _ in range(2)])

    def mlp(self, i, x):
        return self.feed[i][1](F.gelu(self.feed[i][0](x), approximate="tanh"))

    def forward(self, x, text, time, turn=None):
        m = self.shifts[0](F.silu(time))[:, None].chunk(9 if self.second else 6, dim=-1)
        c = self.shifts[1](F.silu(time))[:, None].chunk(6, dim=-1)
        normed = norm(x)
        y, z = normed * (1 + m[1]) + m[0], modulated(text, c[1], c[0])
        q, k, v = self.image.qkv(y)
        tq, tk, tv = self.text.qkv(z)
        q, k, v = torch.cat([tq, q], 2), torch.cat([tk, k], 2), torch.cat([tv, v], 2)
        if turn is not None:
            q, k = rotary(q, *turn), rotary(k, *turn)
        out = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(x.shape[0], -1, x.shape[-1])
        x = x + m[2] * self.image.out(out[:, text.shape[1]:])
        if self.second:
            x = x + m[8] * self.second(normed * (1 + m[7]) + m[6])
        x = x + m[5] * self.mlp(0, modulated(x, m[4], m[3]))
        text = text + c[2] * self.text.out(out[:, :text.shape[1]])
        return x, text + c[5] * self.mlp(1, modulated(text, c[4], c[3]))


class SingleBlock(nn.Module):
    """Of FLUX.1."""

    def __init__(self, size=3072, heads=24):
        super().__init__()
        self.attention, self.wide = Attention(size, heads, norms=True), linear(size, 4 * size)
        self.out, self.shift = linear(5 * size, size), linear(size, 3 * size)

    def forward(self, x, time, turn):
        m = self.shift(F.silu(time))[:, None].chunk(3, dim=-1)
        y = modulated(x, m[1], m[0])
        wide = F.gelu(self.wide(y), approximate="tanh")
        q, k, v = self.attention.qkv(y)
        out = F.scaled_dot_product_attention(rotary(q, *turn), rotary(k, *turn), v)
        out = out.transpose(1, 2).reshape(*x.shape)
        return x + m[2] * self.out(torch.cat([out, wide], 2))


class SanaBlock(nn.Module):
    def __init__(self, size=2240, heads=70):
        super().__init__()
        self.own, self.cross = Attention(size, heads, norms=False), Attention(size, 20)
        self.q_norm, self.k_norm = RmsNorm(size), RmsNorm(size)
        inner = int(size * 2.5) * 2
        self.table = nn.Parameter(torch.randn(6, size, device=DEVICE, dtype=TYPE))
        conv = dict(device=DEVICE, dtype=TYPE)
        self.wide, self.depth = nn.Conv2d(size, inner, 1, **conv), nn.Conv2d(inner, inner, 3, 1, 1, groups=inner, **conv)
        self.back = nn.Conv2d(inner // 2, size, 1, bias=False, **conv)

    def forward(self, x, text, mask, time):
        shift, scale, gate, shift2, scale2, gate2 = (self.table[None] + time.reshape(x.shape[0], 6, -1)).chunk(6, dim=1)
        y, a = modulated(x, scale, shift), self.own
        q, k, v = self.q_norm(a.q(y)), self.k_norm(a.k(y)), a.v(y)
        q, k, v = (t.transpose(1, 2).unflatten(1, (a.heads, -1)) for t in (q, k, v))
        q, k = F.relu(q), F.relu(k.transpose(2, 3))
        q, k, v = q.float(), k.float(), v.float()
        v = F.pad(v, (0, 0, 0, 1), mode="constant", value=1.0)
        y = torch.matmul(torch.matmul(v, k), q).float()
        y = y[:, :, :-1] / (y[:, :, -1:] + 1e-15)
        x = x + gate * a.out(y.flatten(1, 2).transpose(1, 2).to(TYPE))
        x = x + self.cross(x, text, mask)
        side = int(x.shape[1] ** 0.5)
        y = modulated(x, scale2, shift2).unflatten(1, (side, side)).permute(0, 3, 1, 2)
        y, g = torch.chunk(self.depth(F.silu(self.wide(y))), 2, dim=1)
        y = self.back(y * F.silu(g))
        return x + gate2 * y.flatten(2, 3).permute(0, 2, 1)


def conv(n, m, k=3):
    return nn.Conv2d(n, m, k, padding=k // 2, device=DEVICE, dtype=TYPE)


class Residual(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.norms = nn.ModuleList([nn.GroupNorm(32, s, 1e-6, device=DEVICE, dtype=TYPE) for s in (n, m)])
        self.convs = nn.ModuleList([conv(n, m), conv(m, m)])
        self.short = conv(n, m, 1) if n != m else nn.Identity()

    def forward(self, x):
        y = self.convs[0](F.silu(self.norms[0](x)))
        return self.short(x) + self.convs[1](F.silu(self.norms[1](y)))


class Decoder(nn.Module):
    """Of AutoencoderKL: 512, 512, 256, 128 channels, three residuals a level."""

    def __init__(self, latent=4):
        super().__init__()
        self.first = conv(latent, 512)
        self.middle = nn.ModuleList([Residual(512, 512), Residual(512, 512)])
        self.attention, self.attention_norm = Attention(512, 1), nn.GroupNorm(32, 512, 1e-6, device=DEVICE, dtype=TYPE)
        levels, n = [], 512
        for i, m in enumerate((512, 512, 256, 128)):
            levels.append(nn.ModuleList([nn.ModuleList([Residual(n if j == 0 else m, m) for j in range(3)]),
                                         conv(m, m) if i < 3 else nn.Identity()]))
            n = m
        self.levels = nn.ModuleList(levels)
        self.norm, self.last = nn.GroupNorm(32, 128, 1e-6, device=DEVICE, dtype=TYPE), conv(128, 3)

    def forward(self, x):
        x = self.middle[0](self.first(x))
        y = self.attention_norm(x).flatten(2).transpose(1, 2)
        x = self.middle[1](x + self.attention(y).transpose(1, 2).reshape(x.shape))
        for i, (residuals, up) in enumerate(self.levels):
            for residual in residuals:
                x = residual(x)
            if i < 3:
                x = up(F.interpolate(x, scale_factor=2.0, mode="nearest"))
        return self.last(F.silu(self.norm(x)))


def random(*shape, dtype=TYPE):
    return torch.randn(*shape, device=DEVICE, dtype=dtype)


def parts():
    """Name, and a function that builds what is timed."""

    def pixart(batch):
        block = PixArtBlock()
        x, text, t = random(batch, 4096, 1152), random(batch, 300, 1152), random(batch, 6 * 1152)
        mask = torch.zeros(batch, 16, 1, 300, device=DEVICE, dtype=TYPE).expand(batch, 16, 4096, 300)
        return lambda: block(x, text, mask, t)

    def sd35(batch, dual):
        block = JointBlock(1536, 24, dual)
        x, text, t = random(batch, 4096, 1536), random(batch, 333, 1536), random(batch, 1536)
        return lambda: block(x, text, t)

    def flux(batch, single=False):
        turn, time = [random(4608, 128, dtype=torch.float32) for _ in range(2)], random(batch, 3072)
        if single:
            block, x = SingleBlock(), random(batch, 4608, 3072)
            return lambda: block(x, time, turn)
        block, x, text = JointBlock(3072, 24), random(batch, 4096, 3072), random(batch, 512, 3072)
        return lambda: block(x, text, time, turn)

    def sana(batch):
        block = SanaBlock()
        x, text, t = random(batch, 1024, 2240), random(batch, 300, 2240), random(batch, 6 * 2240)
        mask = torch.zeros(batch, 20, 1, 300, device=DEVICE, dtype=TYPE).expand(batch, 20, 1024, 300)
        return lambda: block(x, text, mask, t)

    def decoder(batch, latent):
        net, x = Decoder(latent), random(batch, latent, 128, 128)
        return lambda: net(x)

    def t5(batch, tokens):
        from transformers import T5Config, T5EncoderModel
        config = T5Config(d_model=4096, d_ff=10240, d_kv=64, num_heads=64, num_layers=4, vocab_size=32128,
                          feed_forward_proj="gated-gelu")
        with torch.device(DEVICE):
            net = T5EncoderModel(config).to(TYPE).eval()
        ids = torch.randint(0, 32000, (batch, tokens), device=DEVICE)
        return lambda: net(ids)

    def product(m, n, k, dtype, tf32=False):
        a, b = random(m, k, dtype=dtype), random(k, n, dtype=dtype)

        def run():
            torch.backends.cuda.matmul.allow_tf32 = tf32
            return a @ b
        return run

    def attention(batch, heads, tokens, size, masked=False, keys=None):
        q, k = random(batch, heads, tokens, size), random(batch, heads, keys or tokens, size)
        mask = torch.zeros(batch, heads, 1, k.shape[2], device=DEVICE, dtype=TYPE).expand(-1, -1, tokens, -1) if masked else None
        return lambda: F.scaled_dot_product_attention(q, k, k, attn_mask=mask)

    def with_kernel(backend, run):
        def only():
            with sdpa_kernel([backend]):
                return run()
        return only

    def causal_fp32(batch, heads, tokens, size):
        """Attention of GPT-like networks, operator by operator in fp32."""
        q, k, v = (random(batch, heads, tokens, size, dtype=torch.float32) for _ in range(3))
        mask = torch.ones(tokens, tokens, device=DEVICE, dtype=torch.bool).tril()

        def run():
            torch.backends.cuda.matmul.allow_tf32 = False
            w = torch.matmul(q, k.transpose(-1, -2)) / size**0.5
            return torch.matmul(F.softmax(torch.where(mask, w, torch.finfo(w.dtype).min), dim=-1), v)
        return run

    for batch in (2, 16):
        yield f"pixart-sigma block, batch {batch}", lambda batch=batch: pixart(batch)
        yield f"sd-3.5-medium block of two attentions, batch {batch}", lambda batch=batch: sd35(batch, True)
        yield f"sd-3.5-medium block of one attention, batch {batch}", lambda batch=batch: sd35(batch, False)
        yield f"sana-1.5-1.6b block, batch {batch}", lambda batch=batch: sana(batch)
    for batch in (1, 8):
        yield f"flux.1-dev double block, batch {batch}", lambda batch=batch: flux(batch)
        yield f"flux.1-dev single block, batch {batch}", lambda batch=batch: flux(batch, single=True)
        yield f"AutoencoderKL decoder 1024x1024, 4 channels, batch {batch}", lambda batch=batch: decoder(batch, 4)
        yield f"T5-XXL, 4 layers, 300 tokens, batch {batch}", lambda batch=batch: t5(batch, 300)
    kernels = {"FlashAttention-2": SDPBackend.FLASH_ATTENTION, "memory-efficient": SDPBackend.EFFICIENT_ATTENTION,
               "cuDNN": SDPBackend.CUDNN_ATTENTION}
    for kernel, backend in kernels.items():
        for batch, heads, tokens, size in ((16, 16, 4096, 32), (16, 16, 4096, 64), (16, 16, 4096, 72), (16, 16, 4096, 96),
                                           (16, 16, 4096, 128), (16, 24, 4429, 64), (8, 24, 4608, 128), (2, 24, 4429, 64)):
            yield (f"attention {batch}x{heads}x{tokens}x{size}, {kernel}",
                   lambda *shape, backend=backend, b=batch, h=heads, n=tokens, s=size: with_kernel(backend, attention(b, h, n, s)))
    for name, build in (("pixart-sigma block", lambda: pixart(16)), ("sd-3.5-medium block of two attentions", lambda: sd35(16, True)),
                        ("sana-1.5-1.6b block", lambda: sana(16)), ("flux.1-dev double block", lambda: flux(8))):
        yield f"{name}, FlashAttention-2", lambda build=build: with_kernel(kernels["FlashAttention-2"], build())
    yield "attention 16x16x4096x72, masked, 300 keys", lambda: attention(16, 16, 4096, 72, True, 300)
    yield "attention 16x16x4096x72, 300 keys", lambda: attention(16, 16, 4096, 72, False, 300)
    for m, n, k in ((65536, 1152, 1152), (65536, 4608, 1152), (65536, 1152, 4608), (65536, 1536, 1536), (65536, 6144, 1536),
                    (36864, 12288, 3072), (36864, 3072, 15360), (8192, 8192, 8192)):
        yield f"product {m}x{n}x{k} bf16", lambda m=m, n=n, k=k: product(m, n, k, torch.bfloat16)
    for m, n, k in ((4096, 6144, 2048), (4096, 8192, 2048), (4096, 2048, 8192), (16384, 8192, 2048), (2048, 10240, 2560), (8192, 8192, 8192)):
        yield f"product {m}x{n}x{k} fp32", lambda m=m, n=n, k=k: product(m, n, k, torch.float32)
        yield f"product {m}x{n}x{k} tf32", lambda m=m, n=n, k=k: product(m, n, k, torch.float32, True)
    yield "attention 2x24x2048x128 fp32, operators", lambda: causal_fp32(2, 24, 2048, 128)
    yield "attention 8x16x2048x128 fp32, operators", lambda: causal_fp32(8, 16, 2048, 128)
    small = random(64)

    def many(step):
        def run():
            for _ in range(1000):
                step()
        return run
    net = linear(64, 64)
    for name, step in (("add", lambda: small + small), ("linear", lambda: net(small)), ("layer_norm", lambda: norm(small)),
                       ("view and transpose", lambda: small.view(8, 8).transpose(0, 1))):
        yield f"host: 1000 times {name}", lambda step=step: many(step)
    for name, function in (("copy", lambda x: x.clone()), ("add", lambda x: x + x), ("gelu", lambda x: F.gelu(x, approximate="tanh")),
                           ("layer_norm", norm), ("to fp32", lambda x: x.float()), ("pow 2 of fp32", lambda x: x.float().pow(2)),
                           ("scaled by rows", lambda x: x * x[:, :1] + x[:, 1:2])):
        yield f"{name} 16x4096x1152 bf16", lambda function=function: (lambda x: lambda: function(x))(random(16, 4096, 1152))


class Meter(threading.Thread):
    """Means of power and clock while it runs."""

    def __init__(self):
        super().__init__(daemon=True)
        import pynvml
        pynvml.nvmlInit()
        self.nvml, self.gpu = pynvml, pynvml.nvmlDeviceGetHandleByIndex(0)
        self.watts, self.clocks, self.ends = [], [], threading.Event()

    def run(self):
        while not self.ends.wait(0.02):
            self.watts.append(self.nvml.nvmlDeviceGetPowerUsage(self.gpu) / 1e3)
            self.clocks.append(self.nvml.nvmlDeviceGetClockInfo(self.gpu, self.nvml.NVML_CLOCK_SM))

    def means(self):
        self.ends.set()
        self.join()
        tail = len(self.watts) // 2  # the driver's own mean lags behind
        return {"watts": statistics.fmean(self.watts[tail:] or [0]), "clock_mhz": statistics.fmean(self.clocks[tail:] or [0])}


def measure(run, seconds):
    for _ in range(3):
        run()
    torch.cuda.synchronize()
    meter = Meter()
    meter.start()
    times, until = [], time.time() + seconds
    while time.time() < until or len(times) < 5:
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        run()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end))
    result = {"ms": statistics.median(times), "executions": len(times), **meter.means()}
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        run()
        torch.cuda.synchronize()
    kernels = [(e.key[:110], e.count, round(e.self_device_time_total, 1)) for e in profile.key_averages() if e.self_device_time_total > 0]
    result["kernels"] = sorted(kernels, key=lambda k: -k[2])[:24]
    result["kernels_us"] = round(sum(k[2] for k in kernels), 1)
    return result


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--seconds", type=float, default=2)
    options.add_argument("--only", default="", help="parts whose name holds this, separated by |")
    options.add_argument("--output")
    options = options.parse_args()
    out = open(options.output, "w") if options.output else None
    print(torch.cuda.get_device_name(), torch.__version__, torch.version.cuda, flush=True)
    with torch.inference_mode():
        for name, build in parts():
            if not any(word in name for word in options.only.split("|")):
                continue
            try:
                result = {"part": name, **measure(build(), options.seconds)}
            except Exception as error:  # one part never takes the others along
                result = {"part": name, "failed": f"{type(error).__name__}: {error}"[:200]}
            torch.cuda.empty_cache()
            if out:
                out.write(json.dumps(result) + "\n")
                out.flush()
            short = {k: (round(v, 3) if isinstance(v, float) else v) for k, v in result.items() if k not in ("kernels",)}
            print(json.dumps(short), flush=True)


if __name__ == "__main__":
    main()
