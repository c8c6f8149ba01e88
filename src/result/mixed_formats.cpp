#include "result/mixed_formats.hpp"

#include <algorithm>
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

} // namespace

std::string multiplied_format(const Result& result) {
    const PrecisionConfig& config = result.estimate.executed;
    if (config.convolutions && has_convolutions(result))
        return std::string(name_of(*config.convolutions));
    if (is_integer(config.weights) && config.weights != config.activations)
        return fmt::format("w{}a{}", bits_of(config.weights),
                           bits_of(is_integer(config.compute) ? config.compute : config.activations));
    return std::string(name_of(config.compute));
}

bool mixed_formats(std::span<const Result> results) {
    std::set<std::string> formats;
    for (const Result& result : results)
        if (result.ok())
            formats.insert(multiplied_format(result));
    return formats.size() > 1;
}

} // namespace archsim
