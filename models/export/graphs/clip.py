"""CLIP image and text encoders and their similarity (Radford et al. 2021)."""

from builder import FLOAT, GraphBuilder, INT64
from catalogue import Entry, part
from layers import (
    causal_mask,
    dimension,
    embedding,
    layer_norm,
    linear,
    mlp,
    padding_bias,
    parameter,
    positions,
    quick_gelu,
    self_attention,
    token_input,
)
from vit import encoder_macs, patch_embedding, prepend_token

VISION = {"layers": 12, "hidden": 768, "heads": 12, "inner": 3072, "patch": 32, "image": 224}
TEXT = {"layers": 12, "hidden": 512, "heads": 8, "inner": 2048, "vocab": 49408, "positions": 77}
PROJECTION = 512
LARGE_VISION = {"layers": 24, "hidden": 1024, "heads": 16, "inner": 4096, "patch": 14, "image": 224}
LARGE_TEXT = TEXT | {"hidden": 768, "heads": 12, "inner": 3072}
FURTHER = {"clip-vit-b32": ["clip"], "clip-vit-b16": ["openai_clip"]}
# name: (title, image encoder, text encoder, width of both embeddings, checkpoint, further names of image and text)
MODELS = {
    "clip-vit-b32": ("CLIP ViT-B/32", VISION, TEXT, PROJECTION, "openai/clip-vit-base-patch32", [], []),
    "clip-vit-b16": (
        "CLIP ViT-B/16",
        VISION | {"patch": 16},
        TEXT,
        PROJECTION,
        "openai/clip-vit-base-patch16",
        ["clip_vit_b_16_image_encoder"],
        ["clip_vit_b_16_text_encoder"],
    ),
    "clip-vit-l14": (
        "CLIP ViT-L/14",
        LARGE_VISION,
        LARGE_TEXT,
        768,
        "openai/clip-vit-large-patch14",
        ["clip_vit_l_14_image_encoder"],
        ["clip_vit_l_14_text_encoder"],
    ),
    "clip-vit-l14-336": (
        "CLIP ViT-L/14 336",
        LARGE_VISION | {"image": 336},
        LARGE_TEXT,
        768,
        "openai/clip-vit-large-patch14-336",
        [],
        [],
    ),
    "tinyclip-vit-39m-16": (
        "TinyCLIP ViT-39M/16",
        VISION | {"patch": 16, "hidden": 512, "heads": 8, "inner": 2048},
        TEXT | {"layers": 6},
        PROJECTION,
        "wkcn/TinyCLIP-ViT-39M-16-Text-19M-YFCC15M",
        ["tinyclip_vit_39m_16_text_19m_yfcc15m_image_encoder"],
        ["tinyclip_vit_39m_16_text_19m_yfcc15m_text_encoder"],
    ),
    "tinyclip-vit-61m-32": (
        "TinyCLIP ViT-61M/32",
        VISION | {"hidden": 640, "heads": 10, "inner": 2560},
        TEXT | {"layers": 6, "hidden": 640, "heads": 10, "inner": 2560},
        PROJECTION,
        "wkcn/TinyCLIP-ViT-61M-32-Text-29M-LAION400M",
        ["tinyclip_vit_61m_32_text_29m_laion400m_image_encoder"],
        ["tinyclip_vit_61m_32_text_29m_laion400m_text_encoder"],
    ),
}
# Text encoders beside ResNets (models/export/networks/residual_tasks.py): name: (title, encoder, width, further names)
TEXTS = {
    "clip-rn50-text": ("CLIP ResNet-50 text encoder", TEXT, 1024, ["clip_resnet_50_text_encoder"]),
    "clip-rn50x4-text": (
        "CLIP ResNet-50x4 text encoder",
        TEXT | {"hidden": 640, "heads": 10, "inner": 2560},
        640,
        ["clip_resnet_50x4_text_encoder"],
    ),
}


def encoder_layer(g, path, x, c, bias=None, allowed=None):
    """Pre-norm layer with quick GELU."""
    d = c["hidden"]
    y = layer_norm(g, f"{path}/layer_norm1", x, d)
    x = g.node(
        "Add", path, [x, self_attention(g, f"{path}/self_attn", y, d, c["heads"], bias=bias, allowed=allowed)]
    )
    y = layer_norm(g, f"{path}/layer_norm2", x, d)
    return g.node("Add", path, [x, mlp(g, f"{path}/mlp", y, d, c["inner"], quick_gelu)])


def vision_embeddings(g, path, pixels, c):
    d = c["hidden"]
    x = patch_embedding(g, f"{path}/embeddings/patch_embedding", pixels, d, c["patch"], bias=False)
    x = prepend_token(
        g, f"{path}/embeddings", x, g.weight(parameter(f"{path}/embeddings", "class_embedding"), [d]), d
    )
    tokens = (c["image"] // c["patch"]) ** 2 + 1
    table = g.weight(parameter(f"{path}/embeddings/position_embedding", "weight"), [tokens, d])
    x = g.node("Add", f"{path}/embeddings", [x, table])
    # the checkpoint spells this module "pre_layrnorm"
    return layer_norm(g, f"{path}/{c.get('pre_norm', 'pre_layrnorm')}", x, d)


def class_token(g, path, x, width):
    """The normalised first token, the summary of an image."""
    first = g.node("Gather", path, [x, g.int_scalar(0)], axis=1)
    return layer_norm(g, f"{path}/post_layernorm", first, width)


def text_features(g, c, projection):
    """Causal text transformer; the state at the end-of-text token (the highest id), projected."""
    path, d = "text_model", c["hidden"]
    ids = token_input(g)
    mask = g.input("attention_mask", ["batch", "sequence"], elem=INT64)
    position_ids, total = positions(g, path, g.int_scalar(0), dimension(g, path, ids, 1))
    allowed, bias = causal_mask(g, path, position_ids, total), padding_bias(g, path, mask)
    x = g.node(
        "Add",
        f"{path}/embeddings",
        [
            embedding(g, f"{path}/embeddings/token_embedding", ids, c["vocab"], d),
            embedding(g, f"{path}/embeddings/position_embedding", position_ids, c["positions"], d),
        ],
    )
    for i in range(c["layers"]):
        x = encoder_layer(g, f"{path}/encoder/layers.{i}", x, c, bias, allowed)
    x = layer_norm(g, f"{path}/final_layer_norm", x, d)
    end = g.node("ArgMax", path, [ids], axis=1, keepdims=1)
    pooled = g.node("GatherND", path, [x, end], batch_dims=1)
    return linear(g, "text_projection", pooled, d, projection, bias=False, out="text_embeds")


def normalized(g, path, x):
    return g.node("Div", path, [x, g.node("ReduceL2", path, [x], axes=[-1], keepdims=1)])


def build_image(name, c, projection):
    g, d, size = GraphBuilder(name, FLOAT), c["hidden"], c["image"]
    x = vision_embeddings(g, "vision_model", g.input("pixel_values", ["batch", 3, size, size]), c)
    for i in range(c["layers"]):
        x = encoder_layer(g, f"vision_model/encoder/layers.{i}", x, c)
    pooled = class_token(g, "vision_model", x, d)
    linear(g, "visual_projection", pooled, d, projection, bias=False, out="image_embeds")
    g.output("image_embeds", ["batch", projection])
    return g


def build_text(name, c, projection):
    g = GraphBuilder(name, FLOAT)
    g.output(text_features(g, c, projection), ["batch", projection])
    return g


def build_similarity(name, projection):
    g = GraphBuilder(name, FLOAT)
    images = normalized(g, "image", g.input("image_embeds", ["batch", projection]))
    texts = normalized(g, "text", g.input("text_embeds", ["texts", projection]))
    scores = g.node("MatMul", "logits", [images, g.node("Transpose", "text", [texts], perm=[1, 0])])
    scale = g.node("Exp", "logits", [g.weight("logit_scale", [])])
    g.output(g.node("Mul", "logits", [scores, scale], out="logits_per_image"), ["batch", "texts"])
    return g


def text_macs(c, projection):
    d, f = c["hidden"], c["inner"]
    return (
        f"batch*({c['layers']}*(sequence*(4*{d}*{d} + 2*{d}*{f}) + 2*sequence*sequence*{d})"
        f" + {d}*{projection})"
    )


def layer_parameters(c):
    d, f = c["hidden"], c["inner"]
    return c["layers"] * (4 * d * d + 2 * d * f + f + 9 * d)


def image_parameters(c, projection):
    """Configuration to count: patches, class token, positions, two norms about the layers, projection."""
    d, tokens = c["hidden"], (c["image"] // c["patch"]) ** 2 + 1
    return (3 * c["patch"] ** 2 + 1 + tokens + 4) * d + layer_parameters(c) + d * projection


def text_parameters(c, projection):
    d = c["hidden"]
    return (c["vocab"] + c["positions"] + 2) * d + layer_parameters(c) + d * projection


COUNTED = "closed formula of the configuration; the parts add up to the checkpoint"


def entries(name):
    title, vision, text, projection, checkpoint, image_names, text_names = MODELS[name]
    common = {
        "family": "clip",
        "source": f"{checkpoint} config.json; Radford et al. 2021",
        "catalogue": "multimodal",
    }
    image, words, similarity = f"{name}-image", f"{name}-text", f"{name}-similarity"
    of_image, of_text = image_parameters(vision, projection), text_parameters(text, projection)
    return [
        Entry(
            name=image,
            task="image-embedding",
            kind="encoder",
            title=f"{title} image encoder",
            aliases=image_names,
            dims={"batch": 1},
            build=lambda: build_image(image, vision, projection),
            macs_formula=f"batch*({encoder_macs(vision)} + {vision['hidden']}*{projection})",
            published={"parameters": of_image, "source": COUNTED},
            **common,
        ),
        Entry(
            name=words,
            task="text-encoder",
            kind="encoder",
            title=f"{title} text encoder",
            aliases=text_names,
            dims={"batch": 1, "sequence": 77},
            build=lambda: build_text(words, text, projection),
            macs_formula=text_macs(text, projection),
            published={"parameters": of_text, "source": COUNTED},
            **common,
        ),
        Entry(
            name=similarity,
            task="matching",
            kind="head",
            title="CLIP image-text similarity" if name == "clip-vit-b32" else f"{title} image-text similarity",
            dims={"batch": 1, "texts": 1},
            build=lambda: build_similarity(similarity, projection),
            macs_formula=f"batch*texts*{projection}",
            published={"parameters": 1, "source": COUNTED},
            **common,
        ),
        Entry(
            name=name,
            task="image-text-matching",
            kind="dual-encoder",
            title=title,
            aliases=[checkpoint, checkpoint.split("/")[1]] + FURTHER.get(name, []),
            dims={"batch": 1, "sequence": 77},
            parts=[part("image", image), part("text", words), part("similarity", similarity)],
            note="one text per run; the other parts follow the batch",
            published={"parameters": of_image + of_text + 1, "source": f"{checkpoint} checkpoint"},
            **common,
        ),
    ]


def text_entry(name):
    title, text, projection, names = TEXTS[name]
    return Entry(
        name=name,
        family="clip",
        task="text-encoder",
        kind="encoder",
        title=title,
        aliases=names,
        source="Radford et al. 2021, table 19",
        catalogue="multimodal",
        dims={"batch": 1, "sequence": 77},
        build=lambda: build_text(name, text, projection),
        macs_formula=text_macs(text, projection),
        published={"parameters": text_parameters(text, projection), "source": COUNTED},
    )


ENTRIES = [entry for name in MODELS for entry in entries(name)] + [text_entry(name) for name in TEXTS]
