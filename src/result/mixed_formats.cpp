#include "result/mixed_formats.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

namespace archsim {

namespace {

bool has_convolutions(const Result& result) {
    if (!result.model || !result.model->graph)
        return false;
    const auto& operators = result.model->graph->operators;
    return std::any_of(operators.begin(), operators.end(),
                       [](const Operator& op) { return !op.folded && op.work.kind == OpKind::convolution; });
}

/// The two 16-bit floats by one name: a device that lacks one takes the other at the same speed.
std::string half_alike(std::string format) {
    return format == name_of(Precision::bf16) ? std::string(name_of(Precision::fp16)) : std::move(format);
}

} // namespace

std::string multiplied_format(const Result& result) {
    const PrecisionConfig& config = result.estimate.executed;
    if (config.convolutions && has_convolutions(result))
        return std::string(name_of(*config.convolutions));
    const int multiplied = bits_of(is_integer(config.compute) ? config.compute : config.activations);
    if (is_integer(config.weights) && config.weights != config.activations) {
        const double more = result.conditions.precision.weight_bits_overhead; // Q6_K has 6.56 bits
        return fmt::format("w{:.0f}a{}", std::floor(bits_of(config.weights) + more), multiplied);
    }
    const auto stored =
        result.model && result.model->graph ? result.model->graph->stored_weights : std::nullopt;
    if (stored && bits_of(*stored) < bits_of(config.compute)) // a checkpoint with narrow weights
        return fmt::format("w{}a{}", bits_of(*stored), multiplied);
    return std::string(name_of(config.compute));
}

bool mixed_formats(std::span<const Result> results) {
    std::set<std::string> formats;
    for (const Result& result : results)
        if (result.ok())
            formats.insert(half_alike(multiplied_format(result)));
    return formats.size() > 1;
}

} // namespace archsim
