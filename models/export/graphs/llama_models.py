"""Published configurations of LLaMA-like language models."""

from catalogue import Entry
from llama import build, head_node, llm_facts, macs_formula


def config(layers, hidden, heads, kv_heads, inner, vocab, max_context, tied=False, qkv_bias=False, **more):
    return {
        "layers": layers,
        "hidden": hidden,
        "heads": heads,
        "kv_heads": kv_heads,
        "head_dim": hidden // heads,
        "inner": inner,
        "vocab": vocab,
        "max_context": max_context,
        "tied": tied,
        "qkv_bias": qkv_bias,
    } | more


CONFIGS = {
    "tinyllama-1.1b": config(22, 2048, 32, 4, 5632, 32000, 2048),
    "llama-2-7b": config(32, 4096, 32, 32, 11008, 32000, 4096),
    "llama-2-13b": config(40, 5120, 40, 40, 13824, 32000, 4096),
    "llama-2-70b": config(80, 8192, 64, 8, 28672, 32000, 4096),
    "llama-3-8b": config(32, 4096, 32, 8, 14336, 128256, 8192),
    "llama-3-70b": config(80, 8192, 64, 8, 28672, 128256, 8192),
    "llama-3.2-1b": config(16, 2048, 32, 8, 8192, 128256, 131072, tied=True),
    "llama-3.2-3b": config(28, 3072, 24, 8, 8192, 128256, 131072, tied=True),
    "mistral-7b": config(32, 4096, 32, 8, 14336, 32000, 32768, window=4096),
    "qwen2-0.5b": config(24, 896, 14, 2, 4864, 151936, 131072, tied=True, qkv_bias=True),
    "qwen2-1.5b": config(28, 1536, 12, 2, 8960, 151936, 131072, tied=True, qkv_bias=True),
    "qwen2-7b": config(28, 3584, 28, 4, 18944, 152064, 131072, qkv_bias=True),
    "mixtral-8x7b": config(32, 4096, 32, 8, 14336, 32000, 32768, experts=8, active_experts=2),
}
# title, checkpoint, published parameters, other names
ABOUT = {
    "tinyllama-1.1b": (
        "TinyLlama 1.1B",
        "TinyLlama/TinyLlama-1.1B-Chat-v1.0",
        1100048384,
        ["TinyLlama-1.1B"],
    ),
    "llama-2-7b": (
        "Llama 2 7B",
        "meta-llama/Llama-2-7b-hf",
        6738415616,
        ["meta-llama/Llama-2-7b-chat-hf", "lmsys/vicuna-7b-v1.5"],
    ),
    "llama-2-13b": (
        "Llama 2 13B",
        "meta-llama/Llama-2-13b-hf",
        13015864320,
        ["meta-llama/Llama-2-13b-chat-hf", "lmsys/vicuna-13b-v1.5"],
    ),
    "llama-2-70b": ("Llama 2 70B", "meta-llama/Llama-2-70b-hf", 68976648192, ["meta-llama/Llama-2-70b-chat-hf"]),
    "llama-3-8b": ("Llama 3 8B", "meta-llama/Meta-Llama-3-8B", 8030261248, []),
    "llama-3-70b": (
        "Llama 3 70B",
        "meta-llama/Meta-Llama-3-70B",
        70553706496,
        [],
    ),
    "llama-3.2-1b": ("Llama 3.2 1B", "meta-llama/Llama-3.2-1B", 1235814400, ["meta-llama/Llama-3.2-1B-Instruct"]),
    "llama-3.2-3b": ("Llama 3.2 3B", "meta-llama/Llama-3.2-3B", 3212749824, ["meta-llama/Llama-3.2-3B-Instruct"]),
    "mistral-7b": ("Mistral 7B v0.1", "mistralai/Mistral-7B-v0.1", 7241732096, []),
    "qwen2-0.5b": ("Qwen2 0.5B", "Qwen/Qwen2-0.5B", 494032768, ["Qwen/Qwen2-0.5B-Instruct"]),
    "qwen2-1.5b": (
        "Qwen2 1.5B",
        "Qwen/Qwen2-1.5B",
        1543714304,
        ["Qwen/Qwen2-1.5B-Instruct", "qwen2-vl-2b-language"],
    ),
    "qwen2-7b": ("Qwen2 7B", "Qwen/Qwen2-7B", 7615616512, ["Qwen/Qwen2-7B-Instruct", "minicpm-v-2_6-language"]),
    "mixtral-8x7b": ("Mixtral 8x7B", "mistralai/Mixtral-8x7B-v0.1", 46702792704, ["mistralai/Mixtral-8x7B-Instruct-v0.1"]),
}


# Networks whose checkpoint's name belongs to the entry that is read from its configuration (checkpoints.json).
OTHERS_NAMES = {"mistral-7b"}


def family(name):
    return "llama" if "llama" in name else name.split("-")[0].split(".")[0]


def entry(name):
    title, checkpoint, parameters, aliases = ABOUT[name]
    c = CONFIGS[name]
    note = "logits for the last token of each sequence only, as serving stacks compute them"
    if c.get("window"):
        note += f"; the formula holds while past_sequence + sequence <= {c['window']} (sliding window)"
    return Entry(
        name=name,
        family=family(name),
        task="text-generation",
        kind="decoder-lm",
        title=title,
        catalogue="language",
        aliases=aliases + [checkpoint] * (name not in OTHERS_NAMES),
        source=f"{checkpoint} config.json",
        dims={"batch": 1, "sequence": 512, "past_sequence": 0},
        build=lambda: build(name, c),
        macs_formula=macs_formula(c),
        buffers=["cos_cache", "sin_cache"],
        llm=llm_facts(c),
        lm_head=head_node(c),
        note=note,
        published={"parameters": parameters, "source": f"{checkpoint} checkpoint"},
    )


ENTRIES = [entry(name) for name in CONFIGS]
