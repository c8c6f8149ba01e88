"""Throughput and energy per inference against batch size, for a few devices: a table, and a picture with matplotlib.

    python3 docs/examples/batch_sweep.py [MODEL [PICTURE.png]]
"""

# %% What to compare
import sys

import numpy

import archsim

MODEL = sys.argv[1] if len(sys.argv) > 1 else "resnet50"
PICTURE = sys.argv[2] if len(sys.argv) > 2 else None
HARDWARE = ["H100", "T4", "TPU-v4", "Jetson-Orin-Nano@15W"]
BATCHES = [1, 2, 4, 8, 16, 32, 64]

# %% One array per quantity, hardware x batch
session = archsim.Session()
sweep = session.sweep(session.load(MODEL), HARDWARE, BATCHES, precision="int8")
items_per_s = sweep["throughput_per_s"]
energy_mj = 1e3 * sweep["energy_per_inference_j"]

print(f"{MODEL}, int8: inferences per second")
print(f"{'batch':>22}", *(f"{batch:>9}" for batch in BATCHES))
for name, row in zip(HARDWARE, items_per_s):
    print(f"{name:>22}", *(f"{value:9.0f}" for value in row))

# %% The smallest batch that reaches 90 % of the best throughput
for name, row in zip(HARDWARE, items_per_s):
    enough = BATCHES[int(numpy.argmax(row >= 0.9 * numpy.nanmax(row)))]
    print(f"{name}: batch {enough} reaches 90 % of the best throughput")

# %% A picture, where matplotlib is installed
if PICTURE:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4), constrained_layout=True)
    for panel, values, title in zip(axes, (items_per_s, energy_mj), ("inferences / s", "mJ / inference")):
        for name, row in zip(HARDWARE, values):
            panel.loglog(BATCHES, row, marker="o", label=name)
        panel.set_xlabel("batch size")
        panel.set_title(title)
        panel.grid(True, which="both", alpha=0.3)
    axes[0].legend()
    figure.savefig(PICTURE, dpi=120)
    print(f"wrote {PICTURE}")
