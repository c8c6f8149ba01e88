#include "checkpoint/gguf_kinds.hpp"

#include "archsim/core/finding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace archsim::checkpoint {

namespace {

constexpr const char* kGiveOnnx = "give its ONNX export";
constexpr const char* kGiveModel = "give the .gguf file of the language model";
constexpr const char* kGiveBase =
    "give the .gguf file of its base model: an adapter changes neither shapes nor cache";

enum class Kind { projector, diffusion, diffusion_text, encoder, encoder_decoder, recurrent, speech };

struct Architecture {
    const char* name; ///< general.architecture begins so; the longer names first
    Kind kind;
};

// Language models and encoders: LLM_ARCH_NAMES of llama.cpp (src/llama-arch.cpp). Networks that generate
// images: what ComfyUI-GGUF writes and reads (tools/convert.py).
constexpr std::array kArchitectures = {
    Architecture{"clip", Kind::projector},       Architecture{"mmproj", Kind::projector},
    Architecture{"flux", Kind::diffusion},       Architecture{"sd1", Kind::diffusion},
    Architecture{"sd3", Kind::diffusion},        Architecture{"sdxl", Kind::diffusion},
    Architecture{"aura", Kind::diffusion},       Architecture{"hidream", Kind::diffusion},
    Architecture{"cosmos", Kind::diffusion},     Architecture{"ltxv", Kind::diffusion},
    Architecture{"hyvid", Kind::diffusion},      Architecture{"wan", Kind::diffusion},
    Architecture{"lumina", Kind::diffusion},     Architecture{"qwen_image", Kind::diffusion},
    Architecture{"dream", Kind::diffusion_text}, Architecture{"llada", Kind::diffusion_text},
    Architecture{"rnd1", Kind::diffusion_text},  Architecture{"diffusion-gemma", Kind::diffusion_text},
    Architecture{"bert", Kind::encoder},         Architecture{"nomic-bert", Kind::encoder},
    Architecture{"jina-bert", Kind::encoder},    Architecture{"modern-bert", Kind::encoder},
    Architecture{"neo-bert", Kind::encoder},     Architecture{"eurobert", Kind::encoder},
    Architecture{"t5encoder", Kind::encoder},    Architecture{"gemma-embedding", Kind::encoder},
    Architecture{"llama-embed", Kind::encoder},  Architecture{"t5", Kind::encoder_decoder},
    Architecture{"rwkv", Kind::recurrent},       Architecture{"arwkv", Kind::recurrent},
    Architecture{"whisper", Kind::speech},       Architecture{"wavtokenizer", Kind::speech},
};

[[noreturn]] void refuse(const std::string& file, std::string what, std::string hint) {
    Finding finding;
    finding.kind = FindingKind::unsupported;
    finding.file = file;
    finding.message = std::move(what);
    finding.hint = std::move(hint);
    throw InputError(finding);
}

std::string text(const GgufHeader& header, const char* key) {
    const auto it = header.texts.find(key);
    return it == header.texts.end() ? "" : it->second;
}

bool any_tensor(const GgufHeader& header, std::string_view beginning) {
    const auto it = header.tensors.lower_bound(std::string(beginning));
    return it != header.tensors.end() && it->first.starts_with(beginning);
}

bool is_adapter(const GgufHeader& header) {
    return text(header, "general.type") == "adapter" ||
           std::any_of(header.tensors.begin(), header.tensors.end(),
                       [](const auto& t) { return t.first.ends_with(".lora_a"); });
}

/// Blocks of networks that denoise images, under the names of their authors.
bool denoises(const GgufHeader& header) {
    for (const char* beginning :
         {"double_blocks.", "single_blocks.", "joint_blocks.", "transformer_blocks.", "input_blocks.",
          "model.diffusion_model.", "down_blocks.", "double_layers."})
        if (any_tensor(header, beginning))
            return true;
    return false;
}

[[noreturn]] void refuse_kind(Kind kind, const std::string& architecture, const std::string& file) {
    switch (kind) {
    case Kind::projector:
        refuse(file,
               "is a projector (mmproj): the encoder of images or sound that lies beside a language model",
               kGiveModel);
    case Kind::diffusion:
        refuse(file,
               fmt::format("is a diffusion network ({}), which generates images and no text", architecture),
               kGiveOnnx);
    case Kind::diffusion_text:
        refuse(file,
               fmt::format("is a diffusion language model ({}): it refines many tokens at once and keeps no "
                           "cache of keys and values",
                           architecture),
               kGiveOnnx);
    case Kind::encoder:
        refuse(file, fmt::format("is an encoder ({}): it has no cache and generates no text", architecture),
               kGiveOnnx);
    case Kind::encoder_decoder:
        refuse(file, fmt::format("is an encoder with a decoder ({})", architecture),
               "give the ONNX exports of both, one at a time");
    case Kind::recurrent:
        refuse(file,
               fmt::format("is a recurrent network without attention ({}), which is not read from GGUF files",
                           architecture),
               kGiveOnnx);
    case Kind::speech:
        refuse(file, fmt::format("is a network of speech ({}), no language model", architecture), kGiveOnnx);
    }
    refuse(file, "is no language model", kGiveModel);
}

} // namespace

void refuse_other_kinds(const GgufHeader& header, const std::string& file) {
    const std::string type = text(header, "general.type"),
                      architecture = text(header, "general.architecture");
    if (is_adapter(header))
        refuse(file,
               fmt::format("is a LoRA adapter{}, no model",
                           architecture.empty() ? "" : fmt::format(" of a {} model", architecture)),
               kGiveBase);
    if (type == "mmproj")
        refuse_kind(Kind::projector, architecture, file);
    if (type == "imatrix" || header.numbers.contains("imatrix.chunk_count"))
        refuse(file, "is an importance matrix, which quantisation reads", kGiveModel);
    if (architecture == "controlvector")
        refuse(file, "is a control vector, which shifts what a model computes", kGiveModel);
    const bool causal = header.number(architecture + ".attention.causal", 1) != 0;
    for (const Architecture& row : kArchitectures)
        if (architecture.starts_with(row.name))
            refuse_kind(row.kind, architecture, file);
    if (denoises(header))
        refuse_kind(Kind::diffusion, architecture.empty() ? "of no stated architecture" : architecture, file);
    if (!causal)
        refuse_kind(Kind::encoder, architecture + ", attention.causal is false", file);
    if (header.tensors.empty())
        refuse(file,
               header.numbers.contains("tokenizer.ggml.tokens") ? "holds a vocabulary alone, no weights"
                                                                : "holds no tensors",
               kGiveModel);
}

} // namespace archsim::checkpoint
