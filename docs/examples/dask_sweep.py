"""A design-space sweep on the workers of a Dask cluster: dask_sweep.py [SCHEDULER] [OUTPUT]

Without a scheduler's address the workers are processes of this machine.
"""

import sys

import archsim
from distributed import Client, LocalCluster


def main(scheduler="", output="points.csv"):
    with Client(scheduler or LocalCluster(dashboard_address=None)) as client:
        written = archsim.sweep(
            "resnet50",
            ["H100", "TPU-v4"],
            vary={"bandwidth": "0.5x..4x:log100", "clock": [0.8, 0.9, 1.0, 1.1, 1.2]},
            precisions=["fp32", "int8"],
            client=client,
            output=output,
            progress=True,
        )
    print(f"the rows are in {written}")


if __name__ == "__main__":
    main(*sys.argv[1:])
