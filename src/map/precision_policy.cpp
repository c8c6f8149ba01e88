// The substitute for a format that a device lacks. The result is never silently equal: the note says it.

#include "archsim/map/machine.hpp"
#include "hardware/parameter_site.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

namespace archsim {

static bool native(const Device& device, const Runtime& runtime, Precision p) {
    return runtime.allows(p) && std::ranges::any_of(device.engines, [&](const Engine& engine) {
               return engine.kind != EngineClass::special && engine.supports(p) && uses(runtime, engine);
           });
}

/// Formats tried in turn when the requested one is missing: same class and wider first, then other classes.
static std::vector<Precision> alternatives(Precision p) {
    using enum Precision;
    static const std::map<Precision, std::vector<Precision>> kInTurn = {{fp32, {tf32, bf16, fp16, int8}},
                                                                        {tf32, {fp32, bf16, fp16, int8}},
                                                                        {bf16, {fp16, fp32, int8}},
                                                                        {fp16, {bf16, fp32, int8}},
                                                                        {fp8, {fp16, bf16, int8, fp32}},
                                                                        {fp4, {fp8, fp16, bf16, int8}},
                                                                        {int32, {fp32}},
                                                                        {int16, {fp16, bf16, fp32, int8}},
                                                                        {int4, {int8, fp16, bf16, fp32}},
                                                                        {int8, {fp16, bf16, int16, fp32}}};
    const auto found = kInTurn.find(p); // fp64 has none: whoever asks for it needs its digits
    return found == kInTurn.end() ? std::vector<Precision>{} : found->second;
}

static std::string explain(Precision asked, Precision runs) {
    if (is_integer(runs) && !is_integer(asked))
        return fmt::format(
            "runs {}: the device has no floating-point matrix path, the model must be quantised",
            name_of(runs));
    if (is_integer(asked) && !is_integer(runs))
        return fmt::format("computes in {}: no native {}, values are stored in {}", name_of(runs),
                           name_of(asked), name_of(asked));
    if (bits_of(runs) >= bits_of(asked))
        return fmt::format("computes in {}: no native {}", name_of(runs), name_of(asked));
    return fmt::format("multiplies in {}: no native {}", name_of(runs), name_of(asked));
}

/// The stack's own choice for fp32 tensors, where the device has the format; storage stays as asked.
static bool take_default_mathematics(const Device& device, const Runtime& runtime,
                                     ExecutedPrecision& result) {
    PrecisionConfig& config = result.config;
    if (config.compute != Precision::fp32 || config.weights != Precision::fp32 || config.strict_fp32)
        return false;
    const auto available = [&](Precision p) {
        return device.supports(EngineClass::matrix, p) ? p : Precision::fp32;
    };
    const Precision products = available(runtime.fp32.products);
    const Precision convolutions = available(runtime.fp32.convolutions);
    if (products == Precision::fp32 && convolutions == Precision::fp32)
        return false;
    config.compute = products;
    if (products == runtime.fp32.products)
        config.activations = config.weights = runtime.fp32.stored;
    if (convolutions != products)
        config.convolutions = convolutions;
    result.supported = true;
    result.note =
        fmt::format("multiplies {}in {}: {} does so unless told otherwise",
                    convolutions != products ? "convolutions " : "", name_of(convolutions), runtime.name);
    return true;
}

static ExecutedPrecision find_formats(const Device& device, const Runtime& runtime,
                                      const PrecisionConfig& requested) {
    ExecutedPrecision result{.config = requested};
    if (take_default_mathematics(device, runtime, result))
        return result;
    if (native(device, runtime, requested.compute)) {
        result.supported = true;
        return result;
    }
    for (Precision p : alternatives(requested.compute)) {
        if (!native(device, runtime, p))
            continue;
        result.supported = true;
        result.note = explain(requested.compute, p);
        result.config.compute = p;
        // Storage follows the arithmetic, except that narrower stored values stay narrow; integers of less
        // than a byte where the stack unpacks them.
        const auto store = [p](Precision asked) { return bits_of(asked) < bits_of(p) ? asked : p; };
        const auto& unpacks = runtime.weight_only;
        const bool narrow = bits_of(requested.weights) >= 8 || !is_integer(requested.weights) ||
                            std::ranges::find(unpacks, requested.weights) != unpacks.end();
        const bool packed = is_integer(requested.activations) && bits_of(requested.activations) < 8;
        result.config.activations = packed ? p : store(requested.activations);
        result.config.weights = narrow ? store(requested.weights) : p;
        result.config.kv_cache = store(requested.kv_cache);
        return result;
    }
    std::vector<std::string_view> has;
    for (const Precision p : kPrecisions)
        if (native(device, runtime, p))
            has.push_back(name_of(p));
    result.note = fmt::format(
        "{} has no engine for {} under {}; it multiplies {}", device.id, name_of(requested.compute),
        runtime.id, has.empty() ? std::string("in no format") : fmt::format("{}", fmt::join(has, ", ")));
    return result;
}

static bool is_half(Precision p) {
    return p == Precision::fp16 || p == Precision::bf16;
}

ExecutedPrecision resolve_precision(const Device& device, const Runtime& runtime,
                                    const PrecisionConfig& requested) {
    ExecutedPrecision result = find_formats(device, runtime, requested);
    result.config.autocast =
        runtime.autocast && is_half(result.config.compute) && is_half(result.config.activations);
    return result;
}

} // namespace archsim
