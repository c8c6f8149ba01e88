"""DLRM version 2 (Naumov et al. 2019; Wang et al. 2021 for the crossing): the recommendation network of MLPerf.

Numbers of a click pass a small network, categories are rows of tables that are summed, and a cross network of low rank
multiplies all of them with each other before the network that says how likely the click is.
"""

from builder import FLOAT, INT64, GraphBuilder
from catalogue import Entry
from layers import linear

DENSE, WIDTH = 13, 128
# Rows of each table and how many of them one click asks for (Criteo's data with several rows a category).
ROWS = [40000000, 39060, 17295, 7424, 20265, 3, 7122, 1543, 63, 40000000, 3067956, 405282, 10, 2209, 11938, 155, 4, 976,
        14, 40000000, 40000000, 40000000, 590152, 12973, 108, 36]  # fmt: skip
ASKED = [3, 2, 1, 2, 6, 1, 1, 1, 1, 7, 3, 8, 1, 6, 9, 5, 1, 1, 1, 12, 100, 27, 10, 3, 1, 1]
BOTTOM, TOP = [512, 256, WIDTH], [1024, 1024, 512, 256, 1]
CROSSINGS, RANK = 3, 512
CROSSED = (len(ROWS) + 1) * WIDTH


def build(name):
    g = GraphBuilder(name, FLOAT)
    x, inputs = g.input("dense", ["batch", DENSE]), DENSE
    for i, outputs in enumerate(BOTTOM):
        x = g.node("Relu", f"dense_arch/{i}", [linear(g, f"dense_arch/{i}", x, inputs, outputs)])
        inputs = outputs
    parts = [x]
    for i, (rows, asked) in enumerate(zip(ROWS, ASKED)):
        path = f"sparse_arch/t_cat_{i}"
        indices = g.input(f"cat_{i}", ["batch", asked], INT64)
        found = g.node("Gather", path, [g.weight(f"sparse_arch.t_cat_{i}.weight", [rows, WIDTH]), indices], axis=0)
        parts.append(g.node("ReduceSum", path, [found, g.ints(1)], keepdims=0))
    first = x = g.node("Concat", "inter_arch", parts, axis=1)
    for i in range(CROSSINGS):
        path = f"inter_arch/crossnet/{i}"
        low = linear(g, f"{path}/V", x, CROSSED, RANK, bias=False)
        high = linear(g, f"{path}/W", low, RANK, CROSSED)
        x = g.node("Add", path, [g.node("Mul", path, [first, high]), x])
    inputs = CROSSED
    for i, outputs in enumerate(TOP):
        x = linear(g, f"over_arch/{i}", x, inputs, outputs)
        if i + 1 < len(TOP):
            x = g.node("Relu", f"over_arch/{i}", [x])
        inputs = outputs
    g.output(g.node("Sigmoid", "", [x], out="probability"), ["batch", 1])
    return g


def pairs(sizes):
    return list(zip(sizes, sizes[1:]))


LAYERS = pairs([DENSE, *BOTTOM]) + pairs([CROSSED, *TOP])
PARAMETERS = (
    WIDTH * sum(ROWS)
    + sum(a * b + b for a, b in LAYERS)
    + CROSSINGS * (2 * CROSSED * RANK + CROSSED)
)
ENTRIES = [
    Entry(
        name="dlrm-v2",
        family="dlrm",
        task="recommendation",
        kind="network",
        catalogue="multimodal",
        title="DLRM v2 (MLPerf, Criteo multi-hot)",
        aliases=["dlrm", "dlrm-dcnv2", "dlrm_v2", "dlrm-v2-99"],
        dims={"batch": 1},
        source="torchrec DLRM_DCN with MLPerf's sizes of Criteo's multi-hot data (github.com/mlcommons/inference, recommendation/dlrm_v2)",
        build=lambda: build("dlrm-v2"),
        macs_formula="batch*("
        + " + ".join(f"{a}*{b}" for a, b in LAYERS)
        + f" + {CROSSINGS}*2*{CROSSED}*{RANK})",
        published={
            "parameters": PARAMETERS,
            "source": "follows from the configuration; MLPerf states 97.31 GB of weights in fp32 (GiB)",
        },
    ),
]
