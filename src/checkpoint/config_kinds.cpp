#include "checkpoint/config_kinds.hpp"

#include "archsim/core/finding.hpp"
#include "checkpoint/model_types.hpp"
#include "core/json_document.hpp"
#include "core/text.hpp"
#include "core/text_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace archsim::checkpoint {

namespace {

using nlohmann::json;

enum class Family {
    text_encoder,
    image_encoder,
    contrastive,
    sound_encoder,
    two_parts,
    diffuses_text,
    recurrent
};

/// A kind by its name in hardware_db/model_types.json.
constexpr std::array<std::pair<std::string_view, Family>, 7> kKinds = {
    {{"text_encoder", Family::text_encoder},
     {"image_encoder", Family::image_encoder},
     {"contrastive", Family::contrastive},
     {"sound_encoder", Family::sound_encoder},
     {"two_parts", Family::two_parts},
     {"diffuses_text", Family::diffuses_text},
     {"recurrent", Family::recurrent}}};

bool lists(const json& names, std::string_view type) {
    return std::any_of(names.begin(), names.end(), [&](const json& one) {
        const auto& name = one.get_ref<const std::string&>();
        return type == name ||
               (type.starts_with(name) && (type[name.size()] == '_' || type[name.size()] == '-'));
    });
}

/// The family of a model_type, and whether it is one of those that the table lists.
bool find_family(std::string_view stated, Family& family) {
    const std::string lower = lower_case(stated);
    if (lower.empty() || lists(model_types().at("decoders"), lower))
        return false;
    for (const json& kind : model_types().at("kinds")) {
        const auto known = std::find_if(kKinds.begin(), kKinds.end(), [&](const auto& pair) {
            return pair.first == kind.at("kind").get_ref<const std::string&>();
        });
        if (known == kKinds.end() || !lists(kind.at("types"), lower))
            continue;
        family = known->second;
        return true;
    }
    return false;
}

constexpr const char* kGiveExport = "give its ONNX export";

[[noreturn]] void refuse(const std::string& file, const char* where, std::string what, const char* hint) {
    Finding finding;
    finding.kind = FindingKind::unsupported;
    finding.file = file;
    finding.where = where;
    finding.message = std::move(what);
    finding.hint = hint;
    throw InputError(finding);
}

[[noreturn]] void refuse_family(Family family, const std::string& type, const std::string& file) {
    const char* where = "model_type";
    switch (family) {
    case Family::text_encoder:
        refuse(file, where, fmt::format("{} is an encoder: it keeps no cache and generates no text", type),
               kGiveExport);
    case Family::image_encoder:
        refuse(file, where, fmt::format("{} is an encoder of images, which generates no text", type),
               kGiveExport);
    case Family::contrastive:
        refuse(file, where,
               fmt::format("{} is a pair of encoders, one of them of text; it generates none", type),
               "give the ONNX export of one of them");
    case Family::sound_encoder:
        refuse(file, where, fmt::format("{} is an encoder of sound, no language model", type), kGiveExport);
    case Family::two_parts:
        refuse(file, where, fmt::format("{} is an encoder with a decoder (is_encoder_decoder)", type),
               "give the ONNX exports of both, one at a time");
    case Family::diffuses_text:
        refuse(file, where,
               fmt::format("{} is a diffusion language model: it refines many tokens at once and keeps no "
                           "cache of keys and values",
                           type),
               kGiveExport);
    case Family::recurrent:
        refuse(file, where,
               fmt::format("{} is a recurrent network without attention, which is not known", type),
               kGiveExport);
    }
    refuse(file, where, fmt::format("{} is no decoder", type), kGiveExport);
}

std::string text_at(const json& object, const char* key) {
    const auto it = object.find(key);
    return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

bool true_at(const json& object, const char* key) {
    const auto it = object.find(key);
    return it != object.end() && it->is_boolean() && it->get<bool>();
}

bool false_at(const json& object, const char* key) {
    const auto it = object.find(key);
    return it != object.end() && it->is_boolean() && !it->get<bool>();
}

/// Classes of one task each, whatever the type is called.
void refuse_by_class(const json& document, const std::string& file) {
    const auto classes = document.find("architectures");
    if (classes == document.end() || !classes->is_array() || classes->empty() ||
        !classes->front().is_string())
        return;
    constexpr std::array<std::pair<std::string_view, Family>, 5> kTasks{
        {{"ForMaskedLM", Family::text_encoder},
         {"ForImageClassification", Family::image_encoder},
         {"ForObjectDetection", Family::image_encoder},
         {"ForCTC", Family::sound_encoder},
         {"ForAudioClassification", Family::sound_encoder}}};
    const auto name = classes->front().get<std::string>();
    for (const auto& [ending, family] : kTasks)
        if (name.ends_with(ending))
            refuse_family(family, name, file);
}

bool names_part_of(const json& names, std::string_view text) {
    return std::any_of(names.begin(), names.end(), [&](const json& name) {
        return text.find(name.get_ref<const std::string&>()) != std::string_view::npos;
    });
}

std::string first_class(const json& document) {
    const auto classes = document.find("architectures");
    return classes != document.end() && classes->is_array() && !classes->empty() &&
                   classes->front().is_string()
               ? classes->front().get<std::string>()
               : "";
}

/// Small networks that propose tokens to a larger model, whose hidden states they read.
void refuse_drafters(const json& document, const std::string& type, const std::string& file) {
    const json& drafters = model_types().at("drafters");
    const std::string name = first_class(document);
    const auto has_field = [&](const json& field) { return document.contains(field.get<std::string>()); };
    if (!names_part_of(drafters.at("classes"), name) && !lists(drafters.at("types"), type) &&
        std::none_of(drafters.at("fields").begin(), drafters.at("fields").end(), has_field))
        return;
    refuse(file, "architectures",
           fmt::format("{} drafts tokens for another model, whose hidden states it reads; alone it generates "
                       "nothing",
                       name.empty() ? "this network" : name),
           "give that model to serve_model, with the number of tokens that this one proposes as --drafted "
           "and how "
           "often they are right as --accepted");
}

} // namespace

HeadKind head_of(std::string_view architecture) {
    const json& heads = model_types().at("heads");
    const auto ends = [&](const char* list) {
        const json& names = heads.at(list);
        return std::any_of(names.begin(), names.end(), [&](const json& name) {
            return architecture.ends_with(name.get_ref<const std::string&>());
        });
    };
    return ends("generate") ? HeadKind::generates
           : ends("score")  ? HeadKind::scores
           : ends("embed")  ? HeadKind::embeds
                            : HeadKind::generates;
}

void refuse_other_kinds(const json& document, const json& text, const std::string& type,
                        const std::string& file) {
    if (const std::string name = text_at(document, "_class_name"); !name.empty())
        refuse(file, "_class_name",
               fmt::format("{} is a part of a diffusers pipeline, which generates no text", name),
               "give the folder of the pipeline, which has a model_index.json; FOLDER#unet or "
               "FOLDER#transformer is a part "
               "of it");
    if (document.contains("pretrained_cfg") ||
        (document.contains("architecture") && document.contains("num_classes")))
        refuse(file, "architecture",
               fmt::format("{} is an image network of timm", text_at(document, "architecture")), kGiveExport);
    refuse_drafters(document, type, file);
    if (true_at(text, "is_decoder")) // an encoder's class with a causal mask and a cache
        return;
    Family family{};
    for (const std::string& name : {text_at(document, "model_type"), type})
        if (find_family(name, family))
            refuse_family(family, name, file);
    // EmbeddingGemma and decoders that were turned into encoders: every token sees all others. Gemma 3 and 4
    // let those of an image do so ("vision").
    if (true_at(text, "use_bidirectional_attention") || text_at(text, "use_bidirectional_attention") == "all")
        refuse(file, "use_bidirectional_attention",
               fmt::format("{} is an encoder here: every token sees all others, so it keeps no cache", type),
               kGiveExport);
    if (false_at(text, "is_causal"))
        refuse(file, "is_causal",
               fmt::format("{} is an encoder here: every token sees all others, so it keeps no cache", type),
               kGiveExport);
    refuse_by_class(document, file);
}

} // namespace archsim::checkpoint
