"""Whisper encoder and decoder (Radford et al. 2022). The keys and values of the cross-attention depend on the
encoder's output only, so the encoder graph computes them once per 30 s of audio and the decoder graph reads
them as a cache (as published on-device deployments do)."""

from builder import FLOAT, GraphBuilder
from catalogue import Entry, part
from layers import (
    append_cache,
    attend,
    cache_inputs,
    causal_mask,
    dimension,
    embedding,
    gelu,
    layer_norm,
    linear,
    mlp,
    parameter,
    positions,
    self_attention,
    split_heads,
    tied_head,
    token_input,
)

FRAMES, AUDIO_TOKENS = 3000, 1500
MAX_TOKENS = 448
KEY_WITHOUT_BIAS = (True, False, True)
# Sizes of encoder and decoder; "decoder_layers" where the decoder has fewer; the first releases have 80 bands and
# 51865 tokens.
FIRST = {"mels": 80, "vocab": 51865}
THIRD = {"mels": 128, "vocab": 51866}
LARGE = {"layers": 32, "hidden": 1280, "heads": 20, "inner": 5120}
CONFIGS = {
    "whisper-tiny": FIRST | {"layers": 4, "hidden": 384, "heads": 6, "inner": 1536},
    "whisper-base": FIRST | {"layers": 6, "hidden": 512, "heads": 8, "inner": 2048},
    "whisper-small": FIRST | {"layers": 12, "hidden": 768, "heads": 12, "inner": 3072},
    "whisper-medium": FIRST | {"layers": 24, "hidden": 1024, "heads": 16, "inner": 4096},
    "whisper-large-v2": FIRST | LARGE,
    "whisper-large-v3": THIRD | LARGE,
    "whisper-large-v3-turbo": THIRD | LARGE | {"decoder_layers": 4},
    "distil-whisper-large-v3": THIRD | LARGE | {"decoder_layers": 2},
}
# Title, parameters of the checkpoint or in millions as published, names people type.
ABOUT = {
    "whisper-tiny": ("Whisper tiny", 37760640, ["openai/whisper-tiny"]),
    "whisper-base": ("Whisper base", 72593920, ["openai/whisper-base"]),
    "whisper-small": ("Whisper small", 241734912, ["openai/whisper-small", "whisper_small", "whisper"]),
    "whisper-medium": ("Whisper medium", 769e6, ["openai/whisper-medium"]),
    "whisper-large-v2": ("Whisper large v2", 1550e6, ["openai/whisper-large-v2", "openai/whisper-large"]),
    "whisper-large-v3": ("Whisper large v3", 1550e6, ["openai/whisper-large-v3"]),
    "whisper-large-v3-turbo": (
        "Whisper large v3 turbo",
        809e6,
        ["openai/whisper-large-v3-turbo", "whisper-turbo", "whisper_large_v3_turbo"],
    ),
    "distil-whisper-large-v3": (
        "Distil-Whisper large v3",
        756e6,
        ["distil-whisper/distil-large-v3", "distil-large-v3"],
    ),
}


def decoder_layers(c):
    return c.get("decoder_layers", c["layers"])


def convolution(g, path, x, c_in, c_out, stride):
    weight, bias = g.weight(parameter(path, "weight"), [c_out, c_in, 3]), g.weight(
        parameter(path, "bias"), [c_out]
    )
    return g.node(
        "Conv",
        path,
        [x, weight, bias],
        kernel_shape=[3],
        strides=[stride],
        pads=[1, 1],
        dilations=[1],
        group=1,
    )


def build_encoder(name, c):
    g, d = GraphBuilder(name, FLOAT), c["hidden"]
    head_dim = d // c["heads"]
    p = "model/encoder"
    mel = g.input("input_features", ["batch", c["mels"], FRAMES])
    x = gelu(g, p, convolution(g, f"{p}/conv1", mel, c["mels"], d, 1))
    x = gelu(g, p, convolution(g, f"{p}/conv2", x, d, d, 2))
    x = g.node("Transpose", p, [x], perm=[0, 2, 1])
    x = g.node("Add", p, [x, g.weight(parameter(f"{p}/embed_positions", "weight"), [AUDIO_TOKENS, d])])
    for i in range(c["layers"]):
        path = f"{p}/layers.{i}"
        y = layer_norm(g, f"{path}/self_attn_layer_norm", x, d)
        x = g.node(
            "Add",
            path,
            [x, self_attention(g, f"{path}/self_attn", y, d, c["heads"], biases=KEY_WITHOUT_BIAS)],
        )
        y = layer_norm(g, f"{path}/final_layer_norm", x, d)
        x = g.node("Add", path, [x, mlp(g, path, y, d, c["inner"], gelu)])
    x = layer_norm(g, f"{p}/layer_norm", x, d, out="last_hidden_state")
    g.output(x, ["batch", AUDIO_TOKENS, d])
    for i in range(decoder_layers(c)):
        path = f"model/decoder/layers.{i}/encoder_attn"
        for kind, bias in (("key", False), ("value", True)):
            y = linear(g, f"{path}/{kind[0]}_proj", x, d, d, bias)
            y = g.node("Reshape", path, [y, g.ints(0, 0, c["heads"], head_dim)])
            cache = g.node("Transpose", path, [y], perm=[0, 2, 1, 3], out=f"present.{i}.encoder.{kind}")
            g.output(cache, ["batch", c["heads"], AUDIO_TOKENS, head_dim])
    return g


def decoder_self_attention(g, path, layer, x, c, allowed):
    d, heads = c["hidden"], c["heads"]
    head_dim = d // heads
    q, k, v = (
        split_heads(g, path, linear(g, f"{path}/{n}_proj", x, d, d, bias), heads, head_dim)
        for n, bias in zip("qkv", KEY_WITHOUT_BIAS)
    )
    past_key, past_value = cache_inputs(g, layer, heads, head_dim, middle=".decoder")
    k = append_cache(g, path, layer, past_key, k, "key", heads, head_dim, ".decoder")
    v = append_cache(g, path, layer, past_value, v, "value", heads, head_dim, ".decoder")
    k = g.node("Transpose", path, [k], perm=[0, 1, 3, 2])
    return linear(g, f"{path}/out_proj", attend(g, path, q, k, v, d, head_dim, allowed=allowed), d, d)


def decoder_cross_attention(g, path, layer, x, c):
    d, heads = c["hidden"], c["heads"]
    head_dim = d // heads
    q = split_heads(g, path, linear(g, f"{path}/q_proj", x, d, d), heads, head_dim)
    key, value = cache_inputs(g, layer, heads, head_dim, AUDIO_TOKENS, ".encoder")
    k = g.node("Transpose", path, [key], perm=[0, 1, 3, 2])
    return linear(g, f"{path}/out_proj", attend(g, path, q, k, value, d, head_dim), d, d)


def build_decoder(name, c):
    g, d = GraphBuilder(name, FLOAT), c["hidden"]
    p = "model/decoder"
    ids = token_input(g)
    past = dimension(g, p, "past_key_values.0.decoder.key", 2)
    query_positions, total = positions(g, p, past, dimension(g, p, ids, 1))
    allowed = causal_mask(g, p, query_positions, total)
    x = g.node(
        "Add",
        p,
        [
            embedding(g, f"{p}/embed_tokens", ids, c["vocab"], d),
            embedding(g, f"{p}/embed_positions", query_positions, MAX_TOKENS, d),
        ],
    )
    for i in range(decoder_layers(c)):
        path = f"{p}/layers.{i}"
        y = layer_norm(g, f"{path}/self_attn_layer_norm", x, d)
        x = g.node("Add", path, [x, decoder_self_attention(g, f"{path}/self_attn", i, y, c, allowed)])
        y = layer_norm(g, f"{path}/encoder_attn_layer_norm", x, d)
        x = g.node("Add", path, [x, decoder_cross_attention(g, f"{path}/encoder_attn", i, y, c)])
        y = layer_norm(g, f"{path}/final_layer_norm", x, d)
        x = g.node("Add", path, [x, mlp(g, path, y, d, c["inner"], gelu)])
    x = layer_norm(g, f"{p}/layer_norm", x, d)
    tied_head(g, "proj_out", ids, x, parameter(f"{p}/embed_tokens", "weight"), d, c["vocab"])
    return g


def encoder_macs(c):
    d, f, n, t = c["hidden"], c["inner"], c["layers"], AUDIO_TOKENS
    return (
        f"batch*({FRAMES}*3*{c['mels']}*{d} + {t}*3*{d}*{d} + {n}*({t}*(4*{d}*{d} + 2*{d}*{f}) + 2*{t}*{t}*{d})"
        f" + {decoder_layers(c)}*{t}*2*{d}*{d})"
    )


def decoder_macs(c):
    d, f, n = c["hidden"], c["inner"], decoder_layers(c)
    return (
        f"batch*sequence*({n}*(6*{d}*{d} + 2*{d}*{f} + 2*{d}*(past_sequence + sequence)"
        f" + 2*{d}*{AUDIO_TOKENS})"
        f" + {d}*{c['vocab']})"
    )


def encoder_parameters(c):
    """Configuration to count: convolutions, positions, layers, final norm, keys and values of the decoder."""
    d, f, n = c["hidden"], c["inner"], c["layers"]
    layer = 4 * d * d + 3 * d + 2 * d * f + f + d + 4 * d
    decoder = decoder_layers(c) * (2 * d * d + d)
    return 3 * c["mels"] * d + d + 3 * d * d + d + AUDIO_TOKENS * d + n * layer + 2 * d + decoder


def decoder_parameters(c):
    """Configuration to count: tokens, positions, layers without the keys and values that the encoder holds, norm."""
    d, f, n = c["hidden"], c["inner"], decoder_layers(c)
    attention = 4 * d * d + 3 * d
    crossed = 2 * d * d + 2 * d
    return (c["vocab"] + MAX_TOKENS) * d + n * (attention + crossed + 2 * d * f + f + d + 6 * d) + 2 * d


def entries(name):
    c, (title, parameters, names) = CONFIGS[name], ABOUT[name]
    source = f"{names[0]} config.json; Radford et al. 2022"
    common = {"family": "whisper", "source": source, "catalogue": "audio"}
    counted = "closed formula of the configuration; the parts add up to the checkpoint"
    whole = {"parameters": parameters, "source": f"{names[0]} checkpoint"}
    if parameters % 1e6 == 0:
        whole = {
            "parameters_millions": parameters / 1e6,
            "parameters_millions_tolerance": 0.01,
            "source": f"{names[0]} model card",
        }
    encoder, decoder = f"{name}-encoder", f"{name}-decoder"
    first = encoder_parameters(c)
    return [
        Entry(
            name=encoder,
            task="speech-recognition",
            kind="encoder",
            title=f"{title} encoder",
            dims={"batch": 1},
            build=lambda: build_encoder(encoder, c),
            macs_formula=encoder_macs(c),
            note="30 s of audio, with the key and value projections of the decoder's cross-attention",
            published={"parameters": first, "source": counted},
            **common,
        ),
        Entry(
            name=decoder,
            task="speech-recognition",
            kind="decoder",
            title=f"{title} decoder",
            dims={"batch": 1, "sequence": 1, "past_sequence": 199},
            build=lambda: build_decoder(decoder, c),
            macs_formula=decoder_macs(c),
            lm_head="/proj_out/Gemm",
            note="keys and values of the cross-attention are inputs; a cache of 199 tokens as in the decoder "
            "benchmarks of Qualcomm AI Hub",
            published={"parameters": decoder_parameters(c), "source": counted},
            **common,
        ),
        Entry(
            name=name,
            task="speech-recognition",
            kind="encoder-decoder",
            title=title,
            aliases=names,
            dims={"batch": 1},
            parts=[
                part("encoder", encoder),
                part("decoder", decoder, repeat=200, sequence=1, past_sequence=100),
            ],
            note="30 s of audio, 200 output tokens one by one at the mean cache length",
            published=whole,
            **common,
        ),
    ]


ENTRIES = [entry for name in CONFIGS for entry in entries(name)]
