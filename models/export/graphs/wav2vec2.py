"""wav2vec 2.0 base with its CTC head (Baevski et al. 2020): seven strided convolutions over the waveform, a
grouped convolution for positions, a post-norm transformer. The weight normalisation of the position
convolution is folded into its weight."""

from builder import FLOAT, GraphBuilder
from catalogue import Entry
from layers import gelu, layer_norm, linear, mlp, parameter, self_attention

CONVOLUTIONS = [(10, 5)] + [(3, 2)] * 4 + [(2, 2)] * 2  # kernel, stride
CHANNELS, POSITION_KERNEL, POSITION_GROUPS, VOCAB = 512, 128, 16, 32
CONFIG = {"layers": 12, "hidden": 768, "heads": 12, "inner": 3072}


def feature_extractor(g, path, x):
    channels = 1
    for i, (kernel, stride) in enumerate(CONVOLUTIONS):
        layer = f"{path}/conv_layers.{i}"
        weight = g.weight(parameter(f"{layer}/conv", "weight"), [CHANNELS, channels, kernel])
        x = g.node(
            "Conv",
            f"{layer}/conv",
            [x, weight],
            kernel_shape=[kernel],
            strides=[stride],
            pads=[0, 0],
            dilations=[1],
            group=1,
        )
        if i == 0:  # group norm with as many groups as channels
            norm = [
                g.weight(parameter(f"{layer}/layer_norm", leaf), [CHANNELS]) for leaf in ("weight", "bias")
            ]
            x = g.node("InstanceNormalization", f"{layer}/layer_norm", [x, *norm], epsilon=1e-5)
        x = gelu(g, f"{layer}/activation", x)
        channels = CHANNELS
    return g.node("Transpose", path, [x], perm=[0, 2, 1])


def position_embedding(g, path, x, width):
    weight = g.weight(parameter(f"{path}/conv", "weight"), [width, width // POSITION_GROUPS, POSITION_KERNEL])
    bias = g.weight(parameter(f"{path}/conv", "bias"), [width])
    half = POSITION_KERNEL // 2
    y = g.node("Transpose", path, [x], perm=[0, 2, 1])
    y = g.node(
        "Conv",
        f"{path}/conv",
        [y, weight, bias],
        kernel_shape=[POSITION_KERNEL],
        strides=[1],
        pads=[half, half],
        dilations=[1],
        group=POSITION_GROUPS,
    )
    # an even kernel with symmetric padding gives one frame too many
    y = g.node("Slice", f"{path}/padding", [y, g.ints(0), g.ints(-1), g.ints(2), g.ints(1)])
    y = gelu(g, f"{path}/activation", y)
    return g.node("Transpose", path, [y], perm=[0, 2, 1])


def build(name, c):
    g, d, p = GraphBuilder(name, FLOAT), c["hidden"], "wav2vec2"
    samples = g.input("input_values", ["batch", "audio_samples"])
    x = g.node("Unsqueeze", f"{p}/feature_extractor", [samples, g.ints(1)])
    x = feature_extractor(g, f"{p}/feature_extractor", x)
    x = layer_norm(g, f"{p}/feature_projection/layer_norm", x, CHANNELS)
    x = linear(g, f"{p}/feature_projection/projection", x, CHANNELS, d)
    x = g.node("Add", f"{p}/encoder", [x, position_embedding(g, f"{p}/encoder/pos_conv_embed", x, d)])
    x = layer_norm(g, f"{p}/encoder/layer_norm", x, d)
    for i in range(c["layers"]):
        path = f"{p}/encoder/layers.{i}"
        x = g.node("Add", path, [x, self_attention(g, f"{path}/attention", x, d, c["heads"])])
        x = layer_norm(g, f"{path}/layer_norm", x, d)
        y = mlp(
            g,
            f"{path}/feed_forward",
            x,
            d,
            c["inner"],
            gelu,
            ("intermediate_dense", "output_dense"),
            "intermediate_act_fn",
        )
        x = layer_norm(g, f"{path}/final_layer_norm", g.node("Add", path, [x, y]), d)
    linear(g, "lm_head", x, d, VOCAB, out="logits")
    g.output("logits", ["batch", "frames", VOCAB])
    return g


def frames(count):
    """Frames after `count` convolutions, as an expression in audio_samples."""
    text = "audio_samples"
    for kernel, stride in CONVOLUTIONS[:count]:
        text = f"(floor(({text} - {kernel})/{stride}) + 1)"
    return text


def macs_formula(c):
    d, f = c["hidden"], c["inner"]
    terms, channels = [], 1
    for i, (kernel, _) in enumerate(CONVOLUTIONS):
        terms.append(f"{frames(i + 1)}*{channels}*{CHANNELS}*{kernel}")
        channels = CHANNELS
    t = frames(len(CONVOLUTIONS))
    terms.append(f"{t}*{CHANNELS}*{d}")
    terms.append(f"({t} + 1)*{d}*{d // POSITION_GROUPS}*{POSITION_KERNEL}")
    terms.append(f"{c['layers']}*({t}*(4*{d}*{d} + 2*{d}*{f}) + 2*{t}*{t}*{d})")
    terms.append(f"{t}*{d}*{VOCAB}")
    return "batch*(" + " + ".join(terms) + ")"


ENTRIES = [
    Entry(
        name="wav2vec2-base",
        family="wav2vec2",
        task="speech-recognition",
        kind="encoder",
        title="wav2vec 2.0 base (CTC)",
        catalogue="audio",
        aliases=["facebook/wav2vec2-base-960h", "facebook/wav2vec2-base"],
        source="facebook/wav2vec2-base-960h config.json; Baevski et al. 2020",
        dims={"batch": 1, "audio_samples": 160000},
        build=lambda: build("wav2vec2-base", CONFIG),
        macs_formula=macs_formula(CONFIG),
        note="10 s of audio at 16 kHz",
        published={
            "parameters": 94395424,
            "source": "facebook/wav2vec2-base-960h checkpoint: 94,396,320 less 768 "
            "(masked_spec_embed, training only) and 128 (gain of the weight normalisation, folded)",
        },
    )
]
