"""LLaVA 1.5 and 1.6 (Liu et al. 2023, 2024): CLIP ViT-L/14 at 336 pixels, a two-layer projector, a language
model whose token embeddings are replaced by image features at the image positions."""

from builder import FLOAT16, GraphBuilder, INT64
from catalogue import Entry, part
from clip import class_token, encoder_layer, vision_embeddings
from layers import dimension, gelu, linear
from llama import decoder, head_node, llm_facts, macs_formula
from llama_models import CONFIGS as LANGUAGE_MODELS
from vit import encoder_macs

VISION = {"layers": 24, "hidden": 1024, "heads": 16, "inner": 4096, "patch": 14, "image": 336}
GRID = VISION["image"] // VISION["patch"]
PATCHES = GRID * GRID
TILE_GRID = 2  # a 672 x 672 image is cut into 2 x 2 tiles, and seen whole once
TILES = TILE_GRID * TILE_GRID + 1
ANYRES_TOKENS = PATCHES + (TILE_GRID * GRID) * (TILE_GRID * GRID + 1)
VOCAB = 32064
LANGUAGE = {
    "llava-1.5-7b": LANGUAGE_MODELS["llama-2-7b"] | {"vocab": VOCAB},
    "llava-v1.6-mistral-7b": {k: v for k, v in LANGUAGE_MODELS["mistral-7b"].items() if k != "window"}
    | {"vocab": VOCAB},
}


def build_tower(name, tiles):
    """The whole CLIP tower; image features are the states before the last layer, without the class token."""
    g, size, path = GraphBuilder(name, FLOAT16), VISION["image"], "vision_tower/vision_model"
    pixels = g.input("pixel_values", ["batch", tiles, 3, size, size] if tiles else ["batch", 3, size, size])
    if tiles:
        pixels = g.node("Reshape", "vision_tower", [pixels, g.ints(-1, 3, size, size)])
    x = vision_embeddings(g, path, pixels, VISION)
    for i in range(VISION["layers"]):
        if i + 1 == VISION["layers"]:
            features = x
        x = encoder_layer(g, f"{path}/encoder/layers.{i}", x, VISION)
    d = VISION["hidden"]
    patches = [features, g.ints(1), g.ints(PATCHES + 1), g.ints(1), g.ints(1)]
    if tiles:
        features = g.node("Slice", "vision_tower", patches)
        features = g.node(
            "Reshape", "vision_tower", [features, g.ints(-1, tiles, PATCHES, d)], out="image_features"
        )
    else:
        features = g.node("Slice", "vision_tower", patches, out="image_features")
    g.output(features, ["batch", tiles, PATCHES, d] if tiles else ["batch", PATCHES, d])
    pooled = g.node("Identity", path, [class_token(g, path, x, d)], out="pooler_output")
    g.output(pooled, ["images", d])
    return g


def project(g, x, width):
    path = "multi_modal_projector"
    x = gelu(g, f"{path}/act", linear(g, f"{path}/linear_1", x, VISION["hidden"], width))
    return linear(g, f"{path}/linear_2", x, width, width)


def build_projector(name, width):
    g = GraphBuilder(name, FLOAT16)
    x = project(g, g.input("image_features", ["batch", PATCHES, VISION["hidden"]]), width)
    g.output(g.node("Identity", "multi_modal_projector", [x], out="image_embeds"), ["batch", PATCHES, width])
    return g


def build_anyres_projector(name, width):
    """Projects every tile, puts the tiles together as one image with a learned newline after each row, behind
    the tokens of the whole image."""
    g, p, side = GraphBuilder(name, FLOAT16), "pack_image_features", TILE_GRID * GRID
    x = project(g, g.input("image_features", ["batch", TILES, PATCHES, VISION["hidden"]]), width)
    base = g.node("Slice", p, [x, g.ints(0), g.ints(1), g.ints(1), g.ints(1)])
    base = g.node("Reshape", p, [base, g.ints(0, PATCHES, width)])
    tiles = g.node("Slice", p, [x, g.ints(1), g.ints(TILES), g.ints(1), g.ints(1)])
    tiles = g.node("Reshape", p, [tiles, g.ints(0, TILE_GRID, TILE_GRID, GRID, GRID, width)])
    tiles = g.node("Transpose", p, [tiles], perm=[0, 1, 3, 2, 4, 5])
    tiles = g.node("Reshape", p, [tiles, g.ints(-1, side, side, width)])
    batch = g.node("Unsqueeze", p, [dimension(g, p, tiles, 0), g.ints(0)])
    shape = g.node("Concat", p, [batch, g.ints(side, 1, width)], axis=0)
    newline = g.node("Expand", p, [g.weight("image_newline", [width]), shape])
    tiles = g.node("Concat", p, [tiles, newline], axis=2)
    tiles = g.node("Reshape", p, [tiles, g.ints(0, side * (side + 1), width)])
    g.output(g.node("Concat", p, [base, tiles], axis=1, out="image_embeds"), ["batch", ANYRES_TOKENS, width])
    return g


def build_language_model(name, c):
    """The decoder; image features overwrite the embeddings at the given (sequence, position) pairs."""
    g = GraphBuilder(name, FLOAT16)
    image = g.input("image_embeds", ["batch", "image_tokens", c["hidden"]])
    where = g.input("image_positions", ["batch", "image_tokens", 2], elem=INT64)
    decoder(
        g, "language_model/", c, insert=lambda x: g.node("ScatterND", "language_model", [x, where, image])
    )
    return g


def entries(name, title, checkpoint, paper, parameters, tiles, tokens):
    c, width = LANGUAGE[name], LANGUAGE[name]["hidden"]
    tower, projector, model = f"{name}-vision", f"{name}-projector", f"{name}-language"
    images = tiles or 1
    projected = build_anyres_projector if tiles else build_projector
    prompt = tokens + 64
    common = {"family": "llava", "source": f"{checkpoint} config.json; {paper}", "catalogue": "multimodal"}
    counted = "closed formula of the configuration; the parts add up to the checkpoint"
    newline = width if tiles else 0
    return [
        Entry(
            name=tower,
            task="image-embedding",
            kind="encoder",
            title=f"{title} vision tower (CLIP ViT-L/14-336)",
            dims={"batch": 1},
            build=lambda: build_tower(tower, tiles),
            macs_formula=f"batch*{images}*({encoder_macs(VISION)})",
            note="all 24 layers, as the published implementation runs; features are those before the last",
            published={"parameters": 303507456, "source": "CLIP ViT-L/14-336 vision model"},
            **common,
        ),
        Entry(
            name=projector,
            task="projection",
            kind="head",
            title=f"{title} projector",
            dims={"batch": 1},
            build=lambda: projected(projector, width),
            macs_formula=f"batch*{images * PATCHES}*({VISION['hidden']}*{width} + {width}*{width})",
            published={"parameters": 20979712 + newline, "source": counted},
            **common,
        ),
        Entry(
            name=model,
            task="text-generation",
            kind="decoder-lm",
            title=f"{title} language model",
            dims={"batch": 1, "sequence": prompt, "past_sequence": 0, "image_tokens": tokens},
            build=lambda: build_language_model(model, c),
            macs_formula=macs_formula(c),
            buffers=["cos_cache", "sin_cache"],
            llm=llm_facts(c),
            lm_head=head_node(c, "language_model/"),
            note="sequence counts image and text tokens; image_tokens = 0 while generating",
            published={"parameters": parameters - 303507456 - 20979712 - newline, "source": counted},
            **common,
        ),
        Entry(
            name=name,
            task="vision-language",
            kind="vision-language",
            title=title,
            aliases=[checkpoint, checkpoint.split("/")[1]],
            dims={"batch": 1, "sequence": prompt, "past_sequence": 0, "image_tokens": tokens},
            parts=[part("vision tower", tower), part("projector", projector), part("language model", model)],
            llm=llm_facts(c),
            note=f"prompt of {tokens} image tokens and 64 text tokens",
            published={"parameters": parameters, "source": f"{checkpoint} checkpoint"},
            **common,
        ),
    ]


ENTRIES = [
    *entries(
        "llava-1.5-7b", "LLaVA 1.5 7B", "llava-hf/llava-1.5-7b-hf", "Liu et al. 2023", 7063427072, 0, PATCHES
    ),
    *entries(
        "llava-v1.6-mistral-7b",
        "LLaVA-NeXT (1.6) Mistral 7B",
        "llava-hf/llava-v1.6-mistral-7b-hf",
        "Liu et al. 2024",
        7566747648,
        TILES,
        ANYRES_TOKENS,
    ),
]
