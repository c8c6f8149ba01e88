"""GPT-J (Wang and Komatsuzaki 2021): rotary positions on 64 of 256 head elements, attention and MLP side by
side on one normalised input. Attention is ONNX Runtime's GroupQueryAttention with as many key as query heads;
the head sees the last token of each sequence only."""

from builder import FLOAT16, GraphBuilder
from catalogue import Entry
from layers import embedding, gelu_tanh, last_token, layer_norm, linear, mlp, token_input
from llama import attention, llm_facts, sequence_lengths

CONFIG = {
    "layers": 28,
    "hidden": 4096,
    "heads": 16,
    "kv_heads": 16,
    "head_dim": 256,
    "rotary_dim": 64,
    "rotary_interleaved": 1,
    "inner": 16384,
    "vocab": 50400,
    "max_context": 2048,
    "qkv_bias": False,
    "attention_output": "out_proj",
}


def build(name, c):
    g, width = GraphBuilder(name, FLOAT16), c["hidden"]
    ids = token_input(g)
    x = embedding(g, "transformer/wte", ids, c["vocab"], width)
    lengths = sequence_lengths(g, "transformer", ids)
    for i in range(c["layers"]):
        path = f"transformer/h.{i}"
        y = layer_norm(g, f"{path}/ln_1", x, width)
        attended = attention(g, f"{path}/attn", i, y, c, lengths)
        fed = mlp(g, f"{path}/mlp", y, width, c["inner"], gelu_tanh, ("fc_in", "fc_out"), "act")
        x = g.node("Add", path, [g.node("Add", path, [attended, fed]), x])
    x = last_token(g, "lm_head", layer_norm(g, "transformer/ln_f", x, width))
    linear(g, "lm_head", x, width, c["vocab"], out="logits")
    g.output("logits", ["batch", 1, c["vocab"]])
    return g


def macs_formula(c):
    d, inner = c["hidden"], c["inner"]
    return (
        f"batch*({c['layers']}*(sequence*(4*{d}*{d} + 2*{d}*{inner})"
        f" + 2*{d}*(sequence*past_sequence + sequence*(sequence + 1)/2)) + {d}*{c['vocab']})"
    )


ENTRIES = [
    Entry(
        name="gpt-j-6b",
        family="gptj",
        task="text-generation",
        kind="decoder-lm",
        title="GPT-J 6B",
        catalogue="language",
        aliases=["EleutherAI/gpt-j-6b"],
        source="EleutherAI/gpt-j-6b config.json",
        dims={"batch": 1, "sequence": 512, "past_sequence": 0},
        build=lambda: build("gpt-j-6b", CONFIG),
        macs_formula=macs_formula(CONFIG),
        buffers=["cos_cache", "sin_cache"],
        llm=llm_facts(CONFIG),
        lm_head="/lm_head/MatMul",
        note="logits for the last token of each sequence only, as serving stacks compute them",
        published={"parameters": 6050882784, "source": "EleutherAI/gpt-j-6b checkpoint in transformers"},
    )
]
