// quantization_config: bits per weight with scales, and which modules are left out.

#include "checkpoint/config_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace archsim::checkpoint {

namespace {

using nlohmann::json;

constexpr double kScaleBits = 16, kFloatBits = 32;
// Blocks of the formats: Open Compute Project, Microscaling Formats 1.0, section 5 (32 elements and an 8-bit
// scale); NVFP4: 16 elements and an FP8 scale (NVIDIA Transformer Engine documentation).
constexpr double kMxBlock = 32, kNvBlock = 16, kBlockScaleBits = 8;
// bitsandbytes: a float per 64 weights; quantised twice, 8 bits for it and a float per 256 of these (QLoRA,
// arXiv:2305.14314, section 3).
constexpr double kNfBlock = 64, kNfScales = 256;
constexpr double kFour = 4, kEight = 8;
constexpr double kGroup = 128; ///< of integer weights where none is stated

struct Scheme {
    double bits = 0;
    std::string format;
};

Scheme integer_groups(double bits, double group, bool zero_points) {
    const double scales = group > 0 ? (kScaleBits + (zero_points ? bits : 0)) / group : 0;
    return {bits + scales, fmt::format("int{:.0f}", bits)};
}

Scheme nvfp4() {
    return {kFour + kBlockScaleBits / kNvBlock, "nvfp4"};
}
Scheme mxfp4() {
    return {kFour + kBlockScaleBits / kMxBlock, "mxfp4"};
}

Scheme fp8_blocks(Fields& q) {
    const auto block = q.counts({"weight_block_size"});
    double scales = 0;
    if (block.size() == 2 && block[0] > 0 && block[1] > 0)
        scales = kFloatBits / (static_cast<double>(block[0]) * static_cast<double>(block[1]));
    return {kEight + scales, "fp8"};
}

/// One group of compressed-tensors, whose `weights` say type, bits and group.
Scheme compressed_weights(Fields& w) {
    const auto bits = static_cast<double>(w.count({"num_bits"}, 0));
    const auto group = static_cast<double>(
        std::max<std::int64_t>(0, static_cast<std::int64_t>(w.number({"group_size"}, 0))));
    if (bits <= 0)
        return {};
    if (w.text({"type"}, "int") != "float")
        return integer_groups(bits, group, !w.flag({"symmetric"}, true));
    if (bits == kEight) {
        const auto block = w.counts({"block_structure"});
        if (group == kMxBlock)
            return {kEight + kBlockScaleBits / kMxBlock, "mxfp8"};
        const bool blocks = block.size() == 2 && block[0] > 0 && block[1] > 0;
        return {kEight + (blocks
                              ? kFloatBits / (static_cast<double>(block[0]) * static_cast<double>(block[1]))
                              : 0),
                "fp8"};
    }
    return group == kMxBlock ? mxfp4() : nvfp4();
}

/// config_groups of compressed-tensors: each with the modules it is for, a class of them ("Linear") or names.
/// The result is that of the first class; names are set apart.
Scheme compressed(Fields& q, WeightFormats& formats) {
    const json* groups = q.find({"config_groups"});
    if (!groups || !groups->is_object())
        return {};
    Scheme most, any;
    for (const auto& [name, group] : groups->items()) {
        if (!group.is_object() || !group.contains("weights") || !group.at("weights").is_object())
            continue;
        Fields w(group.at("weights"), q.file(), q.place("config_groups." + name + ".weights."));
        const Scheme scheme = compressed_weights(w);
        any = any.bits > 0 ? any : scheme;
        const auto targets = group.find("targets");
        if (targets == group.end() || !targets->is_array()) {
            most = most.bits > 0 ? most : scheme;
            continue;
        }
        for (const json& target : *targets) {
            const std::string pattern = target.is_string() ? target.get<std::string>() : "";
            if (pattern.find_first_of(".:*") == std::string::npos) // a class: Linear, LinearBase, FusedMoE
                most = most.bits > 0 ? most : scheme;
            else
                formats.set_pattern(pattern, scheme.bits);
        }
    }
    // Names alone: what none of them is for stays wide.
    return most.bits > 0 ? most : Scheme{0, any.format};
}

/// AMD Quark: global_quant_config.weight states type and group.
Scheme quark(Fields& q) {
    const json* global = q.find({"global_quant_config"});
    if (!global || !global->is_object() || !global->contains("weight"))
        return {};
    const json& stated = global->at("weight");
    const json& weight = stated.is_array() && !stated.empty() ? stated.front() : stated;
    if (!weight.is_object())
        return {};
    Fields w(weight, q.file(), q.place("global_quant_config.weight."));
    const std::string type = w.text({"dtype"});
    const auto group = static_cast<double>(w.count({"group_size"}, 0));
    if (type.starts_with("fp8"))
        return {kEight, "fp8"};
    if (type.starts_with("fp4"))
        return {kFour + kBlockScaleBits / (group > 0 ? group : kMxBlock), "mxfp4"};
    if (type.ends_with("int4") || type.ends_with("int8"))
        return integer_groups(type.back() - '0', group, type.starts_with("u"));
    return {};
}

/// Names of NVIDIA's Model Optimizer (modelopt/torch/export/quant_utils.py) and of TensorRT-LLM (QuantAlgo):
/// weights and activations, "W4A16" for weights alone.
Scheme algorithm(const std::string& name, double group) {
    const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
    if (has("NVFP4"))
        return nvfp4();
    if (has("MXFP4"))
        return mxfp4();
    if (has("MXFP8"))
        return {kEight + kBlockScaleBits / kMxBlock, "mxfp8"};
    if (has("FP8_PB_WO") || has("FP8_BLOCK"))
        return {kEight + kFloatBits / (kGroup * kGroup), "fp8"};
    if (has("W4A") || has("INT4"))
        return integer_groups(kFour, group > 0 ? group : kGroup, has("GPTQ"));
    if (has("FP8"))
        return {kEight, "fp8"};
    if (has("W8A") || has("INT8"))
        return integer_groups(kEight, 0, false);
    return {};
}

/// MIXED_PRECISION: an algorithm per module.
Scheme mixed(Fields& q, WeightFormats& formats) {
    const json* layers = q.find({"quantized_layers"});
    if (!layers || !layers->is_object())
        return {};
    Scheme first;
    for (const auto& [name, layer] : layers->items()) {
        if (!layer.is_object())
            continue;
        Fields l(layer, q.file(), q.place("quantized_layers." + name + "."));
        const Scheme scheme =
            algorithm(l.text({"quant_algo"}), static_cast<double>(l.count({"group_size"}, 0)));
        if (scheme.bits <= 0)
            continue;
        first = first.bits > 0 ? first : scheme;
        // The graph merges experts, and splits what others merge.
        constexpr std::string_view kExperts = ".experts", kMerged = "qkv_proj", kGates = "gate_up_proj";
        if (const auto at = name.find(kExperts); at != std::string::npos) {
            formats.set_pattern(name.substr(0, at + kExperts.size()), scheme.bits);
        } else if (name.ends_with(kMerged)) {
            for (const char* part : {"q_proj", "k_proj", "v_proj"})
                formats.set_pattern(name.substr(0, name.size() - kMerged.size()) + part, scheme.bits);
        } else if (name.ends_with(kGates)) {
            for (const char* part : {"gate_proj", "up_proj"})
                formats.set_pattern(name.substr(0, name.size() - kGates.size()) + part, scheme.bits);
        } else {
            formats.set_pattern(name, scheme.bits);
        }
    }
    return {0, first.format};
}

Scheme bitsandbytes(Fields& q) {
    if (!q.flag({"load_in_4bit", "_load_in_4bit"}))
        return {kEight, "int8"};
    const double scales = q.flag({"bnb_4bit_use_double_quant"}) ? (kEight + kFloatBits / kNfScales) / kNfBlock
                                                                : kFloatBits / kNfBlock;
    return {kFour + scales, "int4"};
}

/// Methods that name a type in words ("int8", "Float8WeightOnlyConfig"), anywhere in what they state.
Scheme worded(Fields& q, const std::string& method) {
    const json* stated = q.find({"weights", "quant_type", "quant_config"});
    std::string words = stated ? stated->dump() : method == "eetq" ? "int8" : "int4";
    std::transform(words.begin(), words.end(), words.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const auto has = [&](const char* part) { return words.find(part) != std::string::npos; };
    double bits = has("8") && !has("int4") ? kEight : kFour, group = kGroup;
    if (has("float8") || has("fp8"))
        return {kEight, "fp8"};
    // HQQ: {"weight_quant_params": {"nbits": 4, "group_size": 64}}
    const json* weights = stated && stated->is_object() && stated->contains("weight_quant_params")
                              ? &stated->at("weight_quant_params")
                              : nullptr;
    if (weights && weights->is_object()) {
        Fields w(*weights, q.file(), q.place("quant_config.weight_quant_params."));
        bits = static_cast<double>(w.count({"nbits"}, static_cast<std::int64_t>(kFour), 1));
        group = static_cast<double>(w.count({"group_size"}, static_cast<std::int64_t>(kGroup)));
    }
    bits = static_cast<double>(q.count({"nbits", "bits"}, static_cast<std::int64_t>(bits), 1));
    return integer_groups(bits, bits == kEight ? 0 : group, false);
}

Scheme scheme_of(Fields& q, const std::string& method, WeightFormats& formats) {
    const auto group = [&](double otherwise) {
        return std::max(0.0, q.number({"group_size", "q_group_size"}, otherwise));
    };
    if (const std::string name = q.text({"quant_algo"}); !name.empty()) {
        if (name == "MIXED_PRECISION")
            return mixed(q, formats);
        const Scheme scheme = algorithm(name, group(0));
        if (scheme.bits > 0)
            return scheme.format == "fp8" && q.has({"weight_block_size"}) ? fp8_blocks(q) : scheme;
    }
    if (method == "nvfp4" || method == "modelopt_fp4")
        return nvfp4();
    if (method == "fp8" || method == "fbgemm_fp8" || method == "modelopt")
        return q.has({"config_groups"}) ? compressed(q, formats) : fp8_blocks(q);
    if (method == "mxfp4")
        return mxfp4();
    if (method == "awq" || method == "gptq" || method == "gptq_marlin" || method == "auto-round" ||
        method == "intel/auto-round")
        return integer_groups(
            static_cast<double>(q.count({"bits", "w_bit"}, static_cast<std::int64_t>(kFour), 2)),
            group(kGroup), !q.flag({"sym"}, false));
    if (method == "bitsandbytes")
        return bitsandbytes(q);
    if (method == "quark")
        return quark(q);
    if (method == "eetq" || method == "quanto" || method == "hqq" || method == "torchao")
        return worded(q, method);
    if (method == "exl2" || method == "exl3") { // a mean over all matrices
        const double bits = q.number({"bits"}, 0);
        return bits > 0 && bits <= kScaleBits ? Scheme{bits, fmt::format("int{:.0f}", bits)} : Scheme{};
    }
    if (method == "bitnet") // ternary weights, four in a byte
        return {2, "int2"};
    if (method.empty() && q.has({"bits"}) && q.has({"group_size"})) { // MLX: a scale and a bias per group
        const auto bits = static_cast<double>(q.count({"bits"}, static_cast<std::int64_t>(kFour), 1));
        const std::string mode = q.text({"mode"}, "affine");
        if (mode == "mxfp4")
            return mxfp4();
        if (mode == "nvfp4")
            return nvfp4();
        const double size = group(kNfBlock);
        return {bits + (size > 0 ? 2 * kScaleBits / size : 0), fmt::format("int{:.0f}", bits)};
    }
    return compressed(q, formats);
}

/// The format of cached keys and values, none where the file leaves them wide.
std::optional<Precision> cache_format(Fields& q) {
    const std::string name = q.text({"kv_cache_quant_algo"});
    if (name == "FP8" || name == "fp8")
        return Precision::fp8;
    if (name == "INT8" || name == "int8")
        return Precision::int8;
    if (name == "NVFP4" || name == "nvfp4")
        return Precision::fp4;
    const json* scheme = q.find({"kv_cache_scheme"});
    if (!scheme || !scheme->is_object())
        return std::nullopt;
    Fields s(*scheme, q.file(), q.place("kv_cache_scheme."));
    const bool real = s.text({"type"}, "float") == "float";
    const auto bits = static_cast<double>(s.count({"num_bits"}, 0));
    if (bits == kEight)
        return real ? Precision::fp8 : Precision::int8;
    if (bits == kFour)
        return real ? Precision::fp4 : Precision::int4;
    return std::nullopt;
}

} // namespace

void read_quantization(Fields& config, Decoder& decoder) {
    const json* object = config.find({"quantization_config", "compression_config", "quantization"});
    if (!object || !object->is_object())
        return;
    Fields q(*object, config.file(), config.place("quantization_config."));
    const std::string method = q.text({"quant_method"}, q.has({"quant_algo"}) ? "modelopt" : "");
    decoder.cache = cache_format(q);
    // Model Optimizer may narrow the cache alone.
    if (method == "modelopt" && !q.has({"quant_algo"}) && !q.has({"config_groups"}))
        return;
    const Scheme scheme = scheme_of(q, method, decoder.formats);
    decoder.facts.quantization = method.empty() ? "unnamed" : method;
    if (scheme.format.empty()) {
        Finding finding;
        finding.kind = FindingKind::unsupported;
        finding.severity = Severity::warning;
        finding.file = config.file();
        finding.where = config.place("quantization_config");
        finding.message =
            fmt::format("the method \"{}\" is not known; weights are counted as unquantised", method);
        finding.hint = "state the bits with --weights";
        decoder.findings.push_back(std::move(finding));
        return;
    }
    // No method but MLX's narrows embeddings and routers; heads only where the configuration says so.
    std::vector<std::string> kept;
    if (!method.empty()) {
        kept.emplace_back("embed_tokens");
        if (!q.flag({"lm_head"}) &&
            !(q.has({"quantized_layers"}) && q.find({"quantized_layers"})->contains("lm_head")))
            kept.emplace_back("lm_head");
    }
    for (const char* key : {"modules_to_not_convert", "ignore", "exclude_modules", "ignored_layers",
                            "llm_int8_skip_modules", "exclude"})
        for (std::string& name : q.texts({key}))
            kept.push_back(std::move(name));
    decoder.formats.set_scheme(scheme.bits, std::move(kept));
    decoder.facts.weight_format = scheme.format;
    decoder.weights = narrow_format(scheme.format, decoder.formats.scheme_bits());
}

} // namespace archsim::checkpoint
