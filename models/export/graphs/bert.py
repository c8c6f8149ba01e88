"""BERT, DistilBERT, RoBERTa, ELECTRA and ALBERT text encoders (Devlin et al. 2018, Sanh et al. 2019, Liu et al. 2019,
Clark et al. 2020, Lan et al. 2020) and the embedding models of these architectures."""

from builder import GraphBuilder, INT64
from catalogue import Entry
from layers import (
    attend,
    dimension,
    embedding,
    gelu,
    gelu_tanh,
    heads_of,
    layer_norm,
    linear,
    padding_bias,
    parameter,
    tied_head,
    token_input,
)


def encoder_layer(g, path, x, c, bias):
    """Post-norm layer: LayerNorm(x + attention(x)), then LayerNorm(x + MLP(x))."""
    width, names = c["hidden"], c["names"]
    inner = f"{path}/{names['attention']}"
    q, k, v = heads_of(g, inner, x, width, c["heads"], c["qkv"])
    context = attend(g, inner, q, k, v, width, width // c["heads"], bias=bias)
    y = linear(g, f"{path}/{names['attention_output']}", context, width, width)
    x = layer_norm(g, f"{path}/{names['attention_norm']}", g.node("Add", path, [y, x]), width, 1e-12)
    y = linear(g, f"{path}/{names['inner']}", x, width, c["inner"])
    y = c.get("activation", gelu)(g, f"{path}/{names['activation']}", y)
    y = linear(g, f"{path}/{names['outer']}", y, c["inner"], width)
    return layer_norm(g, f"{path}/{names['norm']}", g.node("Add", path, [y, x]), width, 1e-12)


BERT_NAMES = {
    "attention": "attention/self",
    "attention_output": "attention/output/dense",
    "attention_norm": "attention/output/LayerNorm",
    "inner": "intermediate/dense",
    "activation": "intermediate/intermediate_act_fn",
    "outer": "output/dense",
    "norm": "output/LayerNorm",
}
DISTILBERT_NAMES = {
    "attention": "attention",
    "attention_output": "attention/out_lin",
    "attention_norm": "sa_layer_norm",
    "inner": "ffn/lin1",
    "activation": "ffn/activation",
    "outer": "ffn/lin2",
    "norm": "output_layer_norm",
}


def embeddings(g, prefix, c, ids):
    """Sum of word, position and token-type embeddings, normalised. A single token type needs no input."""
    path, width = f"{prefix}embeddings", c.get("embedding", c["hidden"])
    length = dimension(g, path, ids, 1)
    first = c.get("first_position", 0)
    limit = g.node("Add", path, [length, g.int_scalar(first)]) if first else length
    position_ids = g.node("Range", path, [g.int_scalar(first), limit, g.int_scalar(1)])
    x = embedding(g, f"{path}/word_embeddings", ids, c["vocab"], width)
    if c["token_types"] == 1:
        x = g.node("Add", path, [x, embedding(g, f"{path}/token_type_embeddings", g.int_scalar(0), 1, width)])
    elif c["token_types"]:
        types = g.input("token_type_ids", ["batch", "sequence"], elem=INT64)
        x = g.node(
            "Add", path, [x, embedding(g, f"{path}/token_type_embeddings", types, c["token_types"], width)]
        )
    p = embedding(g, f"{path}/position_embeddings", position_ids, c["positions"], width)
    return layer_norm(g, f"{path}/LayerNorm", g.node("Add", path, [x, p]), width, 1e-12)


def encoder(g, prefix, c):
    """Embeddings and all layers; returns the last hidden state. `prefix` is "" or ends in "/"."""
    ids = token_input(g)
    mask = g.input("attention_mask", ["batch", "sequence"], elem=INT64)
    x = embeddings(g, prefix, c, ids)
    if "embedding" in c:
        x = linear(g, f"{prefix}{c['mapping']}", x, c["embedding"], c["hidden"])
    bias = padding_bias(g, prefix.rstrip("/"), mask)
    for i in range(c["layers"]):
        layer = c["stack"] if c.get("shared") else f"{c['stack']}/layer.{i}"
        x = encoder_layer(g, f"{prefix}{layer}", x, c, bias)
    return x


def first_token(g, path, x):
    return g.node("Gather", path, [x, g.int_scalar(0)], axis=1)


def masked_head(g, ids, x, c):
    """Logits of every position: a dense layer, GELU, LayerNorm, and the embedding table with a bias (Devlin et al. 2018,
    masked LM)."""
    width, names = c["hidden"], c["head"]
    x = gelu(g, names["activation"], linear(g, names["dense"], x, width, width))
    x = layer_norm(g, names["norm"], x, width, 1e-12)
    table = g.weight(parameter("embeddings/word_embeddings", "weight"), [c["vocab"], width])
    tied_head(g, names["decoder"], ids, x, table, width, c["vocab"], bias=True)


def build(name, c):
    g = GraphBuilder(name)
    x = encoder(g, "", c)
    if "head" in c:
        masked_head(g, "input_ids", x, c)
        return g
    if c["pooler"]:
        pooled = linear(g, "pooler/dense", first_token(g, "pooler", x), c["hidden"], c["hidden"])
        g.output(g.node("Tanh", "pooler/activation", [pooled], out="pooler_output"), ["batch", c["hidden"]])
    g.output(g.node("Identity", "", [x], out="last_hidden_state"), ["batch", "sequence", c["hidden"]])
    return g


def macs_formula(c):
    d, inner, layers = c["hidden"], c["inner"], c["layers"]
    pooler = f" + batch*{d}*{d}" if c["pooler"] else ""
    head = f" + batch*sequence*({d}*{d} + {d}*{c['vocab']})" if "head" in c else ""
    mapping = f" + batch*sequence*{c['embedding']}*{d}" if "embedding" in c else ""
    return f"batch*{layers}*(sequence*(4*{d}*{d} + 2*{d}*{inner}) + 2*sequence*sequence*{d}){mapping}{pooler}{head}"


def counted_parameters(c):
    """Configuration to count: tables and their norm, mapping, layers, pooler."""
    d, e, inner = c["hidden"], c.get("embedding", c["hidden"]), c["inner"]
    layer = 4 * d * d + 2 * d * inner + inner + 9 * d
    tables = (c["vocab"] + c["positions"] + c["token_types"] + 2) * e
    mapping = e * d + d if "embedding" in c else 0
    pooler = d * d + d if c["pooler"] else 0
    return tables + mapping + (1 if c.get("shared") else c["layers"]) * layer + pooler


BERT = {
    "vocab": 30522,
    "positions": 512,
    "token_types": 2,
    "pooler": True,
    "stack": "encoder",
    "qkv": ("query", "key", "value"),
    "names": BERT_NAMES,
}
CONFIGS = {
    "bert-base": BERT | {"layers": 12, "hidden": 768, "heads": 12, "inner": 3072},
    "bert-large": BERT | {"layers": 24, "hidden": 1024, "heads": 16, "inner": 4096},
    "distilbert-base": BERT
    | {
        "layers": 6,
        "hidden": 768,
        "heads": 12,
        "inner": 3072,
        "token_types": 0,
        "pooler": False,
        "stack": "transformer",
        "qkv": ("q_lin", "k_lin", "v_lin"),
        "names": DISTILBERT_NAMES,
    },
}
SMALL = {"hidden": 384, "heads": 12, "inner": 1536}
BASE = {"layers": 12, "hidden": 768, "heads": 12, "inner": 3072}
LARGE = {"layers": 24, "hidden": 1024, "heads": 16, "inner": 4096}
# Positions of RoBERTa start behind the padding token's.
ROBERTA = BERT | {"vocab": 50265, "positions": 514, "token_types": 1, "first_position": 2}
XLM_ROBERTA = ROBERTA | {"vocab": 250002}
ALBERT_NAMES = {
    "attention": "attention",
    "attention_output": "attention/dense",
    "attention_norm": "attention/LayerNorm",
    "inner": "ffn",
    "activation": "activation",
    "outer": "ffn_output",
    "norm": "full_layer_layer_norm",
}
CONFIGS |= {
    "roberta-base": ROBERTA | BASE,
    "roberta-large": ROBERTA | LARGE,
    "distilroberta-base": ROBERTA | BASE | {"layers": 6},
    "xlm-roberta-base": XLM_ROBERTA | BASE,
    "xlm-roberta-large": XLM_ROBERTA | LARGE,
    "bge-m3": XLM_ROBERTA | LARGE | {"positions": 8194},
    "all-minilm-l6-v2": BERT | SMALL | {"layers": 6},
    "all-minilm-l12-v2": BERT | SMALL | {"layers": 12},
    "electra-base": BERT | BASE | {"pooler": False},
    "albert-base-v2": BERT
    | BASE
    | {
        "vocab": 30000,
        "embedding": 128,
        "mapping": "encoder/embedding_hidden_mapping_in",
        "stack": "encoder/albert_layer_groups.0/albert_layers.0",
        "shared": True,
        "activation": gelu_tanh,
        "names": ALBERT_NAMES,
    },
}
BERT_HEAD = {
    "dense": "cls/predictions/transform/dense",
    "activation": "cls/predictions/transform/transform_act_fn",
    "norm": "cls/predictions/transform/LayerNorm",
    "decoder": "cls/predictions/decoder",
}
DISTILBERT_HEAD = {
    "dense": "vocab_transform",
    "activation": "activation",
    "norm": "vocab_layer_norm",
    "decoder": "vocab_projector",
}
CONFIGS["bert-base-mlm"] = CONFIGS["bert-base"] | {"pooler": False, "head": BERT_HEAD}
CONFIGS["distilbert-base-mlm"] = CONFIGS["distilbert-base"] | {"head": DISTILBERT_HEAD}
ABOUT = {
    "bert-base": ("BERT base", "bert-base-uncased", 109482240, 11.17),
    "bert-large": ("BERT large", "bert-large-uncased", 335141888, 39.46),
    "distilbert-base": ("DistilBERT base", "distilbert-base-uncased", 66362880, 5.59),
    "bert-base-mlm": ("BERT base with its masked-LM head", "bert-base-uncased-mlm", 109514298, 14.25),
    "distilbert-base-mlm": (
        "DistilBERT base with its masked-LM head",
        "distilbert-base-uncased-mlm",
        66985530,
        8.66,
    ),
}


# Title, paper, names people type; parameters follow from the configuration.
MORE = {
    "roberta-base": ("RoBERTa base", "Liu et al. 2019", ["FacebookAI/roberta-base"]),
    "roberta-large": ("RoBERTa large", "Liu et al. 2019", ["FacebookAI/roberta-large"]),
    "distilroberta-base": ("DistilRoBERTa base", "Sanh et al. 2019", ["distilbert/distilroberta-base"]),
    "xlm-roberta-base": (
        "XLM-RoBERTa base",
        "Conneau et al. 2019",
        ["FacebookAI/xlm-roberta-base", "intfloat/multilingual-e5-base"],
    ),
    "xlm-roberta-large": (
        "XLM-RoBERTa large",
        "Conneau et al. 2019",
        ["FacebookAI/xlm-roberta-large", "intfloat/multilingual-e5-large"],
    ),
    "bge-m3": ("BGE-M3", "arXiv:2402.03216", ["BAAI/bge-m3", "BAAI/bge-reranker-v2-m3", "bge-reranker-v2-m3"]),
    "all-minilm-l6-v2": (
        "MiniLM of six layers",
        "Wang et al. 2020",
        ["sentence-transformers/all-MiniLM-L6-v2", "minilm-l6"],
    ),
    "all-minilm-l12-v2": (
        "MiniLM of twelve layers",
        "Wang et al. 2020",
        ["sentence-transformers/all-MiniLM-L12-v2", "BAAI/bge-small-en-v1.5", "thenlper/gte-small", "gte-small"],
    ),
    "electra-base": (
        "ELECTRA base discriminator",
        "Clark et al. 2020",
        ["google/electra-base-discriminator", "electra-base-discriminator"],
    ),
    "albert-base-v2": ("ALBERT base v2", "Lan et al. 2020", ["albert/albert-base-v2", "albert_base_v2_hf"]),
}


FURTHER = {
    "bert-base": ["google-bert/bert-base-uncased", "bert", "BAAI/bge-base-en-v1.5", "thenlper/gte-base", "intfloat/e5-base-v2"],
    "bert-large": [
        "google-bert/bert-large-uncased",
        "BAAI/bge-large-en-v1.5",
        "thenlper/gte-large",
        "intfloat/e5-large-v2",
        "mixedbread-ai/mxbai-embed-large-v1",
    ],
    "distilbert-base": ["distilbert/distilbert-base-uncased", "distilbert"],
    "bert-base-mlm": ["bert_base_uncased_hf"],
}


def entry(name):
    title, model_id, parameters, gmacs = ABOUT[name]
    c = CONFIGS[name]
    paper = "Sanh et al. 2019" if "distil" in name else "Devlin et al. 2018"
    return Entry(
        name=name,
        family="bert",
        task="text-encoder",
        kind="encoder",
        title=title,
        catalogue="language",
        aliases=[model_id] + FURTHER.get(name, []),
        source=f"{model_id.removesuffix('-mlm')} config.json; {paper}",
        dims={"batch": 1, "sequence": 128},
        build=lambda: build(name, c),
        macs_formula=macs_formula(c),
        published={
            "parameters": parameters,
            "gmacs": gmacs,
            "dims": {"batch": 1, "sequence": 128},
            "source": f"{paper}: configuration; encoder MACs by the closed formula",
        },
    )


def more_entry(name):
    title, paper, names = MORE[name]
    c = CONFIGS[name]
    return Entry(
        name=name,
        family="bert",
        task="text-encoder",
        kind="encoder",
        title=title,
        catalogue="language",
        aliases=names,
        source=f"{names[0]} config.json; {paper}",
        dims={"batch": 1, "sequence": 128},
        build=lambda: build(name, c),
        macs_formula=macs_formula(c),
        published={
            "parameters": counted_parameters(c),
            "source": f"{paper}: closed formula of the configuration",
        },
    )


ENTRIES = [entry(name) for name in CONFIGS if name not in MORE] + [more_entry(name) for name in MORE]
