// quantization_config: bits per weight with scales, and which modules are left out.

#include "checkpoint/config_parts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace archsim::checkpoint {

namespace {

using nlohmann::json;

constexpr double kScaleBits = 16, kFloatBits = 32;
// Blocks of the formats: Open Compute Project, Microscaling Formats 1.0, section 5 (32 elements and an 8-bit
// scale); NVFP4: 16 elements and an FP8 scale (NVIDIA Transformer Engine documentation).
constexpr double kMxBlock = 32, kNvBlock = 16, kBlockScaleBits = 8;
// bitsandbytes: NF4 with an 8-bit scale per 64 weights.
constexpr double kNfBlock = 64;

struct Scheme {
    double bits = 0;
    std::string format;
};

Scheme integer_groups(std::int64_t bits, double group, bool zero_points) {
    const auto width = static_cast<double>(bits);
    const double scales = group > 0 ? (kScaleBits + (zero_points ? width : 0)) / group : 0;
    return {width + scales, "int" + std::to_string(bits)};
}

Scheme fp8_blocks(Fields& q) {
    constexpr double kFp8 = 8;
    const auto block = q.counts({"weight_block_size"});
    double scales = 0;
    if (block.size() == 2 && block[0] > 0 && block[1] > 0)
        scales = kFloatBits / (static_cast<double>(block[0]) * static_cast<double>(block[1]));
    return {kFp8 + scales, "fp8"};
}

/// config_groups of compressed-tensors: the first group speaks for all.
Scheme compressed(Fields& q) {
    const json* groups = q.find({"config_groups"});
    if (!groups || !groups->is_object() || groups->empty() || !groups->begin()->is_object() ||
        !groups->begin()->contains("weights") || !groups->begin()->at("weights").is_object())
        return {};
    Fields w(groups->begin()->at("weights"), q.file(), q.place("config_groups.weights."));
    const std::int64_t bits = w.count({"num_bits"}, 0);
    const auto group = static_cast<double>(w.count({"group_size"}, 0));
    if (bits <= 0)
        return {};
    if (w.text({"type"}, "int") != "float")
        return integer_groups(bits, group, !w.flag({"symmetric"}, true));
    constexpr std::int64_t kFp8Bits = 8;
    if (bits == kFp8Bits) {
        const auto block = w.counts({"block_structure"});
        return {static_cast<double>(bits), "fp8"};
    }
    const double size = group > 0 ? group : kNvBlock;
    return {static_cast<double>(bits) + kBlockScaleBits / size, size == kMxBlock ? "mxfp4" : "nvfp4"};
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
    constexpr double kFp8 = 8, kFp4 = 4;
    if (type.starts_with("fp8"))
        return {kFp8, "fp8"};
    if (type.starts_with("fp4"))
        return {kFp4 + kBlockScaleBits / (group > 0 ? group : kMxBlock), "mxfp4"};
    if (type.ends_with("int4") || type.ends_with("int8"))
        return integer_groups(type.back() - '0', group, type.starts_with("u"));
    return {};
}

Scheme scheme_of(Fields& q, const std::string& method) {
    constexpr std::int64_t kFour = 4, kEight = 8;
    constexpr double kGroup = 128;
    const std::string algorithm = q.text({"quant_algo"});
    if (algorithm.find("NVFP4") != std::string::npos || method == "nvfp4" || method == "modelopt_fp4")
        return {kFour + kBlockScaleBits / kNvBlock, "nvfp4"};
    if (algorithm.find("FP8") != std::string::npos || method == "fp8" || method == "fbgemm_fp8")
        return fp8_blocks(q);
    if (method == "mxfp4")
        return {kFour + kBlockScaleBits / kMxBlock, "mxfp4"};
    if (method == "awq" || method == "gptq" || method == "auto-round" || method == "intel/auto-round")
        return integer_groups(
            q.count({"bits", "w_bit"}, kFour, 2),
            static_cast<double>(std::max<std::int64_t>(
                0, static_cast<std::int64_t>(q.number({"group_size", "q_group_size"}, kGroup)))),
            !q.flag({"sym"}, false));
    if (method == "bitsandbytes")
        return q.flag({"load_in_4bit", "_load_in_4bit"}) ? Scheme{kFour + kBlockScaleBits / kNfBlock, "int4"}
                                                         : Scheme{static_cast<double>(kEight), "int8"};
    if (method == "quark")
        return quark(q);
    if (method == "eetq" || method == "quanto" || method == "hqq" || method == "torchao") {
        const json* stated = q.find({"weights", "quant_type"});
        const std::string type = stated && stated->is_string() ? stated->get<std::string>()
                                 : method == "eetq"            ? "int8"
                                                               : "int4";
        const auto bits = type.find('8') != std::string::npos ? kEight : kFour;
        return integer_groups(q.count({"nbits", "bits"}, bits, 1), bits == kEight ? 0 : kGroup, false);
    }
    if (method == "bitnet") // ternary weights, four in a byte
        return {2, "int2"};
    return compressed(q);
}

} // namespace

void read_quantization(Fields& config, Decoder& decoder) {
    const json* object = config.find({"quantization_config", "compression_config", "quantization"});
    if (!object || !object->is_object())
        return;
    Fields q(*object, config.file(), config.place("quantization_config."));
    const std::string method = q.text({"quant_method"}, q.has({"quant_algo"}) ? "modelopt" : "");
    const Scheme scheme = scheme_of(q, method);
    decoder.facts.quantization = method.empty() ? "unnamed" : method;
    if (scheme.bits <= 0) {
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
    // No method narrows embeddings and routers; heads only where the configuration says so.
    std::vector<std::string> kept{"embed_tokens"};
    if (!q.flag({"lm_head"}))
        kept.emplace_back("lm_head");
    for (const char* key : {"modules_to_not_convert", "ignore", "exclude_modules", "ignored_layers",
                            "llm_int8_skip_modules", "exclude"})
        for (std::string& name : q.texts({key}))
            kept.push_back(std::move(name));
    decoder.formats.set_scheme(scheme.bits, std::move(kept));
    decoder.facts.weight_format = scheme.format;
    decoder.weights = narrow_format(scheme.format, scheme.bits);
}

} // namespace archsim::checkpoint
