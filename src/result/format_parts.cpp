#include "result/format_parts.hpp"

#include "archsim/core/finding.hpp"
#include "core/parse_number.hpp"
#include "core/text.hpp"

#include <fmt/format.h>

#include <array>

namespace archsim {

namespace {

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

} // namespace

Precision format_named(const std::string& text, const std::string& name) {
    if (const auto parsed = parse_precision(text))
        return *parsed;
    throw UsageError(
        fmt::format("{}: \"{}\" is not a numeric format; use fp32, bf16, fp16, fp8, int8, int4 and the like",
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

} // namespace archsim
