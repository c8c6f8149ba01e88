#include "session/narrower_format.hpp"

#include "archsim/map/machine.hpp"
#include "session/generation/language_model.hpp"

#include <algorithm>
#include <array>

namespace archsim {

namespace {

/// The widest first: the one that costs the least accuracy is named.
constexpr std::array kNarrower = {Precision::bf16, Precision::fp16, Precision::fp8, Precision::int8};

ExecutedPrecision executed_as(const Result& r, Precision asked) {
    const PrecisionConfig formats = PrecisionConfig::uniform(asked);
    return r.generation ? language_precision(*r.machine, formats, r.conditions.kv_cache)
                        : resolve_precision(*r.device, *r.runtime, formats);
}

double weight_bits(const PrecisionConfig& c) {
    return bits_of(c.weights) + c.weight_bits_overhead;
}

double cache_bits(const PrecisionConfig& c) {
    return c.cache_bits > 0 ? c.cache_bits : bits_of(c.kv_cache);
}

/// The widest of what a run reads for every product.
bool reads_no_more(const PrecisionConfig& then, const PrecisionConfig& now) {
    return weight_bits(then) <= weight_bits(now) && bits_of(then.activations) <= bits_of(now.activations) &&
           cache_bits(then) <= cache_bits(now);
}

bool reads_less(const PrecisionConfig& then, const PrecisionConfig& now) {
    return weight_bits(then) < weight_bits(now) || bits_of(then.activations) < bits_of(now.activations);
}

} // namespace

std::optional<Precision> narrower_format(const Result& r, bool faster) {
    const auto rate_of = [&](Precision p) {
        return std::max(r.machine->matrix_ops(p), r.machine->vector_ops(p));
    };
    const PrecisionConfig& now = r.estimate.executed;
    for (const Precision p : kNarrower) {
        const ExecutedPrecision executed = executed_as(r, p);
        const PrecisionConfig& then = executed.config;
        if (!executed.supported || !reads_no_more(then, now) || !reads_less(then, now))
            continue;
        // Language models keep 16 bits around products, and of integers multiply what their stack does.
        if (!r.generation && (then.activations != p || then.compute != p))
            continue;
        if (rate_of(then.compute) <= 0 || rate_of(then.compute) < rate_of(now.compute))
            continue;
        if (faster && rate_of(then.compute) <= rate_of(now.compute))
            continue;
        return p;
    }
    return std::nullopt;
}

} // namespace archsim
