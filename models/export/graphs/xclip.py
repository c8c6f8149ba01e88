"""X-CLIP (Ni et al. 2022): CLIP frames that exchange message tokens, a transformer over the frames (MIT),
text prompts conditioned on the video, and their similarity."""

from builder import FLOAT, GraphBuilder
from catalogue import Entry, part
from clip import (
    PROJECTION,
    TEXT,
    VISION,
    class_token,
    encoder_layer,
    normalized,
    text_features,
    text_macs,
    vision_embeddings,
)
from layers import (
    attend,
    dimension,
    layer_norm,
    linear,
    mlp,
    parameter,
    quick_gelu,
    self_attention,
    split_heads,
)

FRAMES = 8
PATCHES = (VISION["image"] // VISION["patch"]) ** 2
MIT = {"layers": 1, "hidden": 512, "heads": 8, "inner": 2048}
PROMPT_LAYERS, PROMPT_HEADS = 2, 8


def frame_layer(g, path, x, c):
    """A vision layer that adds one message token per frame, exchanged among the frames of a video."""
    d = c["hidden"]
    first = g.node("Gather", path, [x, g.int_scalar(0)], axis=1)
    message = g.node("Reshape", path, [linear(g, f"{path}/message_fc", first, d, d), g.ints(-1, FRAMES, d)])
    y = layer_norm(g, f"{path}/message_ln", message, d)
    message = g.node("Add", path, [message, self_attention(g, f"{path}/message_attn", y, d, c["heads"])])
    x = g.node("Concat", path, [x, g.node("Reshape", path, [message, g.ints(-1, 1, d)])], axis=1)
    y = layer_norm(g, f"{path}/layer_norm1", x, d)
    x = g.node("Add", path, [x, self_attention(g, f"{path}/self_attn", y, d, c["heads"])])
    x = g.node("Slice", path, [x, g.ints(0), g.ints(PATCHES + 1), g.ints(1), g.ints(1)])
    y = layer_norm(g, f"{path}/layer_norm2", x, d)
    return g.node("Add", path, [x, mlp(g, f"{path}/mlp", y, d, c["inner"], quick_gelu)])


def integrate_frames(g, path, frames):
    """Multi-frame integration transformer: one more layer over the frames, then their mean."""
    x = g.node(
        "Add", path, [frames, g.weight(parameter(path, "position_embedding"), [1, FRAMES, MIT["hidden"]])]
    )
    for i in range(MIT["layers"]):
        x = encoder_layer(g, f"{path}/encoder/layers.{i}", x, MIT)
    x = g.node("Add", path, [x, frames])
    return g.node("ReduceMean", path, [x], out="video_embeds", axes=[1], keepdims=0)


def build_video(name):
    g, d, size = GraphBuilder(name, FLOAT), VISION["hidden"], VISION["image"]
    c = VISION | {"pre_norm": "pre_layernorm"}
    video = g.input("pixel_values", ["batch", FRAMES, 3, size, size])
    x = vision_embeddings(g, "vision_model", g.node("Reshape", "", [video, g.ints(-1, 3, size, size)]), c)
    for i in range(c["layers"]):
        x = frame_layer(g, f"vision_model/encoder/layers.{i}", x, c)
    pooled = linear(g, "visual_projection", class_token(g, "vision_model", x, d), d, PROJECTION, bias=False)
    frames = g.node("Reshape", "mit", [pooled, g.ints(-1, FRAMES, PROJECTION)])
    g.output(integrate_frames(g, "mit", frames), ["batch", PROJECTION])
    patches = g.node("Slice", "prompts_visual", [x, g.ints(1), g.ints(PATCHES + 1), g.ints(1), g.ints(1)])
    patches = layer_norm(g, "prompts_visual_layernorm", patches, d)
    patches = g.node(
        "MatMul", "prompts_visual", [patches, g.weight("prompts_visual_projection", [d, PROJECTION])]
    )
    patches = g.node("Reshape", "prompts_visual", [patches, g.ints(-1, FRAMES, PATCHES, PROJECTION)])
    g.output(
        g.node("ReduceMean", "prompts_visual", [patches], out="image_features", axes=[1], keepdims=0),
        ["batch", PATCHES, PROJECTION],
    )
    return g


def cross_attention(g, path, x, visual, d):
    head_dim = d // PROMPT_HEADS
    q = split_heads(g, path, linear(g, f"{path}/q_proj", x, d, d, bias=False), PROMPT_HEADS, head_dim)
    k = split_heads(
        g, path, linear(g, f"{path}/k_proj", visual, d, d, bias=False), PROMPT_HEADS, head_dim, key=True
    )
    v = split_heads(g, path, linear(g, f"{path}/v_proj", visual, d, d, bias=False), PROMPT_HEADS, head_dim)
    return linear(g, f"{path}/proj", attend(g, path, q, k, v, d, head_dim), d, d)


def build_matching(name):
    g, d, path = GraphBuilder(name, FLOAT), PROJECTION, "prompts_generator"
    video = g.input("video_embeds", ["batch", d])
    features = g.input("image_features", ["batch", PATCHES, d])
    texts = g.input("text_embeds", ["texts", d])
    batch = g.node("Unsqueeze", path, [dimension(g, path, video, 0), g.ints(0)])
    shape = g.node("Concat", path, [batch, g.ints(1, 1)], axis=0)
    texts = g.node("Expand", path, [g.node("Unsqueeze", path, [texts, g.ints(0)]), shape])
    visual, x = layer_norm(g, f"{path}/layernorm", features, d), texts
    for i in range(PROMPT_LAYERS):
        layer = f"{path}/decoder.{i}"
        y = cross_attention(g, f"{layer}/cross_attn", layer_norm(g, f"{layer}/norm1", x, d), visual, d)
        x = g.node("Add", layer, [x, y])
        y = layer_norm(g, f"{layer}/norm3", x, d)
        x = g.node("Add", layer, [x, mlp(g, f"{layer}/mlp", y, d, 4 * d, quick_gelu, ("0", "3"), "1")])
    prompt = g.node("Mul", path, [g.weight(parameter(path, "alpha"), [d]), x])
    texts = normalized(g, "text", g.node("Add", "text", [texts, prompt]))
    texts = g.node("Mul", "text", [g.node("Exp", "logits", [g.weight("logit_scale", [])]), texts])
    video = g.node("Unsqueeze", "video", [normalized(g, "video", video), g.ints(2)])
    scores = g.node("MatMul", "logits", [texts, video])
    g.output(g.node("Squeeze", "logits", [scores, g.ints(2)], out="logits_per_video"), ["batch", "texts"])
    return g


def build_text_encoder(name):
    g = GraphBuilder(name, FLOAT)
    g.output(text_features(g, TEXT, PROJECTION), ["batch", PROJECTION])
    return g


def video_macs():
    d, f, t, p = VISION["hidden"], VISION["inner"], PATCHES + 1, PROJECTION
    m, mf = MIT["hidden"], MIT["inner"]
    patches = f"{PATCHES}*3*{VISION['patch']}*{VISION['patch']}*{d}"
    message = f"{d}*{d} + 4*{d}*{d} + 2*{FRAMES}*{d}"
    layer = f"{message} + {t + 1}*4*{d}*{d} + 2*{t + 1}*{t + 1}*{d} + {t}*2*{d}*{f}"
    frame = f"{patches} + {VISION['layers']}*({layer}) + {d}*{p} + {PATCHES}*{d}*{p}"
    mit = f"{FRAMES}*(4*{m}*{m} + 2*{m}*{mf} + 2*{FRAMES}*{m})"
    return f"batch*({FRAMES}*({frame}) + {mit})"


def matching_macs():
    d = PROJECTION
    layer = f"texts*(2*{d}*{d} + 2*{d}*{4 * d} + 2*{PATCHES}*{d}) + {PATCHES}*2*{d}*{d}"
    return f"batch*({PROMPT_LAYERS}*({layer}) + texts*{d})"


def attention_parameters(d):
    return 4 * (d * d + d)


def mlp_parameters(d, f):
    return 2 * d * f + f + d


def video_parameters():
    """Configuration to count: embeddings, 12 layers with message tokens, projections, frame transformer."""
    d, p, m = VISION["hidden"], PROJECTION, MIT["hidden"]
    embeddings = d * 3 * VISION["patch"] ** 2 + d + (PATCHES + 1) * d
    message = d * d + d + 2 * d + attention_parameters(d)
    layer = message + attention_parameters(d) + mlp_parameters(d, VISION["inner"]) + 4 * d
    mit = FRAMES * m + attention_parameters(m) + mlp_parameters(m, MIT["inner"]) + 4 * m
    return embeddings + 4 * d + VISION["layers"] * layer + d * p + mit + 2 * d + d * p


def matching_parameters():
    d = PROJECTION
    layer = 4 * d * d + d + mlp_parameters(d, 4 * d) + 4 * d
    return 2 * d + PROMPT_LAYERS * layer + d + 1


TEXT_PARAMETERS = 63428096  # the text encoder of CLIP ViT-B/32
SOURCE = "microsoft/xclip-base-patch32 config.json; Ni et al. 2022"
COUNTED = "closed formula of the configuration"
COMMON = {"family": "xclip", "source": SOURCE, "catalogue": "multimodal"}
ENTRIES = [
    Entry(
        name="xclip-base-patch32-video",
        task="video-embedding",
        kind="encoder",
        title="X-CLIP base/32 video encoder",
        dims={"batch": 1},
        build=lambda: build_video("xclip-base-patch32-video"),
        macs_formula=video_macs(),
        note=f"{FRAMES} frames per video",
        published={"parameters": video_parameters(), "source": COUNTED},
        **COMMON,
    ),
    Entry(
        name="xclip-base-patch32-text",
        task="text-encoder",
        kind="encoder",
        title="X-CLIP base/32 text encoder",
        dims={"batch": 1, "sequence": 77},
        build=lambda: build_text_encoder("xclip-base-patch32-text"),
        macs_formula=text_macs(TEXT, PROJECTION),
        published={"parameters": TEXT_PARAMETERS, "source": COUNTED},
        **COMMON,
    ),
    Entry(
        name="xclip-base-patch32-matching",
        task="matching",
        kind="head",
        title="X-CLIP prompts and similarity",
        dims={"batch": 1, "texts": 1},
        build=lambda: build_matching("xclip-base-patch32-matching"),
        macs_formula=matching_macs(),
        published={"parameters": matching_parameters(), "source": COUNTED},
        **COMMON,
    ),
    Entry(
        name="xclip-base-patch32",
        task="video-text-matching",
        kind="dual-encoder",
        title="X-CLIP base/32",
        aliases=["microsoft/xclip-base-patch32"],
        dims={"batch": 1, "sequence": 77},
        parts=[
            part("video", "xclip-base-patch32-video"),
            part("text", "xclip-base-patch32-text"),
            part("prompts and similarity", "xclip-base-patch32-matching"),
        ],
        note=f"{FRAMES} frames, one text per run",
        published={
            "parameters": video_parameters() + TEXT_PARAMETERS + matching_parameters(),
            "source": COUNTED,
        },
        **COMMON,
    ),
]
