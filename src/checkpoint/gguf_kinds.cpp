#include "checkpoint/gguf_kinds.hpp"

#include "archsim/core/finding.hpp"
#include "checkpoint/model_types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace archsim::checkpoint {

namespace {

constexpr const char* kGiveOnnx = "give its ONNX export";
constexpr const char* kGiveModel = "give the .gguf file of the language model";
constexpr const char* kGiveBase =
    "give the .gguf file of its base model: an adapter changes neither shapes nor cache";

enum class Kind { projector, diffusion, diffusion_text, encoder, encoder_decoder, recurrent, speech };

/// A kind by its name in hardware_db/model_types.json.
constexpr std::array<std::pair<std::string_view, Kind>, 7> kGgufKinds{
    {{"projector", Kind::projector},
     {"diffusion", Kind::diffusion},
     {"diffusion_text", Kind::diffusion_text},
     {"encoder", Kind::encoder},
     {"encoder_decoder", Kind::encoder_decoder},
     {"recurrent", Kind::recurrent},
     {"speech", Kind::speech}}};

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
    for (const auto& [name, kind] : kGgufKinds)
        for (const auto& beginning : model_types().at("gguf_kinds").at(std::string(name)))
            if (architecture.starts_with(beginning.get_ref<const std::string&>()))
                refuse_kind(kind, architecture, file);
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
