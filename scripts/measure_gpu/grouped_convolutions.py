#!/usr/bin/env python3
"""Times grouped 3x3 convolutions of PyTorch on one GPU by the width of a group, blocks of RegNets made of them, and int8 products.

    python3 scripts/measure_gpu/grouped_convolutions.py

Needs an NVIDIA GPU and PyTorch 2.5 or newer, which the project does not install. Prints one JSON line for each part: milliseconds
(median of executions timed by events) and microseconds of its kernels by name (one profiled execution).
"""
import json, statistics as st, time
import torch
from torch import nn

H, C = torch.float16, torch.channels_last
torch.backends.cudnn.benchmark = True
rand = lambda *s, t=H: torch.randn(*s, device="cuda").to(t)


@torch.inference_mode()
def show(part, run):
    try:
        for _ in range(3):
            run()
        torch.cuda.synchronize()
        ms = []
        for _ in range(9):
            a, b = (torch.cuda.Event(enable_timing=True) for _ in "ab")
            a.record(), run(), b.record(), b.synchronize()
            ms.append(a.elapsed_time(b))
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as p:
            run(), torch.cuda.synchronize()
        names = [[e.key[:110], e.count, round(e.self_device_time_total)] for e in p.key_averages() if e.self_device_time_total]
        print(json.dumps({"part": part, "ms": round(st.median(ms), 4), "kernels": sorted(names, key=lambda n: -n[2])[:7]}), flush=True)
    except Exception as e:
        print(json.dumps({"part": part, "error": str(e)[:200]}), flush=True)


class Block(nn.Module):
    def __init__(s, c, w):
        super().__init__()
        s.net = nn.Sequential(*(m for i in range(3) for m in (
            nn.Conv2d(c, c, 1 + 2 * (i == 1), padding=int(i == 1), groups=c // w if i == 1 else 1, bias=False),
            nn.BatchNorm2d(c), nn.ReLU() if i < 2 else nn.Identity())))

    def forward(s, x):
        return torch.relu(x + s.net(x))


print(torch.cuda.get_device_name(), torch.__version__, torch.backends.cudnn.version())
for side, channels in (28, 336), (14, 1008):
    for w in 8, 16, 24, 32, 40, 48, 56, 64, 112, 128:
        c = w * round(channels / w)
        for order in "NCHW", "NHWC":
            f = torch.contiguous_format if order == "NCHW" else C
            x, m = rand(128, c, side, side).to(memory_format=f), nn.Conv2d(c, c, 3, padding=1, groups=c // w, bias=False)
            m = m.cuda().half().to(memory_format=f)
            show(f"grouped {c} in {w}, side {side}, {order}", lambda: m(x))
for c in 24, 32, 40, 48, 56, 64, 96, 128:
    x, m = rand(128, c, 56, 56).to(memory_format=C), nn.Conv2d(c, c, 3, padding=1, bias=False).cuda().half().to(memory_format=C)
    show(f"plain {c}, side 56, NHWC", lambda: m(x))
for m in 16, 64, 256, 1024, 4096, 8192:
    for n, k in (4096, 4096), (14336, 4096), (4096, 14336):
        a, b = rand(m, k), rand(n, k).t()
        show(f"product {m}x{n}x{k} fp16", lambda: a @ b)
        if m > 16:
            i, j = (torch.randint(-99, 99, t.shape[::s], device="cuda", dtype=torch.int8) for t, s in ((a, 1), (b, -1)))
            show(f"product {m}x{n}x{k} int8", lambda: torch._int_mm(i, j.t()))
end = time.time() + 170
for c, w in (1008, 16), (1008, 24), (1008, 48), (1008, 112):
    net = nn.Sequential(*(Block(c, w) for _ in range(2))).cuda().eval()
    for mode, run in ("eager", net), ("compiled", torch.compile(net)):
        for order, f in ("NCHW", torch.contiguous_format), ("NHWC", C):
            x = rand(128, c, 14, 14, t=torch.float32).to(memory_format=f)

            def step():
                with torch.autocast("cuda", H):
                    return run(x)
            if time.time() < end:
                show(f"two blocks {c} in {w}, {mode}, {order}", step)
