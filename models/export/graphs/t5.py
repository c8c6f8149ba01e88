"""T5 encoder and decoder (Raffel et al. 2020): RMS norm, learned relative position buckets, ReLU MLP without
biases, unscaled attention. The keys and values of the cross-attention depend on the encoder's output only, so
the encoder graph computes them once and the decoder graph reads them as a cache."""

import math

from builder import FLOAT, GraphBuilder, INT64
from catalogue import Entry, part
from layers import (
    append_cache,
    attend,
    cache_inputs,
    causal_mask,
    dimension,
    embedding,
    linear,
    padding_bias,
    parameter,
    positions,
    split_heads,
    tied_head,
    token_input,
)

CONFIG = {
    "layers": 6,
    "hidden": 512,
    "heads": 8,
    "head_dim": 64,
    "inner": 2048,
    "vocab": 32128,
    "buckets": 32,
    "max_distance": 128,
}


def rms_norm(g, path, x, width):
    """x / sqrt(mean(x^2) + 1e-6) * weight, in the exporter's nodes."""
    square = g.node("Pow", path, [x, g.scalar(2.0)])
    mean = g.node("Add", path, [g.node("ReduceMean", path, [square], axes=[-1]), g.scalar(1e-6)])
    x = g.node("Div", path, [x, g.node("Sqrt", path, [mean])])
    return g.node("Mul", path, [g.weight(parameter(path, "weight"), [width]), x])


def buckets_of(g, path, distance, count, max_distance):
    """Bucket of each distance >= 0: one per distance up to count / 2, then logarithmic up to max_distance."""
    exact = count // 2
    real = g.node("Div", path, [g.node("Cast", path, [distance], to=g.elem), g.scalar(float(exact))])
    growth = (count - exact) / math.log(max_distance / exact)
    steps = g.node("Mul", path, [g.node("Log", path, [real]), g.scalar(growth)])
    large = g.node("Add", path, [g.node("Cast", path, [steps], to=INT64), g.int_scalar(exact)])
    large = g.node("Min", path, [large, g.int_scalar(count - 1)])
    near = g.node("Less", path, [distance, g.int_scalar(exact)])
    return g.node("Where", path, [near, distance, large])


def relative_bias(g, path, query_positions, total, c, bidirectional):
    """Score bias [1, heads, queries, keys] from the table of relative position buckets."""
    keys = g.node("Range", path, [g.int_scalar(0), total, g.int_scalar(1)])
    queries = g.node("Unsqueeze", path, [query_positions, g.ints(1)])
    relative = g.node("Sub", path, [keys, queries])
    if bidirectional:
        half = c["buckets"] // 2
        after = g.node("Cast", path, [g.node("Greater", path, [relative, g.int_scalar(0)])], to=INT64)
        offset = g.node("Mul", path, [after, g.int_scalar(half)])
        near = buckets_of(g, path, g.node("Abs", path, [relative]), half, c["max_distance"])
        bucket = g.node("Add", path, [offset, near])
    else:
        behind = g.node("Neg", path, [g.node("Min", path, [relative, g.int_scalar(0)])])
        bucket = buckets_of(g, path, behind, c["buckets"], c["max_distance"])
    bias = embedding(g, f"{path}/relative_attention_bias", bucket, c["buckets"], c["heads"])
    return g.node("Unsqueeze", path, [g.node("Transpose", path, [bias], perm=[2, 0, 1]), g.ints(0)])


def project(g, path, name, x, c, key=False):
    y = linear(g, f"{path}/{name}", x, c["hidden"], c["heads"] * c["head_dim"], bias=False)
    return split_heads(g, path, y, c["heads"], c["head_dim"], key=key)


def finish(g, path, q, k, v, c, **options):
    inner = c["heads"] * c["head_dim"]
    context = attend(g, path, q, k, v, inner, c["head_dim"], scale=False, **options)
    return linear(g, f"{path}/o", context, inner, c["hidden"], bias=False)


def feed_forward(g, path, x, c):
    y = rms_norm(g, f"{path}/layer_norm", x, c["hidden"])
    y = linear(g, f"{path}/DenseReluDense/wi", y, c["hidden"], c["inner"], bias=False)
    y = g.node("Relu", f"{path}/DenseReluDense/act", [y])
    return g.node(
        "Add", path, [x, linear(g, f"{path}/DenseReluDense/wo", y, c["inner"], c["hidden"], bias=False)]
    )


def build_encoder(name, c):
    g = GraphBuilder(name, FLOAT)
    ids = token_input(g)
    mask = g.input("attention_mask", ["batch", "sequence"], elem=INT64)
    x = g.node(
        "Gather", "encoder/embed_tokens", [g.weight("shared.weight", [c["vocab"], c["hidden"]]), ids], axis=0
    )
    length = dimension(g, "encoder", ids, 1)
    query_positions, total = positions(g, "encoder", g.int_scalar(0), length)
    first = "encoder/block.0/layer.0/SelfAttention"
    bias = relative_bias(g, first, query_positions, total, c, bidirectional=True)
    bias = g.node("Add", first, [bias, padding_bias(g, "encoder", mask)])
    for i in range(c["layers"]):
        path = f"encoder/block.{i}/layer.0"
        y = rms_norm(g, f"{path}/layer_norm", x, c["hidden"])
        inner = f"{path}/SelfAttention"
        q, k, v = (
            project(g, inner, "q", y, c),
            project(g, inner, "k", y, c, key=True),
            project(g, inner, "v", y, c),
        )
        x = g.node("Add", path, [x, finish(g, inner, q, k, v, c, bias=bias)])
        x = feed_forward(g, f"encoder/block.{i}/layer.1", x, c)
    x = rms_norm(g, "encoder/final_layer_norm", x, c["hidden"])
    for i in range(c["layers"]):
        path = f"decoder/block.{i}/layer.1/EncDecAttention"
        for kind, letter in (("key", "k"), ("value", "v")):
            cache = g.node(
                "Identity", path, [project(g, path, letter, x, c)], out=f"present.{i}.encoder.{kind}"
            )
            g.output(cache, ["batch", c["heads"], "sequence", c["head_dim"]])
    g.output(g.node("Identity", "encoder", [x], out="last_hidden_state"), ["batch", "sequence", c["hidden"]])
    return g


def decoder_self_attention(g, i, x, c, bias, allowed):
    path = f"decoder/block.{i}/layer.0"
    inner = f"{path}/SelfAttention"
    y = rms_norm(g, f"{path}/layer_norm", x, c["hidden"])
    past_key, past_value = cache_inputs(g, i, c["heads"], c["head_dim"], middle=".decoder")
    q = project(g, inner, "q", y, c)
    k = append_cache(
        g, inner, i, past_key, project(g, inner, "k", y, c), "key", c["heads"], c["head_dim"], ".decoder"
    )
    v = append_cache(
        g, inner, i, past_value, project(g, inner, "v", y, c), "value", c["heads"], c["head_dim"], ".decoder"
    )
    k = g.node("Transpose", inner, [k], perm=[0, 1, 3, 2])
    return g.node("Add", path, [x, finish(g, inner, q, k, v, c, bias=bias, allowed=allowed)])


def decoder_cross_attention(g, i, x, c, bias):
    path = f"decoder/block.{i}/layer.1"
    inner = f"{path}/EncDecAttention"
    y = rms_norm(g, f"{path}/layer_norm", x, c["hidden"])
    key, value = cache_inputs(g, i, c["heads"], c["head_dim"], "encoder_sequence", ".encoder")
    k = g.node("Transpose", inner, [key], perm=[0, 1, 3, 2])
    return g.node("Add", path, [x, finish(g, inner, project(g, inner, "q", y, c), k, value, c, bias=bias)])


def build_decoder(name, c):
    g = GraphBuilder(name, FLOAT)
    ids = token_input(g)
    mask = g.input("encoder_attention_mask", ["batch", "encoder_sequence"], elem=INT64)
    table = g.weight("shared.weight", [c["vocab"], c["hidden"]])
    x = g.node("Gather", "decoder/embed_tokens", [table, ids], axis=0)
    past = dimension(g, "decoder", "past_key_values.0.decoder.key", 2)
    query_positions, total = positions(g, "decoder", past, dimension(g, "decoder", ids, 1))
    allowed = causal_mask(g, "decoder", query_positions, total)
    bias = relative_bias(
        g, "decoder/block.0/layer.0/SelfAttention", query_positions, total, c, bidirectional=False
    )
    cross_bias = padding_bias(g, "decoder", mask)
    for i in range(c["layers"]):
        x = decoder_self_attention(g, i, x, c, bias, allowed)
        x = decoder_cross_attention(g, i, x, c, cross_bias)
        x = feed_forward(g, f"decoder/block.{i}/layer.2", x, c)
    x = rms_norm(g, "decoder/final_layer_norm", x, c["hidden"])
    x = g.node("Mul", "lm_head", [x, g.scalar(c["hidden"] ** -0.5)])
    tied_head(g, "lm_head", ids, x, table, c["hidden"], c["vocab"])
    return g


def encoder_macs(c):
    d, a, f, n = c["hidden"], c["heads"] * c["head_dim"], c["inner"], c["layers"]
    return f"batch*{n}*(sequence*(4*{d}*{a} + 2*{d}*{f} + 2*{d}*{a}) + 2*sequence*sequence*{a})"


def decoder_macs(c):
    d, a, f, n = c["hidden"], c["heads"] * c["head_dim"], c["inner"], c["layers"]
    return (
        f"batch*sequence*({n}*(6*{d}*{a} + 2*{d}*{f} + 2*{a}*(past_sequence + sequence)"
        f" + 2*{a}*encoder_sequence) + {d}*{c['vocab']})"
    )


SOURCE = "t5-small config.json; Raffel et al. 2020"
COMMON = {"family": "t5", "source": SOURCE, "catalogue": "language"}
ENTRIES = [
    Entry(
        name="t5-small-encoder",
        task="text-encoder",
        kind="encoder",
        title="T5-small encoder",
        dims={"batch": 1, "sequence": 128},
        build=lambda: build_encoder("t5-small-encoder", CONFIG),
        macs_formula=encoder_macs(CONFIG),
        note="with the key and value projections of the decoder's cross-attention",
        published={
            "parameters": 38476544,
            "source": "closed formula: encoder 35,330,816 (Raffel et al. 2020 "
            "configuration) and 6 x 2 x 512 x 512 of the decoder's cross-attention",
        },
        **COMMON,
    ),
    Entry(
        name="t5-small-decoder",
        task="text-generation",
        kind="decoder",
        title="T5-small decoder",
        dims={"batch": 1, "sequence": 1, "past_sequence": 64, "encoder_sequence": 128},
        build=lambda: build_decoder("t5-small-decoder", CONFIG),
        macs_formula=decoder_macs(CONFIG),
        lm_head="/lm_head/Gemm",
        note="keys and values of the cross-attention are inputs",
        published={
            "parameters": 38479616,
            "source": "closed formula: decoder 41,625,344 (Raffel et al. 2020 "
            "configuration) less 6 x 2 x 512 x 512 that the encoder graph holds",
        },
        **COMMON,
    ),
    Entry(
        name="t5-small",
        task="text-to-text",
        kind="encoder-decoder",
        title="T5-small",
        aliases=["google-t5/t5-small"],
        dims={"batch": 1, "sequence": 128},
        parts=[
            part("encoder", "t5-small-encoder"),
            part("decoder", "t5-small-decoder", repeat=128, sequence=1, past_sequence=64),
        ],
        note="128 input tokens, 128 output tokens one by one at the mean cache length; the parts share "
        "shared.weight",
        published={"parameters": 60506624, "source": "t5-small checkpoint"},
        **COMMON,
    ),
]
