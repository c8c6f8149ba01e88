"""LLaMA-like decoders: RMS norm, rotary positions, grouped-query attention, gated SiLU MLP or experts
(Touvron et al. 2023, Jiang et al. 2023 and 2024, Bai et al. 2023).

Attention is ONNX Runtime's GroupQueryAttention with rotary positions inside, the norms its
SimplifiedLayerNormalization (in the default domain, as that runtime registers it) and
SkipSimplifiedLayerNormalization, which adds the residual, and experts its MoE operator. The head sees the
last token of each sequence only, as serving stacks compute it.
"""

from builder import FLOAT16, GraphBuilder, INT32, MICROSOFT
from layers import dimension, last_token, linear, parameter, token_input

NORM_EPSILON = 1e-5


def sequence_lengths(g, path, ids):
    """GroupQueryAttention's int32 inputs: last key index of each sequence, and the total length."""
    batch, length = dimension(g, path, ids, 0), dimension(g, path, ids, 1)
    total = g.node("Add", path, [dimension(g, path, "past_key_values.0.key", 2), length])
    last = g.node("Cast", path, [g.node("Sub", path, [total, g.int_scalar(1)])], to=INT32)
    seqlens = g.node("Expand", path, [last, g.node("Unsqueeze", path, [batch, g.ints(0)])])
    return seqlens, g.node("Cast", path, [total], to=INT32)


def attention(g, path, layer, x, c, lengths):
    d, h, kv, hd = c["hidden"], c["heads"], c["kv_heads"], c["head_dim"]
    q = linear(g, f"{path}/q_proj", x, d, h * hd, bias=c["qkv_bias"])
    k = linear(g, f"{path}/k_proj", x, d, kv * hd, bias=c["qkv_bias"])
    v = linear(g, f"{path}/v_proj", x, d, kv * hd, bias=c["qkv_bias"])
    past = [
        g.input(f"past_key_values.{layer}.{kind}", ["batch", kv, "past_sequence", hd])
        for kind in ("key", "value")
    ]
    tables = [
        g.weight(f"{kind}_cache", [c["max_context"], c.get("rotary_dim", hd) // 2]) for kind in ("cos", "sin")
    ]
    present = [f"present.{layer}.key", f"present.{layer}.value"]
    options = {"local_window_size": c["window"]} if c.get("window") else {}
    y, *_ = g.node(
        "GroupQueryAttention",
        path,
        [q, k, v, *past, *lengths, *tables],
        domain=MICROSOFT,
        out=[f"/{path}/GroupQueryAttention", *present],
        num_heads=h,
        kv_num_heads=kv,
        do_rotary=1,
        rotary_interleaved=c.get("rotary_interleaved", 0),
        **options,
    )
    for name in present:
        g.output(name, ["batch", kv, "past_sequence + sequence", hd])
    return linear(g, f"{path}/{c.get('attention_output', 'o_proj')}", y, h * hd, d, bias=False)


def gated_mlp(g, path, x, c):
    gate = linear(g, f"{path}/gate_proj", x, c["hidden"], c["inner"], bias=False)
    up = linear(g, f"{path}/up_proj", x, c["hidden"], c["inner"], bias=False)
    gate = g.node("Mul", f"{path}/act_fn", [gate, g.node("Sigmoid", f"{path}/act_fn", [gate])])
    return linear(
        g, f"{path}/down_proj", g.node("Mul", path, [gate, up]), c["inner"], c["hidden"], bias=False
    )


def experts(g, path, x, c):
    """Mixture of experts: a router scores every expert, each token runs through the best `active_experts`."""
    d, inner, n = c["hidden"], c["inner"], c["experts"]
    rows = g.node("Reshape", f"{path}/gate", [x, g.ints(-1, d)])
    scores = linear(g, f"{path}/gate", rows, d, n, bias=False)
    fc1 = g.weight(parameter(path, "experts.w1.weight"), [n, d, inner])
    fc2 = g.weight(parameter(path, "experts.w2.weight"), [n, inner, d])
    fc3 = g.weight(parameter(path, "experts.w3.weight"), [n, d, inner])
    return g.node(
        "MoE",
        f"{path}/experts",
        [x, scores, fc1, "", fc2, "", fc3],
        domain=MICROSOFT,
        k=c["active_experts"],
        activation_type="silu",
        normalize_routing_weights=1,
    )


def rms_norm(g, path, x, width):
    return g.node(
        "SimplifiedLayerNormalization",
        path,
        [x, g.weight(parameter(path, "weight"), [width])],
        axis=-1,
        epsilon=NORM_EPSILON,
        stash_type=1,
    )


def add_and_norm(g, path, x, residual, width, keep_sum=True):
    """Returns the norm of x + residual, and that sum."""
    flags = (True, False, False, True) if keep_sum else 1
    result = g.node(
        "SkipSimplifiedLayerNormalization",
        path,
        [x, residual, g.weight(parameter(path, "weight"), [width])],
        outputs=flags,
        domain=MICROSOFT,
        epsilon=NORM_EPSILON,
    )
    return (result[0], result[3]) if keep_sum else (result, None)


def language_head(g, path, x, c, table):
    """Logits of the last token; a tied head multiplies by the transposed embedding table."""
    x, vocab = last_token(g, path, x), c["vocab"]
    if c["tied"]:
        rows = g.node("Reshape", path, [x, g.ints(-1, c["hidden"])])
        logits = g.node("Gemm", path, [rows, table], transB=1)
        g.node("Unsqueeze", path, [logits, g.ints(1)], out="logits")
    else:
        linear(g, path, x, c["hidden"], vocab, bias=False, out="logits")
    g.output("logits", ["batch", 1, vocab])


def decoder(g, prefix, c, insert=None):
    """The decoder under module `prefix` ("" or ending in "/"); `insert` may edit the token embeddings."""
    model, width = f"{prefix}model", c["hidden"]
    ids = token_input(g)
    table = g.weight(parameter(f"{model}/embed_tokens", "weight"), [c["vocab"], width])
    residual = g.node("Gather", f"{model}/embed_tokens", [table, ids], axis=0)
    if insert:
        residual = insert(residual)
    lengths = sequence_lengths(g, model, ids)
    x = rms_norm(g, f"{model}/layers.0/input_layernorm", residual, width)
    for i in range(c["layers"]):
        path = f"{model}/layers.{i}"
        x = attention(g, f"{path}/self_attn", i, x, c, lengths)
        x, residual = add_and_norm(g, f"{path}/post_attention_layernorm", x, residual, width)
        x = (
            experts(g, f"{path}/block_sparse_moe", x, c)
            if c.get("experts")
            else gated_mlp(g, f"{path}/mlp", x, c)
        )
        last = i + 1 == c["layers"]
        norm = f"{model}/norm" if last else f"{model}/layers.{i + 1}/input_layernorm"
        x, residual = add_and_norm(g, norm, x, residual, width, keep_sum=not last)
    language_head(g, f"{prefix}lm_head", x, c, table)


def build(name, c):
    g = GraphBuilder(name, FLOAT16)
    decoder(g, "", c)
    return g


def head_node(c, prefix=""):
    return f"/{prefix}lm_head/" + ("Gemm" if c["tied"] else "MatMul")


def macs_formula(c):
    """Projections and MLP per token, one head row per sequence, causal attention: query i of the step sees
    past_sequence + i keys, i = 1..sequence."""
    d, h, kv, hd, inner = c["hidden"], c["heads"], c["kv_heads"], c["head_dim"], c["inner"]
    mlp = f"3*{d}*{inner}"
    if c.get("experts"):
        mlp = f"{c['active_experts']}*{mlp} + {d}*{c['experts']}"
    return (
        f"batch*({c['layers']}*(sequence*({d}*{h + 2 * kv}*{hd} + {h}*{hd}*{d} + {mlp})"
        f" + 2*{h}*{hd}*(sequence*past_sequence + sequence*(sequence + 1)/2)) + {d}*{c['vocab']})"
    )


def llm_facts(c):
    keys = (
        "layers",
        "hidden",
        "heads",
        "kv_heads",
        "head_dim",
        "vocab",
        "max_context",
        "experts",
        "active_experts",
        "window",
    )
    return {key: c[key] for key in keys if c.get(key)}
