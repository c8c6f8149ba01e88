"""Single-operator microbenchmarks: one matrix product, one convolution, one attention block."""

from builder import FLOAT, GraphBuilder
from catalogue import Entry
from layers import self_attention

SIZE, CHANNELS, IMAGE, WIDTH, HEADS = 512, 256, 56, 768, 12


def build_matmul(name):
    g = GraphBuilder(name, FLOAT)
    a = g.input("a", ["batch", SIZE, SIZE])
    g.node("MatMul", "", [a, g.weight("weight", [SIZE, SIZE])], out="y")
    g.output("y", ["batch", SIZE, SIZE])
    return g


def build_convolution(name):
    g = GraphBuilder(name, FLOAT)
    x = g.input("x", ["batch", CHANNELS, IMAGE, IMAGE])
    g.node(
        "Conv",
        "",
        [x, g.weight("weight", [CHANNELS, CHANNELS, 3, 3])],
        out="y",
        kernel_shape=[3, 3],
        strides=[1, 1],
        pads=[1, 1, 1, 1],
        dilations=[1, 1],
        group=1,
    )
    g.output("y", ["batch", CHANNELS, IMAGE, IMAGE])
    return g


def build_attention(name):
    g = GraphBuilder(name, FLOAT)
    x = self_attention(g, "attention", g.input("x", ["batch", "sequence", WIDTH]), WIDTH, HEADS)
    g.output(g.node("Identity", "attention", [x], out="y"), ["batch", "sequence", WIDTH])
    return g


COMMON = {"family": "micro", "task": "microbenchmark", "kind": "operator", "catalogue": "micro"}
ENTRIES = [
    Entry(
        name="matmul_512",
        title="Matrix product 512 x 512 x 512",
        source="definition",
        dims={"batch": 1},
        build=lambda: build_matmul("matmul_512"),
        macs_formula=f"batch*{SIZE}*{SIZE}*{SIZE}",
        published={"parameters": SIZE * SIZE, "source": "definition"},
        **COMMON,
    ),
    Entry(
        name="conv2d_3x3_256",
        title="Convolution 3 x 3, 256 channels, 56 x 56",
        dims={"batch": 1},
        source="definition; the 3 x 3 layer of a ResNet stage",
        build=lambda: build_convolution("conv2d_3x3_256"),
        macs_formula=f"batch*{IMAGE}*{IMAGE}*{CHANNELS}*{CHANNELS}*9",
        published={"parameters": CHANNELS * CHANNELS * 9, "source": "definition"},
        **COMMON,
    ),
    Entry(
        name="attention_768",
        title="Self-attention, width 768, 12 heads",
        source="definition; Vaswani et al. 2017",
        dims={"batch": 1, "sequence": 512},
        build=lambda: build_attention("attention_768"),
        macs_formula=f"batch*(4*sequence*{WIDTH}*{WIDTH} + 2*sequence*sequence*{WIDTH})",
        published={"parameters": 4 * (WIDTH * WIDTH + WIDTH), "source": "definition"},
        **COMMON,
    ),
]
