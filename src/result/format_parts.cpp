#include "result/format_parts.hpp"

#include "archsim/core/finding.hpp"
#include "core/parse_number.hpp"
#include "core/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace archsim {

struct NamedFormat {
    std::string_view name;
    Precision PrecisionConfig::*member;
};
constexpr std::array kFormats = {NamedFormat{"compute", &PrecisionConfig::compute},
                                 NamedFormat{"activations", &PrecisionConfig::activations},
                                 NamedFormat{"weights", &PrecisionConfig::weights},
                                 NamedFormat{"kv_cache", &PrecisionConfig::kv_cache}};
struct NamedBits {
    std::string_view name;
    double PrecisionConfig::*member;
};
constexpr std::array kBits = {NamedBits{"weight_bits_overhead", &PrecisionConfig::weight_bits_overhead},
                              NamedBits{"head_bits", &PrecisionConfig::head_bits},
                              NamedBits{"table_bits", &PrecisionConfig::table_bits},
                              NamedBits{"cache_bits", &PrecisionConfig::cache_bits}};

Precision format_named(const std::string& text, const std::string& name) {
    if (const auto parsed = parse_precision(text))
        return *parsed;
    throw UsageError(
        fmt::format("{}: \"{}\" is not a numeric format; use fp32, bf16, fp16, fp8, int8 (q8_0), int4 (q4_0) "
                    "and the like",
                    name, text));
}

std::string in_parts(const PrecisionConfig& scheme) {
    std::string text;
    const auto add = [&](std::string_view name, std::string_view value) {
        text += fmt::format("{}{}={}", text.empty() ? "" : "+", name, value);
    };
    for (const NamedFormat& part : kFormats)
        add(part.name, name_of(scheme.*part.member));
    for (const NamedBits& part : kBits)
        if (scheme.*part.member != 0)
            add(part.name, fmt::format("{}", scheme.*part.member));
    if (scheme.convolutions)
        add("convolutions", name_of(*scheme.convolutions));
    if (scheme.autocast)
        add("autocast", "true");
    return text;
}

PrecisionConfig of_parts(const std::string& text, const std::string& name) {
    PrecisionConfig scheme;
    for (const std::string& item : split(text, '+')) {
        const auto sides = split_assignment(item);
        if (!sides)
            throw UsageError(fmt::format("{}: \"{}\" is not of the form PART=FORMAT", name, item));
        const std::string value(sides->second);
        bool known = false;
        for (const NamedFormat& part : kFormats)
            if (part.name == sides->first) {
                scheme.*part.member = format_named(value, name);
                known = true;
            }
        for (const NamedBits& part : kBits)
            if (const auto bits = parse_real(value); part.name == sides->first && bits && *bits >= 0) {
                scheme.*part.member = *bits;
                known = true;
            }
        if (sides->first == "convolutions") {
            scheme.convolutions = format_named(value, name);
            known = true;
        }
        if (sides->first == "autocast") {
            scheme.autocast = value == "true";
            known = value == "true" || value == "false";
        }
        if (!known)
            throw UsageError(
                fmt::format("{}: \"{}\" is no part of a format, or not a value of one", name, item));
    }
    return scheme;
}

PrecisionConfig precision_named(std::string_view name, std::string_view flag) {
    if (name.find('=') != std::string_view::npos)
        return of_parts(std::string(name), std::string(flag));
    if (const auto parsed = PrecisionConfig::parse(name))
        return *parsed;
    throw UsageError(fmt::format(
        "{}: \"{}\" is not known; use fp32, tf32, bf16, fp16, fp8, fp4, int8, int4, w8a16, w4a16 or usual "
        "(each device's own); nvfp4 and mxfp4 are fp4, AWQ and GPTQ w4a16; under llama.cpp int4 is Q4_K_M "
        "and int8 is Q8_0, and another type is named with its file, --model NAME-Q6_K.gguf",
        flag, name));
}

void ask_precision(Conditions& conditions, std::string_view name, std::string_view flag) {
    constexpr std::string_view kUsual = "usual";
    const bool strict = conditions.precision.strict_fp32;
    if (name == kUsual) {
        conditions.precision = {};
        conditions.format_of_device = true;
    } else {
        conditions.precision = precision_named(name, flag);
        conditions.format_of_device = false;
    }
    conditions.precision.strict_fp32 = strict;
}

/// Whether they do most of the multiplications.
static bool is_convolutional(const Result& result) {
    if (!result.model || !result.model->graph)
        return false;
    double own = 0, all = 0;
    for (const Operator& op : result.model->graph->operators)
        if (!op.folded) {
            all += op.repeat * op.work.macs;
            own += op.work.kind == OpKind::convolution ? op.repeat * op.work.macs : 0;
        }
    return own > all / 2;
}

/// The two 16-bit floats by one name: a device that lacks one takes the other at the same speed.
static std::string half_alike(std::string format) {
    return format == name_of(Precision::bf16) ? std::string(name_of(Precision::fp16)) : std::move(format);
}

std::string multiplied_format(const PrecisionConfig& runs, std::optional<Precision> stored, double more) {
    if (is_integer(runs.weights) && runs.weights != runs.activations)
        return fmt::format("w{:.0f}a{}", std::floor(bits_of(runs.weights) + more),
                           bits_of(is_integer(runs.compute) ? runs.compute : runs.activations));
    const int weights = std::min(bits_of(runs.weights), bits_of(stored.value_or(runs.weights)));
    if (weights < bits_of(runs.compute))
        return fmt::format("w{}a{}", weights, bits_of(runs.compute));
    return std::string(name_of(runs.compute));
}

std::string multiplied_format(const Result& result) {
    const PrecisionConfig& config = result.estimate.executed;
    if (config.convolutions && is_convolutional(result))
        return std::string(name_of(*config.convolutions));
    return multiplied_format(
        config, result.model && result.model->graph ? result.model->graph->stored_weights : std::nullopt,
        result.conditions.precision.weight_bits_overhead);
}

bool mixed_formats(std::span<const Result> results) {
    std::set<std::string> formats;
    for (const Result& result : results)
        if (result.ok())
            formats.insert(half_alike(multiplied_format(result)));
    return formats.size() > 1;
}

} // namespace archsim
