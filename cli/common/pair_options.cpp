#include "common/pair_options.hpp"

#include "archsim/core/finding.hpp"
#include "archsim/ops/given_values.hpp"
#include "common/allowed_budget.hpp"
#include "common/tool.hpp"

#include <fmt/format.h>

#include <tuple>

namespace archsim::cli {

namespace {

constexpr std::int64_t kMostTokens = 1 << 30;

/// The value of one side, or the one that both share.
template <class T>
const T& of_side(const std::vector<T>& values, std::size_t index) {
    return values[values.size() > 1 ? index : 0];
}

} // namespace

void PairOptions::add_to(Flags& flags) {
    models.add_to(flags);
    flags.add_option("--hardware", hardware, "one device or two: NAME, NAME@MODE or a device file")
        .required()
        .expects(1, 2);
    flags
        .add_option("--precision", precision,
                    "one or two of fp32, tf32, bf16, fp16, fp8, int8, int4, or w8a16, w4a16 (default: a "
                    "file's own format, fp32 of catalogue models, bf16 of answers to prompts)")
        .expects(1, 2);
    flags.add_option("--batch-size", batches, "items per inference, once or twice").expects(1, 2);
    flags
        .add_option("--prompt-tokens", prompt_tokens,
                    "language models: tokens of the prompt, once or twice; explains the whole answer")
        .expects(1, 2);
    flags.add_option("--generate-tokens", generate_tokens, "tokens of the answer, once or twice")
        .expects(1, 2);
    flags.add_option("--devices", devices, "devices that share every layer, once or twice").expects(1, 2);
    flags.add_option("--context", context, "with a prompt: positions that caches are made for, once or twice")
        .expects(1, 2);
    flags.add_option("--weights", weights, "storage of weights where it differs, e.g. int4, once or twice")
        .expects(1, 2);
    flags.add_option("--kv-cache", kv_cache, "storage of cached keys and values, e.g. fp8, once or twice")
        .expects(1, 2);
    flags.add_option("--runtime", runtimes, "software stack instead of the device's default, once or twice")
        .expects(1, 2);
    flags.add_flag("--strict-fp32", strict_fp32,
                   "fp32 products where the stack would round them to tf32 or bf16 unasked");
    flags.add_option("--dim", dims,
                     "size of a symbolic dimension, NAME=VALUE for both, NAME=VALUE,VALUE apart");
    flags.add_option("--input", inputs,
                     "values of a small input that decides shapes, NAME=1,3,224 (repeatable)");
    flags.add_option("--input-shape", input_shapes, "whole shape of an input, NAME=1,3,224,224 (repeatable)");
    add_run_flags(flags, scenario, scope, overlays, allow_unknown);
}

DifferenceSide PairOptions::side(std::size_t index) const {
    DifferenceSide side;
    const std::vector<std::string> named = models.taken("explain_difference");
    if (named.size() > 2)
        throw UsageError(fmt::format("{} models: name one or two", named.size()));
    side.model = of_side(named, index);
    side.hardware = of_side(hardware, index);
    side.workload.batch = of_side(batches, index);
    if (side.workload.batch < 1 || side.workload.batch > kLargestBatch)
        throw UsageError(
            fmt::format("--batch-size: {} is not between 1 and {}", side.workload.batch, kLargestBatch));
    if (!prompt_tokens.empty() || !generate_tokens.empty()) {
        Prompt& prompt = side.workload.prompt.emplace();
        for (const auto& [flag, values, taken] :
             {std::tuple("--prompt-tokens", &prompt_tokens, &prompt.tokens),
              std::tuple("--generate-tokens", &generate_tokens, &prompt.generate)}) {
            if (!values->empty())
                *taken = of_side(*values, index);
            if (*taken < 1 || *taken > kMostTokens)
                throw UsageError(fmt::format("{}: {} is not between 1 and {}", flag, *taken, kMostTokens));
        }
    }
    if (!context.empty()) {
        if (!side.workload.prompt)
            throw UsageError("--context: only with --prompt-tokens or --generate-tokens");
        side.workload.prompt->context = of_side(context, index);
        if (side.workload.prompt->context < side.workload.prompt->tokens + side.workload.prompt->generate)
            throw UsageError(fmt::format("--context: {} positions do not hold the prompt and its answer",
                                         side.workload.prompt->context));
    }
    for (const std::string& text : dims) {
        const auto comma = text.find(',');
        const auto equals = text.find('=');
        if (comma == std::string::npos || equals == std::string::npos || comma < equals)
            give_dim(side.workload.sizes, text, "--dim");
        else
            give_dim(side.workload.sizes,
                     index == 0 ? text.substr(0, comma) : text.substr(0, equals + 1) + text.substr(comma + 1),
                     "--dim");
    }
    for (const std::string& text : inputs)
        give_input(side.workload.sizes, text, "--input");
    for (const std::string& text : input_shapes)
        give_shape(side.workload.sizes, text, "--input-shape");
    side.conditions.devices = static_cast<double>(of_side(devices, index));
    if (side.conditions.devices < 1)
        throw UsageError("--devices: give a positive number");
    side.conditions.usual_precision = precision.empty();
    if (!precision.empty())
        side.conditions.precision = precision_named(of_side(precision, index), "--precision");
    if (!weights.empty())
        side.conditions.weights = side.conditions.precision.weights =
            format_named(of_side(weights, index), "--weights");
    if (!kv_cache.empty())
        side.conditions.kv_cache = format_named(of_side(kv_cache, index), "--kv-cache");
    side.conditions.precision.strict_fp32 = strict_fp32;
    side.conditions.scenario = scenario_named(scenario, "--scenario");
    side.conditions.scope = scope_named(scope, "--scope");
    side.conditions.allow_unknown = allow_unknown;
    if (!runtimes.empty())
        side.conditions.stack = of_side(runtimes, index);
    return side;
}

Session PairOptions::open() const {
    SessionOptions options;
    options.hardware_overlays.assign(overlays.begin(), overlays.end());
    options.budget = allowed_budget();
    return Session(options);
}

} // namespace archsim::cli
