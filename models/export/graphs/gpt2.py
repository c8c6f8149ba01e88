"""GPT-2 and OPT: pre-norm decoders with learned positions and plain causal attention over a KV cache
(Radford et al. 2019; Zhang et al. 2022). Logits are computed for every position, as their exports do."""

from builder import FLOAT, GraphBuilder
from catalogue import Entry
from layers import (
    append_cache,
    attend,
    cache_inputs,
    causal_mask,
    dimension,
    embedding,
    gelu_tanh,
    layer_norm,
    linear,
    mlp,
    parameter,
    positions,
    relu,
    split_heads,
    tied_head,
    token_input,
)


def fused_qkv(g, path, x, width):
    """GPT-2's c_attn: one projection to three times the width."""
    qkv = linear(g, f"{path}/c_attn", x, width, 3 * width)
    return g.node("Split", path, [qkv, g.ints(width, width, width)], outputs=3, axis=2)


def separate_qkv(g, path, x, width):
    return [linear(g, f"{path}/{n}_proj", x, width, width) for n in "qkv"]


def attention(g, path, layer, x, c, allowed):
    width, heads = c["hidden"], c["heads"]
    head_dim = width // heads
    past_key, past_value = cache_inputs(g, layer, heads, head_dim)
    q, k, v = c["qkv"](g, path, x, width)
    q, k, v = (split_heads(g, path, t, heads, head_dim) for t in (q, k, v))
    k = append_cache(g, path, layer, past_key, k, "key", heads, head_dim)
    v = append_cache(g, path, layer, past_value, v, "value", heads, head_dim)
    k = g.node("Transpose", path, [k], perm=[0, 1, 3, 2])
    context = attend(g, path, q, k, v, width, head_dim, allowed=allowed)
    return linear(g, f"{path}/{c['attention_output']}", context, width, width)


def decoder_layer(g, path, layer, x, c, allowed):
    n, width = c["names"], c["hidden"]
    y = layer_norm(g, f"{path}/{n['norm1']}", x, width)
    x = g.node("Add", path, [attention(g, f"{path}/{n['attention']}", layer, y, c, allowed), x])
    y = layer_norm(g, f"{path}/{n['norm2']}", x, width)
    inner_path = f"{path}/{n['mlp']}" if n["mlp"] else path
    y = mlp(g, inner_path, y, width, c["inner"], c["activation"], n["fc"], n["activation"])
    return g.node("Add", path, [y, x])


def build(name, c):
    g = GraphBuilder(name, c.get("elem", FLOAT))
    width, p = c["hidden"], c["prefix"]
    ids = token_input(g)
    first_cache = "past_key_values.0.key"
    length, past = dimension(g, p, ids, 1), dimension(g, p, first_cache, 2)
    position_ids, total = positions(g, p, past, length)
    allowed = causal_mask(g, p, position_ids, total)
    if c["position_offset"]:
        position_ids = g.node("Add", p, [position_ids, g.int_scalar(c["position_offset"])])
    tokens = embedding(g, f"{p}/{c['token_table']}", ids, c["vocab"], width)
    rows = c["positions"] + c["position_offset"]
    x = g.node("Add", p, [tokens, embedding(g, f"{p}/{c['position_table']}", position_ids, rows, width)])
    for i in range(c["layers"]):
        x = decoder_layer(g, f"{p}/{c['stack']}.{i}", i, x, c, allowed)
    x = layer_norm(g, f"{p}/{c['final_norm']}", x, width)
    tied_head(g, "lm_head", ids, x, parameter(f"{p}/{c['token_table']}", "weight"), width, c["vocab"])
    return g


def macs_formula(c):
    d, inner, layers, vocab = c["hidden"], c["inner"], c["layers"], c["vocab"]
    return (
        f"batch*sequence*({layers}*(4*{d}*{d} + 2*{d}*{inner} + 2*{d}*(past_sequence + sequence))"
        f" + {d}*{vocab})"
    )


GPT2 = {
    "prefix": "transformer",
    "stack": "h",
    "token_table": "wte",
    "position_table": "wpe",
    "vocab": 50257,
    "positions": 1024,
    "position_offset": 0,
    "final_norm": "ln_f",
    "qkv": fused_qkv,
    "activation": gelu_tanh,
    "attention_output": "c_proj",
    "names": {
        "norm1": "ln_1",
        "attention": "attn",
        "norm2": "ln_2",
        "mlp": "mlp",
        "fc": ("c_fc", "c_proj"),
        "activation": "act",
    },
}
OPT = {
    "prefix": "model/decoder",
    "stack": "layers",
    "token_table": "embed_tokens",
    "position_table": "embed_positions",
    "vocab": 50272,
    "positions": 2048,
    "position_offset": 2,
    "final_norm": "final_layer_norm",
    "qkv": separate_qkv,
    "activation": relu,
    "attention_output": "out_proj",
    "names": {
        "norm1": "self_attn_layer_norm",
        "attention": "self_attn",
        "norm2": "final_layer_norm",
        "mlp": "",
        "fc": ("fc1", "fc2"),
        "activation": "activation_fn",
    },
}
CONFIGS = {
    "gpt2": GPT2 | {"layers": 12, "hidden": 768, "heads": 12, "inner": 3072},
    "gpt2-large": GPT2 | {"layers": 36, "hidden": 1280, "heads": 20, "inner": 5120},
    "opt-1.3b": OPT | {"layers": 24, "hidden": 2048, "heads": 32, "inner": 8192},
}
ABOUT = {
    "gpt2": ("GPT-2", "gpt2", 124439808, "GPT-2 configuration; MACs with the language-model head", 16.11),
    "gpt2-large": (
        "GPT-2 Large",
        "gpt2-large",
        774030080,
        "gpt2-large checkpoint; Radford et al. 2019",
        None,
    ),
    "opt-1.3b": (
        "OPT 1.3B",
        "facebook/opt-1.3b",
        1315758080,
        "facebook/opt-1.3b checkpoint; Zhang et al. 2022",
        None,
    ),
}


def llm_facts(c):
    return {
        "layers": c["layers"],
        "hidden": c["hidden"],
        "heads": c["heads"],
        "kv_heads": c["heads"],
        "head_dim": c["hidden"] // c["heads"],
        "vocab": c["vocab"],
        "max_context": c["positions"],
    }


def entry(name):
    title, model_id, parameters, source, gmacs = ABOUT[name]
    c = CONFIGS[name]
    published = {"parameters": parameters, "source": source}
    if gmacs:
        published |= {"gmacs": gmacs, "dims": {"batch": 1, "sequence": 128, "past_sequence": 0}}
    return Entry(
        name=name,
        family="opt" if "opt" in name else "gpt2",
        task="text-generation",
        kind="decoder-lm",
        title=title,
        catalogue="language",
        aliases=[] if model_id == name else [model_id],
        source=f"{model_id} config.json",
        dims={"batch": 1, "sequence": 128, "past_sequence": 0},
        build=lambda: build(name, c),
        macs_formula=macs_formula(c),
        llm=llm_facts(c),
        lm_head="/lm_head/Gemm",
        note="logits for every position, as the published forward pass computes them",
        published=published,
    )


ENTRIES = [entry(name) for name in CONFIGS]
