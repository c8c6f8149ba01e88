"""Vision transformer blocks (Dosovitskiy et al. 2020), and ViT-Base as an image classifier."""

from builder import FLOAT, GraphBuilder
from catalogue import Entry
from layers import dimension, gelu, layer_norm, linear, parameter, self_attention


def patch_embedding(g, path, pixels, width, patch, bias):
    """Non-overlapping patches by a strided convolution, as tokens: [batch, patches, width]."""
    tensors = [pixels, g.weight(parameter(path, "weight"), [width, 3, patch, patch])]
    if bias:
        tensors.append(g.weight(parameter(path, "bias"), [width]))
    x = g.node(
        "Conv",
        path,
        tensors,
        kernel_shape=[patch, patch],
        strides=[patch, patch],
        pads=[0, 0, 0, 0],
        dilations=[1, 1],
        group=1,
    )
    x = g.node("Reshape", path, [x, g.ints(0, width, -1)])
    return g.node("Transpose", path, [x], perm=[0, 2, 1])


def prepend_token(g, path, x, token, width):
    """Puts one learned token before the patches of each image."""
    batch = g.node("Unsqueeze", path, [dimension(g, path, x, 0), g.ints(0)])
    shape = g.node("Concat", path, [batch, g.ints(1, width)], axis=0)
    return g.node("Concat", path, [g.node("Expand", path, [token, shape]), x], axis=1)


CONFIG = {"layers": 12, "hidden": 768, "heads": 12, "inner": 3072, "patch": 16, "image": 224, "classes": 1000}


def encoder_layer(g, path, x, c):
    d = c["hidden"]
    y = layer_norm(g, f"{path}/layernorm_before", x, d, 1e-12)
    names = ("attention/query", "attention/key", "attention/value")
    y = self_attention(g, f"{path}/attention", y, d, c["heads"], names=names, output="output/dense")
    x = g.node("Add", path, [y, x])
    y = layer_norm(g, f"{path}/layernorm_after", x, d, 1e-12)
    y = linear(g, f"{path}/intermediate/dense", y, d, c["inner"])
    y = gelu(g, f"{path}/intermediate/intermediate_act_fn", y)
    return g.node("Add", path, [linear(g, f"{path}/output/dense", y, c["inner"], d), x])


def build(name, c):
    g, d, image = GraphBuilder(name, FLOAT), c["hidden"], c["image"]
    pixels = g.input("pixel_values", ["batch", 3, image, image])
    tokens = (image // c["patch"]) ** 2 + 1
    x = patch_embedding(g, "vit/embeddings/patch_embeddings/projection", pixels, d, c["patch"], bias=True)
    x = prepend_token(g, "vit/embeddings", x, g.weight("vit.embeddings.cls_token", [1, 1, d]), d)
    x = g.node("Add", "vit/embeddings", [x, g.weight("vit.embeddings.position_embeddings", [1, tokens, d])])
    for i in range(c["layers"]):
        x = encoder_layer(g, f"vit/encoder/layer.{i}", x, c)
    x = layer_norm(g, "vit/layernorm", x, d, 1e-12)
    first = g.node("Gather", "classifier", [x, g.int_scalar(0)], axis=1)
    linear(g, "classifier", first, d, c["classes"], out="logits")
    g.output("logits", ["batch", c["classes"]])
    return g


def encoder_macs(c):
    """Patches and layers of a vision transformer with one extra token."""
    d, f, patches = c["hidden"], c["inner"], (c["image"] // c["patch"]) ** 2
    t = patches + 1
    embedding = f"{patches}*3*{c['patch']}*{c['patch']}*{d}"
    return f"{embedding} + {c['layers']}*({t}*(4*{d}*{d} + 2*{d}*{f}) + 2*{t}*{t}*{d})"


ENTRIES = [
    Entry(
        name="vit-base",
        family="vit",
        task="image-classification",
        kind="encoder",
        title="ViT-Base/16",
        catalogue="multimodal",
        aliases=["google/vit-base-patch16-224", "vit-base-hf"],
        source="google/vit-base-patch16-224 config.json; Dosovitskiy et al. 2020",
        dims={"batch": 1},
        build=lambda: build("vit-base", CONFIG),
        macs_formula=f"batch*({encoder_macs(CONFIG)} + {CONFIG['hidden']}*{CONFIG['classes']})",
        published={
            "parameters": 86567656,
            "gmacs": 17.564,
            "dims": {"batch": 1},
            "source": "torchvision model documentation (vit_b_16, the same network)",
        },
    )
]
