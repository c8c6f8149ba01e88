// GGUF files that hold no language model: what they are, in a sentence.

#include "checkpoint/fields.hpp"
#include "checkpoint/gguf_file.hpp"
#include "checkpoint/model_types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace archsim::checkpoint {

namespace {

constexpr const char* kGiveModel = "give the .gguf file of the language model";
constexpr const char* kGiveBase =
    "give the .gguf file of its base model: an adapter changes neither shapes nor cache";

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
           std::ranges::any_of(header.tensors, [](const auto& t) { return t.first.ends_with(".lora_a"); });
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

/// In the words of hardware_db/model_types.json for files of that kind.
[[noreturn]] void refuse_kind(std::string_view kind, const std::string& architecture,
                              const std::string& file) {
    for (const auto& row : model_types().at("gguf_kinds"))
        if (row.at("kind").get_ref<const std::string&>() == kind) {
            auto what = row.at("is").get<std::string>();
            if (const std::size_t at = what.find("{}"); at != std::string::npos)
                what.replace(at, 2, architecture);
            refuse(file, std::move(what), row.value("give", std::string("give its ONNX export")));
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
        refuse_kind("projector", architecture, file);
    if (type == "imatrix" || header.numbers.contains("imatrix.chunk_count"))
        refuse(file, "is an importance matrix, which quantisation reads", kGiveModel);
    if (architecture == "controlvector")
        refuse(file, "is a control vector, which shifts what a model computes", kGiveModel);
    const bool causal = header.number(architecture + ".attention.causal", 1) != 0;
    for (const auto& row : model_types().at("gguf_kinds"))
        for (const auto& beginning : row.at("names"))
            if (architecture.starts_with(beginning.get_ref<const std::string&>()))
                refuse_kind(row.at("kind").get_ref<const std::string&>(), architecture, file);
    if (denoises(header))
        refuse_kind("diffusion", architecture.empty() ? "of no stated architecture" : architecture, file);
    if (!causal)
        refuse_kind("encoder", architecture + ", attention.causal is false", file);
    if (header.tensors.empty())
        refuse(file,
               header.numbers.contains("tokenizer.ggml.tokens") ? "holds a vocabulary alone, no weights"
                                                                : "holds no tensors",
               kGiveModel);
}

} // namespace archsim::checkpoint
