#include "checkpoint/config_kinds.hpp"

#include "archsim/core/finding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <string_view>

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

// Values of model_type, or what they begin with before '_' or '-'. Of the classes in transformers
// (src/transformers/models/auto/modeling_auto.py): those under MODEL_FOR_MASKED_LM,
// MODEL_FOR_IMAGE_CLASSIFICATION, MODEL_FOR_CTC, MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM and
// MODEL_FOR_SPEECH_SEQ_2_SEQ, and of models with code of their own (nomic_bert, new, llada).
constexpr std::string_view kTextEncoders[] = {
    "albert",       "bert",    "big_bird",  "camembert",     "convbert",   "deberta",       "distilbert",
    "electra",      "ernie",   "ernie_m",   "esm",           "eurobert",   "flaubert",      "fnet",
    "funnel",       "ibert",   "jina_bert", "layoutlm",      "layoutlmv2", "layoutlmv3",    "lilt",
    "longformer",   "luke",    "markuplm",  "megatron-bert", "mobilebert", "modernbert",    "mpnet",
    "mra",          "neobert", "new",       "nezha",         "nomic_bert", "nystromformer", "nvembed",
    "rembert",      "roberta", "roc_bert",  "roformer",      "splinter",   "squeezebert",   "xlm",
    "xlm-roberta",  "xlnet",   "xmod",      "yoso",          "gte",        "llama_bidirec", "modernvbert",
    "data2vec-text"};
constexpr std::string_view kImageEncoders[] = {"beit",         "bit",
                                               "convnext",     "convnextv2",
                                               "cvt",          "data2vec-vision",
                                               "deit",         "detr",
                                               "dinat",        "dinov2",
                                               "dinov3",       "dpt",
                                               "efficientnet", "focalnet",
                                               "hiera",        "ijepa",
                                               "levit",        "mobilenet_v1",
                                               "mobilenet_v2", "mobilevit",
                                               "mobilevitv2",  "poolformer",
                                               "pvt",          "regnet",
                                               "resnet",       "rt_detr",
                                               "sam",          "segformer",
                                               "swiftformer",  "swin",
                                               "swinv2",       "table-transformer",
                                               "timm_wrapper", "timesformer",
                                               "videomae",     "vit",
                                               "vit_mae",      "vivit",
                                               "yolos"};
constexpr std::string_view kContrastive[] = {"align",  "altclip", "chinese_clip", "clap",   "clip", "clipseg",
                                             "siglip", "siglip2", "x_clip",       "owlvit", "owlv2"};
constexpr std::string_view kSoundEncoders[] = {"audio-spectrogram-transformer",
                                               "data2vec-audio",
                                               "hubert",
                                               "mctct",
                                               "parakeet",
                                               "parakeet_ctc",
                                               "sew",
                                               "unispeech",
                                               "wav2vec2",
                                               "wavlm",
                                               "encodec",
                                               "mimi",
                                               "vits"};
constexpr std::string_view kTwoParts[] = {"bart",
                                          "bigbird_pegasus",
                                          "blenderbot",
                                          "encoder-decoder",
                                          "fsmt",
                                          "led",
                                          "longt5",
                                          "m2m_100",
                                          "marian",
                                          "mbart",
                                          "moonshine",
                                          "mt5",
                                          "mvp",
                                          "nllb-moe",
                                          "pegasus",
                                          "plbart",
                                          "prophetnet",
                                          "seamless_m4t",
                                          "speech-encoder-decoder",
                                          "speech_to_text",
                                          "speecht5",
                                          "switch_transformers",
                                          "t5",
                                          "t5gemma",
                                          "trocr",
                                          "umt5",
                                          "vision-encoder-decoder",
                                          "whisper"};
constexpr std::string_view kDiffusing[] = {"llada", "dream", "diffullama"};
constexpr std::string_view kRecurrent[] = {"rwkv", "rwkv5", "rwkv6", "rwkv7", "rwkv6qwen2", "xlstm"};

template <std::size_t N>
bool lists(const std::string_view (&names)[N], std::string_view type) {
    return std::any_of(std::begin(names), std::end(names), [&](std::string_view name) {
        return type == name ||
               (type.starts_with(name) && (type[name.size()] == '_' || type[name.size()] == '-'));
    });
}

/// The family of a model_type, and whether it is one of those above.
bool find_family(std::string_view stated, Family& family) {
    constexpr std::string_view kDecoders[] = {"modernbert-decoder", "bert-generation"};
    std::string lower(stated);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const std::string_view type = lower;
    if (type.empty() || lists(kDecoders, type))
        return false;
    if (lists(kTwoParts, type)) // before encoders whose names begin like them
        family = Family::two_parts;
    else if (lists(kTextEncoders, type))
        family = Family::text_encoder;
    else if (lists(kImageEncoders, type))
        family = Family::image_encoder;
    else if (lists(kContrastive, type))
        family = Family::contrastive;
    else if (lists(kSoundEncoders, type))
        family = Family::sound_encoder;
    else if (lists(kDiffusing, type))
        family = Family::diffuses_text;
    else if (lists(kRecurrent, type))
        family = Family::recurrent;
    else
        return false;
    return true;
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

} // namespace

void refuse_other_kinds(const json& document, const json& text, const std::string& type,
                        const std::string& file) {
    if (const std::string name = text_at(document, "_class_name"); !name.empty())
        refuse(file, "_class_name",
               fmt::format("{} is a part of a diffusers pipeline, which generates no text", name),
               "give the folder of the pipeline, which has a model_index.json; FOLDER#transformer is a part "
               "of it");
    if (document.contains("pretrained_cfg") ||
        (document.contains("architecture") && document.contains("num_classes")))
        refuse(file, "architecture",
               fmt::format("{} is an image network of timm", text_at(document, "architecture")), kGiveExport);
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
