#include "archsim/compare/conditions.hpp"

#include "result/format_parts.hpp"

#include <fmt/format.h>

#include <array>

namespace archsim {

namespace {

/// One of two values by its name.
template <class Choice>
Choice named(std::string_view name, std::string_view flag, const std::array<Choice, 2>& choices) {
    for (const Choice choice : choices)
        if (name_of(choice) == name)
            return choice;
    throw UsageError(
        fmt::format("{}: \"{}\" is neither {} nor {}", flag, name, name_of(choices[0]), name_of(choices[1])));
}

} // namespace

PrecisionConfig precision_named(std::string_view name, std::string_view flag) {
    if (name.find('=') != std::string_view::npos)
        return of_parts(std::string(name), std::string(flag));
    if (const auto parsed = PrecisionConfig::parse(name))
        return *parsed;
    throw UsageError(
        fmt::format("{}: \"{}\" is not known; use fp32, tf32, bf16, fp16, fp8, fp4, int8, int4, "
                    "w8a16, w4a16 or usual (each device's own); nvfp4 and mxfp4 are fp4, AWQ and "
                    "GPTQ w4a16; under llama.cpp int4 is Q4_K_M and int8 is Q8_0",
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

Scenario scenario_named(std::string_view name, std::string_view flag) {
    return named(name, flag, std::array{Scenario::latency, Scenario::throughput});
}

Scope scope_named(std::string_view name, std::string_view flag) {
    return named(name, flag, std::array{Scope::kernel, Scope::end_to_end});
}

} // namespace archsim
