// Configurations that describe no decoder of text: what they are, in a sentence.

#include "checkpoint/config_parts.hpp"
#include "checkpoint/gguf_file.hpp"
#include "core/text.hpp"

#include <fmt/format.h>

namespace archsim::checkpoint {

using nlohmann::json;

static bool lists(const json& names, std::string_view type) {
    return any_name(names, [&](const std::string& name) {
        return type == name ||
               (type.starts_with(name) && (type[name.size()] == '_' || type[name.size()] == '-'));
    });
}

constexpr const char* kGiveExport = "give its ONNX export";

[[noreturn]] static void refuse_kind(const json& kind, const std::string& name, const std::string& file) {
    refuse(file, name + " " + kind.at("is").get<std::string>(), kind.value("give", std::string(kGiveExport)),
           "model_type");
}

/// By the model_type, where the table lists it.
static void refuse_by_type(const std::string& stated, const std::string& file) {
    const std::string lower = lower_case(stated);
    if (lower.empty() || lists(model_types().at("decoders"), lower))
        return;
    for (const json& kind : model_types().at("kinds"))
        if (lists(kind.at("types"), lower))
            refuse_kind(kind, stated, file);
}

static bool is_at(const json& object, const char* key, bool value) {
    const auto it = object.find(key);
    return it != object.end() && *it == json(value);
}

static std::string first_class(const json& document) {
    const auto classes = document.find("architectures");
    return classes != document.end() && classes->is_array() && !classes->empty() &&
                   classes->front().is_string()
               ? classes->front().get<std::string>()
               : "";
}

/// Classes of one task each, whatever the type is called.
static void refuse_by_class(const json& document, const std::string& file) {
    const std::string name = first_class(document);
    for (const json& kind : model_types().at("kinds"))
        if (any_name(kind.value("classes", json::array()),
                     [&](const std::string& ending) { return name.ends_with(ending); }))
            refuse_kind(kind, name, file);
}

/// Small networks that propose tokens to a larger model, whose hidden states they read.
static void refuse_drafters(const json& document, const std::string& type, const std::string& file) {
    const json& drafters = model_types().at("drafters");
    const std::string name = first_class(document);
    const auto of_class = [&](const std::string& part) { return name.find(part) != std::string::npos; };
    const auto has_field = [&](const std::string& field) { return document.contains(field); };
    if (!any_name(drafters.at("classes"), of_class) && !lists(drafters.at("types"), type) &&
        !any_name(drafters.at("fields"), has_field))
        return;
    refuse(file,
           fmt::format("{} drafts tokens for another model, whose hidden states it reads; alone it generates "
                       "nothing",
                       name.empty() ? "this network" : name),
           "give that model to serve_model, with the number of tokens that this one proposes as --drafted "
           "and how often they are right as --accepted",
           "architectures");
}

HeadKind head_of(std::string_view architecture) {
    const json& heads = model_types().at("heads");
    const auto ends = [&](const char* list) {
        return any_name(heads.at(list),
                        [&](const std::string& name) { return architecture.ends_with(name); });
    };
    return ends("generate") ? HeadKind::generates
           : ends("score")  ? HeadKind::scores
           : ends("embed")  ? HeadKind::embeds
                            : HeadKind::generates;
}

void refuse_other_kinds(const json& document, const json& text, const std::string& type,
                        const std::string& file) {
    if (const std::string name = text_at(document, "_class_name"); !name.empty())
        refuse(file, fmt::format("{} is a part of a diffusers pipeline, which generates no text", name),
               "give the folder of the pipeline, which has a model_index.json; FOLDER#unet or "
               "FOLDER#transformer is a part of it",
               "_class_name");
    if (document.contains("pretrained_cfg") ||
        (document.contains("architecture") && document.contains("num_classes")))
        refuse(file, fmt::format("{} is an image network of timm", text_at(document, "architecture")),
               kGiveExport, "architecture");
    refuse_drafters(document, type, file);
    if (is_at(text, "is_decoder", true)) // an encoder's class with a causal mask and a cache
        return;
    for (const std::string& name : {text_at(document, "model_type"), type})
        refuse_by_type(name, file);
    const auto refuse_encoder = [&](const char* field) {
        refuse(file,
               fmt::format("{} is an encoder here: every token sees all others, so it keeps no cache", type),
               kGiveExport, field);
    };
    // EmbeddingGemma and decoders that were turned into encoders: every token sees all others. Gemma 3 and 4
    // let those of an image do so ("vision").
    if (is_at(text, "use_bidirectional_attention", true) ||
        text_at(text, "use_bidirectional_attention") == "all")
        refuse_encoder("use_bidirectional_attention");
    if (is_at(text, "is_causal", false))
        refuse_encoder("is_causal");
    refuse_by_class(document, file);
}

// GGUF files that hold no language model: what they are, in a sentence.

constexpr const char* kGiveModel = "give the .gguf file of the language model";
constexpr const char* kGiveBase =
    "give the .gguf file of its base model: an adapter changes neither shapes nor cache";

static std::string text(const GgufHeader& header, const char* key) {
    const auto it = header.texts.find(key);
    return it == header.texts.end() ? "" : it->second;
}

static bool any_tensor(const GgufHeader& header, std::string_view beginning) {
    const auto it = header.tensors.lower_bound(std::string(beginning));
    return it != header.tensors.end() && it->first.starts_with(beginning);
}

static bool is_adapter(const GgufHeader& header) {
    return text(header, "general.type") == "adapter" ||
           std::ranges::any_of(header.tensors, [](const auto& t) { return t.first.ends_with(".lora_a"); });
}

/// Blocks of networks that denoise images, under the names of their authors.
static bool denoises(const GgufHeader& header) {
    for (const char* beginning :
         {"double_blocks.", "single_blocks.", "joint_blocks.", "transformer_blocks.", "input_blocks.",
          "model.diffusion_model.", "down_blocks.", "double_layers."})
        if (any_tensor(header, beginning))
            return true;
    return false;
}

/// In the words of hardware_db/model_types.json for files of that kind.
[[noreturn]] static void refuse_gguf_kind(std::string_view kind, const std::string& architecture,
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

void refuse_other_kinds(const GgufHeader& header, const std::string& file) {
    const std::string type = text(header, "general.type"),
                      architecture = text(header, "general.architecture");
    if (is_adapter(header))
        refuse(file,
               fmt::format("is a LoRA adapter{}, no model",
                           architecture.empty() ? "" : fmt::format(" of a {} model", architecture)),
               kGiveBase);
    if (type == "mmproj")
        refuse_gguf_kind("projector", architecture, file);
    if (type == "imatrix" || header.numbers.contains("imatrix.chunk_count"))
        refuse(file, "is an importance matrix, which quantisation reads", kGiveModel);
    if (architecture == "controlvector")
        refuse(file, "is a control vector, which shifts what a model computes", kGiveModel);
    const bool causal = header.number(architecture + ".attention.causal", 1) != 0;
    for (const auto& row : model_types().at("gguf_kinds"))
        if (any_name(row.at("names"),
                     [&](const std::string& beginning) { return architecture.starts_with(beginning); }))
            refuse_gguf_kind(row.at("kind").get_ref<const std::string&>(), architecture, file);
    if (denoises(header))
        refuse_gguf_kind("diffusion", architecture.empty() ? "of no stated architecture" : architecture,
                         file);
    if (!causal)
        refuse_gguf_kind("encoder", architecture + ", attention.causal is false", file);
    if (header.tensors.empty())
        refuse(file,
               header.numbers.contains("tokenizer.ggml.tokens") ? "holds a vocabulary alone, no weights"
                                                                : "holds no tensors",
               kGiveModel);
}

} // namespace archsim::checkpoint
