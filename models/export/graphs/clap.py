"""CLAP (Wu et al. 2022): HTSAT-tiny audio encoder (a Swin transformer over a log-mel spectrogram, Chen et al.
2022), RoBERTa text encoder, projections and similarity."""

from bert import BERT, encoder as text_encoder, first_token
from builder import BOOL, FLOAT, GraphBuilder, INT64, INT64_MAX
from catalogue import Entry, part
from clip import normalized
from layers import attend, dimension, gelu, layer_norm, linear, mlp, parameter, split_heads

MELS, FRAMES, SPECTROGRAM, PATCH, WINDOW = 64, 1001, 256, 4, 8
WIDTH, DEPTHS, HEADS, MLP_RATIO, PROJECTION = 96, (2, 2, 6, 2), (4, 8, 16, 32), 4, 512
WINDOW_TOKENS = WINDOW * WINDOW
TEXT = BERT | {
    "layers": 12,
    "hidden": 768,
    "heads": 12,
    "inner": 3072,
    "vocab": 50265,
    "positions": 514,
    "token_types": 1,
    "first_position": 2,
}


def spectrogram_image(g, path, features):
    """Normalises mel bins, stretches time to 1024 frames, folds four time segments into a 256 x 256 image."""
    x = g.node("Transpose", path, [features], perm=[0, 3, 2, 1])
    leaves = ("weight", "bias", "running_mean", "running_var")
    norm = [g.weight(parameter(f"{path}/batch_norm", leaf), [MELS]) for leaf in leaves]
    x = g.node("BatchNormalization", f"{path}/batch_norm", [x, *norm], epsilon=1e-5, momentum=0.9)
    x = g.node("Transpose", path, [x], perm=[0, 3, 2, 1])
    batch = g.node("Unsqueeze", path, [dimension(g, path, features, 0), g.ints(0)])
    ratio = SPECTROGRAM // MELS
    sizes = g.node("Concat", path, [batch, g.ints(1, SPECTROGRAM * ratio, MELS)], axis=0)
    x = g.node(
        "Resize",
        path,
        [x, "", "", sizes],
        coordinate_transformation_mode="align_corners",
        mode="cubic",
        cubic_coeff_a=-0.75,
        nearest_mode="floor",
    )
    x = g.node("Reshape", path, [x, g.ints(0, ratio, SPECTROGRAM, MELS)])
    x = g.node("Transpose", path, [x], perm=[0, 1, 3, 2])
    return g.node("Reshape", path, [x, g.ints(0, 1, SPECTROGRAM, SPECTROGRAM)])


def roll(g, path, x, first):
    """Cyclic shift of both image axes that brings row and column `first` to the front, as exported."""
    for axis in (1, 2):
        tail = g.node("Slice", path, [x, g.ints(first), g.ints(INT64_MAX), g.ints(axis), g.ints(1)])
        head = g.node("Slice", path, [x, g.ints(0), g.ints(first), g.ints(axis), g.ints(1)])
        x = g.node("Concat", path, [tail, head], axis=axis)
    return x


def windows(g, path, x, size, width):
    n = size // WINDOW
    x = g.node("Reshape", path, [x, g.ints(0, n, WINDOW, n, WINDOW, width)])
    x = g.node("Transpose", path, [x], perm=[0, 1, 3, 2, 4, 5])
    return g.node("Reshape", path, [x, g.ints(-1, WINDOW_TOKENS, width)])


def merge_windows(g, path, x, size, width):
    n = size // WINDOW
    x = g.node("Reshape", path, [x, g.ints(-1, n, n, WINDOW, WINDOW, width)])
    x = g.node("Transpose", path, [x], perm=[0, 1, 3, 2, 4, 5])
    return g.node("Reshape", path, [x, g.ints(-1, size, size, width)])


def window_bias(g, path, heads):
    """Learned bias of each relative position inside a window: [1, heads, tokens, tokens]."""
    table = g.weight(parameter(path, "relative_position_bias_table"), [(2 * WINDOW - 1) ** 2, heads])
    index = g.weight(parameter(path, "relative_position_index"), [WINDOW_TOKENS * WINDOW_TOKENS], elem=INT64)
    bias = g.node(
        "Reshape",
        path,
        [g.node("Gather", path, [table, index], axis=0), g.ints(WINDOW_TOKENS, WINDOW_TOKENS, heads)],
    )
    return g.node("Unsqueeze", path, [g.node("Transpose", path, [bias], perm=[2, 0, 1]), g.ints(0)])


def window_attention(g, path, x, width, heads, count, shifted):
    head_dim, inner = width // heads, f"{path}/self"
    q, k, v = (linear(g, f"{inner}/{name}", x, width, width) for name in ("query", "key", "value"))
    q, k = split_heads(g, inner, q, heads, head_dim), split_heads(g, inner, k, heads, head_dim, key=True)
    v = split_heads(g, inner, v, heads, head_dim)
    bias = window_bias(g, inner, heads)
    if shifted:
        # tokens that the cyclic shift brought together from two sides must not see each other
        mask = g.weight(f"attention_mask.{count}", [count, 1, WINDOW_TOKENS, WINDOW_TOKENS], elem=BOOL)
        context = masked_attend(g, inner, q, k, v, width, head_dim, bias, mask, count, heads)
    else:
        context = attend(g, inner, q, k, v, width, head_dim, bias=bias)
    return linear(g, f"{path}/output/dense", context, width, width)


def masked_attend(g, path, q, k, v, width, head_dim, bias, mask, count, heads):
    scores = g.node("MatMul", path, [q, k])
    scores = g.node("Add", path, [g.node("Div", path, [scores, g.scalar(head_dim**0.5)]), bias])
    scores = g.node("Reshape", path, [scores, g.ints(-1, count, heads, WINDOW_TOKENS, WINDOW_TOKENS)])
    scores = g.node("Where", path, [mask, scores, g.scalar(-100.0)])
    scores = g.node("Reshape", path, [scores, g.ints(-1, heads, WINDOW_TOKENS, WINDOW_TOKENS)])
    context = g.node("MatMul", path, [g.node("Softmax", path, [scores], axis=-1), v])
    context = g.node("Transpose", path, [context], perm=[0, 2, 1, 3])
    return g.node("Reshape", path, [context, g.ints(0, 0, width)])


def swin_layer(g, path, x, size, width, heads, shift):
    y = layer_norm(g, f"{path}/layernorm_before", x, width)
    y = g.node("Reshape", path, [y, g.ints(0, size, size, width)])
    if shift:
        y = roll(g, path, y, shift)
    y = windows(g, path, y, size, width)
    y = window_attention(g, f"{path}/attention", y, width, heads, (size // WINDOW) ** 2, bool(shift))
    y = merge_windows(g, path, y, size, width)
    if shift:
        y = roll(g, path, y, -shift)
    x = g.node("Add", path, [x, g.node("Reshape", path, [y, g.ints(0, size * size, width)])])
    y = layer_norm(g, f"{path}/layernorm_after", x, width)
    y = mlp(
        g,
        path,
        y,
        width,
        MLP_RATIO * width,
        gelu,
        ("intermediate/dense", "output/dense"),
        "intermediate/intermediate_act_fn",
    )
    return g.node("Add", path, [x, y])


def merge_patches(g, path, x, size, width):
    """Joins 2 x 2 neighbours and halves the resolution."""
    x = g.node("Reshape", path, [x, g.ints(0, size, size, width)])
    quarters = []
    for column in (0, 1):
        for row in (0, 1):
            quarters.append(
                g.node(
                    "Slice",
                    path,
                    [x, g.ints(row, column), g.ints(INT64_MAX, INT64_MAX), g.ints(1, 2), g.ints(2, 2)],
                )
            )
    x = g.node("Concat", path, quarters, axis=3)
    x = g.node("Reshape", path, [x, g.ints(0, size * size // 4, 4 * width)])
    x = layer_norm(g, f"{path}/norm", x, 4 * width)
    return linear(g, f"{path}/reduction", x, 4 * width, 2 * width, bias=False)


def pooled_audio(g, path, x, size, width):
    """Groups frequency bins by time segment and averages everything, in the exporter's nodes."""
    ratio = SPECTROGRAM // MELS
    bins = size // ratio
    x = g.node("Transpose", path, [x], perm=[0, 2, 1])
    x = g.node("Reshape", path, [x, g.ints(0, width, ratio, bins, size)])
    x = g.node("Transpose", path, [x], perm=[0, 1, 3, 2, 4])
    x = g.node("Reshape", path, [x, g.ints(0, width, size * size)])
    x = g.node("GlobalAveragePool", f"{path}/avgpool", [x])
    return g.node("Reshape", path, [x, g.ints(0, width)])


def projection(g, path, x, width, out):
    x = g.node("Relu", f"{path}/activation", [linear(g, f"{path}/linear1", x, width, PROJECTION)])
    return linear(g, f"{path}/linear2", x, PROJECTION, PROJECTION, out=out)


def build_audio(name):
    g, p = GraphBuilder(name, FLOAT), "audio_model/audio_encoder"
    x = spectrogram_image(g, p, g.input("input_features", ["batch", 1, FRAMES, MELS]))
    proj = f"{p}/patch_embed/proj"
    kernel = g.weight(parameter(proj, "weight"), [WIDTH, 1, PATCH, PATCH])
    x = g.node(
        "Conv",
        proj,
        [x, kernel, g.weight(parameter(proj, "bias"), [WIDTH])],
        kernel_shape=[PATCH, PATCH],
        strides=[PATCH, PATCH],
        pads=[0, 0, 0, 0],
        dilations=[1, 1],
        group=1,
    )
    x = g.node("Reshape", f"{p}/patch_embed", [x, g.ints(0, WIDTH, -1)])
    x = g.node("Transpose", f"{p}/patch_embed", [x], perm=[0, 2, 1])
    x = layer_norm(g, f"{p}/patch_embed/norm", x, WIDTH)
    size, width = SPECTROGRAM // PATCH, WIDTH
    for stage, (depth, heads) in enumerate(zip(DEPTHS, HEADS)):
        for block in range(depth):
            shift = WINDOW // 2 if block % 2 and size > WINDOW else 0
            x = swin_layer(g, f"{p}/layers.{stage}/blocks.{block}", x, size, width, heads, shift)
        if stage + 1 < len(DEPTHS):
            x = merge_patches(g, f"{p}/layers.{stage}/downsample", x, size, width)
            size, width = size // 2, 2 * width
    x = pooled_audio(g, p, layer_norm(g, f"{p}/norm", x, width), size, width)
    g.output(projection(g, "audio_projection", x, width, "audio_embeds"), ["batch", PROJECTION])
    return g


def build_text(name):
    g, d = GraphBuilder(name, FLOAT), TEXT["hidden"]
    x = text_encoder(g, "text_model/", TEXT)
    x = linear(g, "text_model/pooler/dense", first_token(g, "text_model/pooler", x), d, d)
    x = g.node("Tanh", "text_model/pooler/activation", [x])
    g.output(projection(g, "text_projection", x, d, "text_embeds"), ["batch", PROJECTION])
    return g


def build_similarity(name):
    g = GraphBuilder(name, FLOAT)
    audio = normalized(g, "audio", g.input("audio_embeds", ["batch", PROJECTION]))
    text = normalized(g, "text", g.input("text_embeds", ["texts", PROJECTION]))
    for kind, rows, columns, dims in (
        ("audio", audio, text, ["batch", "texts"]),
        ("text", text, audio, ["texts", "batch"]),
    ):
        path = f"logits_per_{kind}"
        scores = g.node("MatMul", path, [rows, g.node("Transpose", path, [columns], perm=[1, 0])])
        scale = g.node("Exp", path, [g.weight(f"logit_scale_{kind[0]}", [])])
        g.output(g.node("Mul", path, [scores, scale], out=path), dims)
    return g


def audio_macs():
    size, width = SPECTROGRAM // PATCH, WIDTH
    terms = [f"{size}*{size}*{PATCH}*{PATCH}*{width}"]
    for stage, depth in enumerate(DEPTHS):
        tokens = size * size
        layer = f"{tokens}*(4*{width}*{width} + 2*{width}*{MLP_RATIO * width} + 2*{WINDOW_TOKENS}*{width})"
        terms.append(f"{depth}*{layer}")
        if stage + 1 < len(DEPTHS):
            terms.append(f"{tokens // 4}*{4 * width}*{2 * width}")
            size, width = size // 2, 2 * width
    terms.append(f"{width}*{PROJECTION} + {PROJECTION}*{PROJECTION}")
    return "batch*(" + " + ".join(terms) + ")"


def text_macs():
    d, f = TEXT["hidden"], TEXT["inner"]
    return (
        f"batch*({TEXT['layers']}*(sequence*(4*{d}*{d} + 2*{d}*{f}) + 2*sequence*sequence*{d}) + {d}*{d}"
        f" + {d}*{PROJECTION} + {PROJECTION}*{PROJECTION})"
    )


SOURCE = "laion/clap-htsat-unfused config.json; Wu et al. 2022"
COUNTED = "closed formula of the configuration; the parts add up to the checkpoint"
COMMON = {"family": "clap", "source": SOURCE, "catalogue": "audio"}
ENTRIES = [
    Entry(
        name="clap-audio",
        task="audio-embedding",
        kind="encoder",
        title="CLAP audio encoder (HTSAT)",
        dims={"batch": 1},
        build=lambda: build_audio("clap-audio"),
        macs_formula=audio_macs(),
        buffers=["*.running_mean", "*.running_var"],
        note="10 s of audio as 1001 x 64 log-mel",
        published={"parameters": 28190872, "source": COUNTED},
        **COMMON,
    ),
    Entry(
        name="clap-text",
        task="text-encoder",
        kind="encoder",
        title="CLAP text encoder (RoBERTa)",
        dims={"batch": 1, "sequence": 77},
        build=lambda: build_text("clap-text"),
        macs_formula=text_macs(),
        published={
            "parameters": 124645632 + 656384,
            "source": "roberta-base checkpoint (124,645,632) and the " "projection 768-512-512",
        },
        **COMMON,
    ),
    Entry(
        name="clap-similarity",
        task="matching",
        kind="head",
        title="CLAP audio-text similarity",
        dims={"batch": 1, "texts": 1},
        build=lambda: build_similarity("clap-similarity"),
        macs_formula=f"2*batch*texts*{PROJECTION}",
        published={"parameters": 2, "source": COUNTED},
        **COMMON,
    ),
    Entry(
        name="clap",
        task="audio-text-matching",
        kind="dual-encoder",
        title="CLAP (HTSAT, unfused)",
        aliases=["laion/clap-htsat-unfused", "laion/clap-htsat"],
        dims={"batch": 1, "sequence": 77},
        parts=[part("audio", "clap-audio"), part("text", "clap-text"), part("similarity", "clap-similarity")],
        note="one text per run; the other parts follow the batch",
        published={"parameters": 153492890, "source": "laion/clap-htsat-unfused checkpoint"},
        **COMMON,
    ),
]
