#include "archsim/core/precision.hpp"
#include "core/text.hpp"

namespace archsim {

struct Alias {
    std::string_view text;
    Precision precision;
};

constexpr std::array kAliases = {
    Alias{"float64", Precision::fp64},  Alias{"double", Precision::fp64},
    Alias{"float32", Precision::fp32},  Alias{"float", Precision::fp32},
    Alias{"single", Precision::fp32},   Alias{"tfloat32", Precision::tf32},
    Alias{"bfloat16", Precision::bf16}, Alias{"float16", Precision::fp16},
    Alias{"half", Precision::fp16},     Alias{"float8", Precision::fp8},
    Alias{"fp8e4m3", Precision::fp8},   Alias{"fp8e5m2", Precision::fp8},
    Alias{"nvfp4", Precision::fp4},     Alias{"mxfp4", Precision::fp4},
    Alias{"mxfp8", Precision::fp8},     Alias{"fp8_e4m3", Precision::fp8},
    Alias{"q4_k_m", Precision::int4},   Alias{"q8_0", Precision::int8},
    Alias{"q4_0", Precision::int4},     Alias{"f16", Precision::fp16},
    Alias{"float4", Precision::fp4},    Alias{"float4e2m1", Precision::fp4},
    Alias{"i32", Precision::int32},     Alias{"i16", Precision::int16},
    Alias{"i8", Precision::int8},       Alias{"i4", Precision::int4},
    Alias{"iq4_nl", Precision::int4}, // 18 bytes for 32 values, as q4_0
};

/// Widths of the "w<bits>a<bits>" notation: 8 and 4 bit are integers, 16 bit is fp16, 32 bit is fp32.
static std::optional<Precision> precision_of_width(std::string_view digits) {
    if (digits == "4")
        return Precision::int4;
    if (digits == "8")
        return Precision::int8;
    if (digits == "16")
        return Precision::fp16;
    if (digits == "32")
        return Precision::fp32;
    return std::nullopt;
}

std::optional<Precision> parse_precision(std::string_view text) {
    const std::string lower = lower_case(text);
    if (const auto precision = value_named<Precision>(lower))
        return precision;
    for (const Alias& alias : kAliases)
        if (alias.text == lower)
            return alias.precision;
    return std::nullopt;
}

std::optional<PrecisionConfig> PrecisionConfig::parse(std::string_view text) {
    if (const auto p = parse_precision(text))
        return uniform(*p);
    const std::string lower = lower_case(text);
    // Automatic mixed precision: fp16 arithmetic and activations, fp32 master weights (Micikevicius et al.,
    // "Mixed Precision Training", ICLR 2018).
    if (lower == "mixed" || lower == "amp") {
        PrecisionConfig config = uniform(Precision::fp16);
        config.weights = Precision::fp32;
        return config;
    }
    if (lower == "awq" || lower == "gptq") // checkpoints of 4-bit weights beside activations of 16 bits
        return parse("w4a16");
    const std::size_t split = lower.find('a');
    if (lower.empty() || lower[0] != 'w' || split == std::string::npos)
        return std::nullopt;
    const auto weights = precision_of_width(std::string_view(lower).substr(1, split - 1));
    const auto activations = precision_of_width(std::string_view(lower).substr(split + 1));
    if (!weights || !activations)
        return std::nullopt;
    PrecisionConfig config = uniform(*activations);
    config.weights = *weights;
    // The notation says nothing of a cache: schemes with 8-bit operands leave it in 16 bits unless told
    // otherwise (SmoothQuant, Xiao et al., ICML 2023).
    if (is_integer(*activations))
        config.kv_cache = Precision::fp16;
    return config;
}

} // namespace archsim
