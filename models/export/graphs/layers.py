"""Building blocks shared by the architecture families."""

import math

from builder import INT64, INT64_MAX


def parameter(path, leaf):
    return path.replace("/", ".") + "." + leaf


def linear(g, path, x, n_in, n_out, bias=True, out=None):
    """y = x W + b, any rank of x, as MatMul and Add."""
    weight = g.weight(parameter(path, "weight"), [n_in, n_out])
    y = g.node("MatMul", path, [x, weight], out=None if bias else out)
    if bias:
        y = g.node("Add", path, [g.weight(parameter(path, "bias"), [n_out]), y], out=out)
    return y


def layer_norm(g, path, x, width, epsilon=1e-5, out=None):
    scale = g.weight(parameter(path, "weight"), [width])
    bias = g.weight(parameter(path, "bias"), [width])
    return g.node("LayerNormalization", path, [x, scale, bias], out=out, axis=-1, epsilon=epsilon)


def gelu(g, path, x):
    """x * (1 + erf(x / sqrt 2)) / 2 (Hendrycks and Gimpel 2016), in the exporter's five nodes."""
    t = g.node("Erf", path, [g.node("Div", path, [x, g.scalar(math.sqrt(2))])])
    t = g.node("Mul", path, [x, g.node("Add", path, [t, g.scalar(1.0)])])
    return g.node("Mul", path, [t, g.scalar(0.5)])


def gelu_tanh(g, path, x):
    """The tanh approximation of GELU used by GPT-2: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))."""
    cube = g.node("Mul", path, [g.node("Pow", path, [x, g.scalar(3.0)]), g.scalar(0.044715)])
    t = g.node("Mul", path, [g.node("Add", path, [x, cube]), g.scalar(math.sqrt(2 / math.pi))])
    t = g.node("Add", path, [g.node("Tanh", path, [t]), g.scalar(1.0)])
    return g.node("Mul", path, [g.node("Mul", path, [x, g.scalar(0.5)]), t])


def quick_gelu(g, path, x):
    """x * sigmoid(1.702 x), the activation of CLIP."""
    return g.node("Mul", path, [x, g.node("Sigmoid", path, [g.node("Mul", path, [x, g.scalar(1.702)])])])


def relu(g, path, x):
    return g.node("Relu", path, [x])


def mlp(g, path, x, width, inner, activation, names=("fc1", "fc2"), activation_name="activation_fn"):
    x = linear(g, f"{path}/{names[0]}", x, width, inner)
    x = activation(g, f"{path}/{activation_name}", x)
    return linear(g, f"{path}/{names[1]}", x, inner, width)


def dimension(g, path, x, axis):
    """Size of one axis of x as an int64 scalar."""
    return g.node("Gather", path, [g.node("Shape", path, [x]), g.int_scalar(axis)], axis=0)


def split_heads(g, path, x, heads, head_dim, key=False):
    """[batch, tokens, heads * head_dim] -> [batch, heads, tokens, head_dim] (or its transpose for keys)."""
    x = g.node("Reshape", path, [x, g.ints(0, 0, heads, head_dim)])
    return g.node("Transpose", path, [x], perm=[0, 2, 3, 1] if key else [0, 2, 1, 3])


def merge_heads(g, path, x, width):
    x = g.node("Transpose", path, [x], perm=[0, 2, 1, 3])
    return g.node("Reshape", path, [x, g.ints(0, 0, width)])


def attend(g, path, q, k_transposed, v, width, head_dim, bias=None, allowed=None, scale=True):
    """softmax(q k^T / sqrt(head_dim) + bias) v as the MatMul-Softmax-MatMul chain of a plain export.

    `bias` is added to the scores; scores where the boolean `allowed` is false are masked out."""
    scores = g.node("MatMul", path, [q, k_transposed])
    if scale:
        scores = g.node("Div", path, [scores, g.scalar(math.sqrt(head_dim))])
    if bias:
        scores = g.node("Add", path, [scores, bias])
    if allowed:
        scores = g.node("Where", path, [allowed, scores, g.scalar(-1e4)])
    probabilities = g.node("Softmax", path, [scores], axis=-1)
    return merge_heads(g, path, g.node("MatMul", path, [probabilities, v]), width)


def heads_of(g, path, x, width, heads, names, biases=(True, True, True)):
    """Queries and values [batch, heads, tokens, head_dim], keys as the transpose of that."""
    q, k, v = (linear(g, f"{path}/{name}", x, width, width, bias) for name, bias in zip(names, biases))
    head_dim = width // heads
    return (
        split_heads(g, path, q, heads, head_dim),
        split_heads(g, path, k, heads, head_dim, key=True),
        split_heads(g, path, v, heads, head_dim),
    )


QKV = ("q_proj", "k_proj", "v_proj")


def self_attention(
    g, path, x, width, heads, names=QKV, output="out_proj", biases=(True, True, True), bias=None, allowed=None
):
    """Multi-head self-attention without cache, with its output projection (Vaswani et al. 2017)."""
    q, k, v = heads_of(g, path, x, width, heads, names, biases)
    context = attend(g, path, q, k, v, width, width // heads, bias=bias, allowed=allowed)
    return linear(g, f"{path}/{output}", context, width, width)


def padding_bias(g, path, attention_mask):
    """[batch, tokens] of 0/1 -> additive [batch, 1, 1, tokens]: 0 where 1, very negative where 0."""
    mask = g.node("Unsqueeze", path, [attention_mask, g.ints(1, 2)])
    mask = g.node("Cast", path, [mask], to=g.elem)
    return g.node("Mul", path, [g.node("Sub", path, [g.scalar(1.0), mask]), g.scalar(-1e4)])


def positions(g, path, past, length):
    """past, past + 1, ..., past + length - 1 as int64; both are int64 scalars."""
    total = g.node("Add", path, [past, length])
    return g.node("Range", path, [past, total, g.int_scalar(1)]), total


def causal_mask(g, path, query_positions, total):
    """Boolean [queries, total]: key position <= query position."""
    keys = g.node("Range", path, [g.int_scalar(0), total, g.int_scalar(1)])
    queries = g.node("Unsqueeze", path, [query_positions, g.ints(1)])
    return g.node("LessOrEqual", path, [keys, queries])


def cache_inputs(g, layer, heads, head_dim, length="past_sequence", middle=""):
    """Key and value caches of one layer: [batch, heads, length, head_dim]."""
    dims = ["batch", heads, length, head_dim]
    return [g.input(f"past_key_values.{layer}{middle}.{kind}", dims) for kind in ("key", "value")]


def append_cache(g, path, layer, past, new, kind, heads, head_dim, middle=""):
    """present = past ++ new along the token axis, which is also a graph output."""
    present = g.node("Concat", path, [past, new], axis=2, out=f"present.{layer}{middle}.{kind}")
    g.output(present, ["batch", heads, "past_sequence + sequence", head_dim])
    return present


def tied_head(g, path, ids, x, table, width, vocab, bias=False):
    """logits = x E^T (+ b) with the embedding table E, for every position: Gemm on flattened rows."""
    rows = g.node("Reshape", path, [x, g.ints(-1, width)])
    terms = [rows, table] + ([g.weight(parameter(path, "bias"), [vocab])] if bias else [])
    logits = g.node("Gemm", path, terms, transB=1)
    shape = g.node("Concat", path, [g.node("Shape", path, [ids]), g.ints(vocab)], axis=0)
    g.output(g.node("Reshape", path, [logits, shape], out="logits"), ["batch", "sequence", vocab])


def last_token(g, path, x):
    """Keeps the last token of each sequence: [batch, tokens, width] -> [batch, 1, width]."""
    return g.node("Slice", path, [x, g.ints(-1), g.ints(INT64_MAX), g.ints(1), g.ints(1)])


def embedding(g, path, ids, count, width):
    return g.node("Gather", path, [g.weight(parameter(path, "weight"), [count, width]), ids], axis=0)


def token_input(g, name="input_ids", sequence="sequence"):
    return g.input(name, ["batch", sequence], elem=INT64)
