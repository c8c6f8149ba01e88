// Which stack runs a language model, and in what formats.

#include "core/lists.hpp"
#include "hardware/uncertainty.hpp"
#include "session/generation/language_model.hpp"

#include "map/stored_tensors.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace archsim {

std::string stack_of_file(const HardwareDatabase& hardware, const Device& device,
                          const std::filesystem::path& file, GgufModels models) {
    if (file.extension() != ".gguf")
        return {};
    const auto opener = std::ranges::find_if(
        device.runtimes, [&](const std::string& id) { return hardware.runtime(id)->gguf == models; });
    return opener != device.runtimes.end() ? *opener : std::string();
}

std::string language_runtime(const HardwareDatabase& hardware, const Device& device,
                             const std::filesystem::path& file) {
    if (std::string opener = stack_of_file(hardware, device, file, GgufModels::language); !opener.empty())
        return opener;
    const auto made_for_it = [&](const std::string& id) { return hardware.runtime(id)->language_models; };
    if (made_for_it(device.default_runtime))
        return device.default_runtime;
    const auto found = std::ranges::find_if(device.runtimes, made_for_it);
    return found != device.runtimes.end() ? *found : device.default_runtime;
}

std::string measured_language_runtime(const Session& session, std::string_view hardware,
                                      const std::filesystem::path& file) {
    const HardwareDatabase& database = session.hardware();
    const std::shared_ptr<const Device> device = database.device(hardware).device;
    std::string usual = language_runtime(database, *device, file);
    Conditions under{.stack = usual};
    const auto table = session.machine(hardware, under)->uncertainty;
    const auto measured = [&](const std::string& id) {
        const auto stack = database.runtime(id);
        return stack->language_models && table->held().measured(*device, *stack, TimeKind::decode);
    };
    const bool opens_file = !stack_of_file(database, *device, file, GgufModels::language).empty();
    if (table == nullptr || opens_file || measured(usual))
        return usual;
    const auto other = std::ranges::find_if(device->runtimes, measured);
    return other != device->runtimes.end() ? *other : usual;
}

/// Whether a stack keeps weights alone in a format. One that states their bits by generation does so on the
/// devices of these.
static bool offers_weights_alone(const Machine& machine, Precision format) {
    const Runtime& runtime = *machine.runtime;
    if (!contains(runtime.weight_only, format))
        return false;
    if (const auto bits = parameter_of(name_of(format), "weight_bits"))
        for (const ParameterEntry& entry : runtime.parameters)
            if (entry.parameter == *bits && !entry.by_generation.empty() && !entry.value.known())
                return machine.parameters.fact(*bits).known();
    return true;
}

/// Whether a stack keeps weights of a narrow float in files of its own, which store the output projection
/// narrow, too.
static bool writes_files(const Machine& machine, Precision format) {
    const auto bits = parameter_of(name_of(format), "head_bits");
    return bits && machine.parameters.fact(*bits).value < bits_of(Precision::bf16);
}

/// A uniform integer request to a stack that was not made for language models, and of which nobody knows how
/// it would run them: what others make of the same request. Weights alone are narrow where the device has
/// floating-point arithmetic, else what is multiplied with them is in the narrowest format that keeps a model
/// usable, eight bits.
static std::optional<PrecisionConfig> usual_formats(const Machine& machine, Precision asked) {
    for (const Precision p : {Precision::fp16, Precision::bf16})
        if (machine.matrix_ops(p) > 0 && machine.runtime->allows(p)) {
            PrecisionConfig c = PrecisionConfig::uniform(p);
            c.weights = asked;
            return c;
        }
    if (bits_of(asked) >= bits_of(Precision::int8) || machine.matrix_ops(Precision::int8) <= 0)
        return std::nullopt;
    PrecisionConfig c = PrecisionConfig::uniform(Precision::int8);
    c.weights = asked;
    return c;
}

/// "w8a8": integers are asked of activations too, where a uniform request leaves what is usual to the stack.
static bool multiplies_integers(const PrecisionConfig& c) {
    return is_integer(c.compute) && c.activations == c.compute && !is_integer(c.kv_cache);
}

/// Cached keys and values of that many bits; only the width matters. Wide ones are as `activations` are.
static Precision cache_format(double bits, Precision activations) {
    const bool half = bits_of(activations) == bits_of(Precision::fp16) && !is_integer(activations);
    return bits <= 4 ? Precision::int4 : bits <= 8 ? Precision::int8 : half ? activations : Precision::fp16;
}

PrecisionConfig with_stored_weights(const Machine& machine, const PrecisionConfig& requested,
                                    std::optional<Precision> stored) {
    if (stored && !is_integer(*stored) && writes_files(machine, *stored) &&
        !quantised_anew(*stored, requested.weights))
        return PrecisionConfig::uniform(*stored);
    const bool floats = requested == PrecisionConfig::uniform(requested.compute) &&
                        !is_integer(requested.compute) &&
                        bits_of(requested.compute) <= bits_of(Precision::fp16);
    return stored && floats && is_integer(*stored) && offers_weights_alone(machine, *stored)
               ? PrecisionConfig::uniform(*stored)
               : requested;
}

ExecutedPrecision language_precision(const Machine& machine, const PrecisionConfig& requested,
                                     std::optional<Precision> kv_cache) {
    PrecisionConfig c = requested;
    const Device& device = *machine.device;
    const bool uniform = c.weights == c.compute;
    bool unpacked = false;
    const auto refuse = [&](std::string reason) { return ExecutedPrecision{false, c, std::move(reason)}; };
    if (uniform && multiplies_integers(c) && offers_weights_alone(machine, c.compute)) {
        if (!machine.runtime->allows(c.compute) || machine.matrix_ops(c.compute) <= 0)
            return refuse(
                fmt::format("no products of {} activations are described for {} on {}; weights alone: "
                            "--precision w{}a16",
                            name_of(c.compute), machine.runtime->id, device.id, bits_of(c.weights)));
        c.activations = Precision::fp16; // as for narrow floats
    } else if (uniform && is_integer(c.compute) && offers_weights_alone(machine, c.compute)) {
        c = PrecisionConfig::uniform(Precision::fp16);
        c.weights = requested.weights;
    } else if (const auto usual = uniform && is_integer(c.compute) && !multiplies_integers(c) &&
                                          !machine.runtime->language_models
                                      ? usual_formats(machine, c.compute)
                                      : std::nullopt) {
        c = *usual;
    } else if (!is_integer(c.compute) && bits_of(c.compute) < 16) {
        // Products take narrow operands; the residual stream and the norms stay in 16 bits.
        c.activations = Precision::fp16;
        // Else it was said apart. Checkpoints for such products narrow their cache, too (NVIDIA's of FP8 and
        // NVFP4: kv_cache_quant_algo); a stack that quantises what it is given does not (kv_cache_bits).
        if (c.kv_cache == c.compute)
            c.kv_cache = bits_of(c.compute) < 8 ? Precision::fp8 : c.compute;
        // Weights of a format that no engine multiplies are unpacked to what they meet, which nobody
        // quantises for them (TensorRT-LLM and vLLM: MXFP4 weights with 16-bit activations on Hopper).
        unpacked = uniform && machine.matrix_ops(c.compute) <= 0 && machine.vector_ops(c.compute) <= 0;
        if (unpacked)
            c.compute = Precision::fp16;
    } else if (uniform && is_integer(c.compute) && machine.matrix_ops(c.compute) <= 0 &&
               machine.vector_ops(c.compute) <= 0) {
        return refuse(fmt::format("{} has no {} arithmetic, and {} no kernels for {} weights alone",
                                  device.id, name_of(c.compute), machine.runtime->id, name_of(c.compute)));
    }
    if (!uniform && bits_of(c.weights) < bits_of(c.compute) && !offers_weights_alone(machine, c.weights)) {
        // The format that runs may also be asked for by its own name.
        const ExecutedPrecision as =
            language_precision(machine, PrecisionConfig::uniform(c.weights), kv_cache);
        if (!as.supported || as.config.weights != c.weights ||
            bits_of(as.config.compute) != bits_of(c.compute) ||
            is_integer(as.config.compute) != is_integer(c.compute))
            return refuse(fmt::format("{} has no kernels for {} weights with {} arithmetic on {}",
                                      machine.runtime->id, name_of(c.weights), name_of(c.compute),
                                      device.id));
        c.compute = as.config.compute;
        c.activations = as.config.activations;
    }
    ExecutedPrecision result = resolve_precision(device, *machine.runtime, c);
    PrecisionConfig& runs = result.config;
    // Integers that no product of the stack takes are widened whole where it has no kernels that unpack them;
    // narrow floats are unpacked by whoever lists their multiples.
    if (machine.runtime->language_models && is_integer(runs.weights) &&
        bits_of(runs.compute) > bits_of(c.compute) && bits_of(runs.weights) < bits_of(runs.compute) &&
        !offers_weights_alone(machine, runs.weights))
        return refuse(fmt::format("{} has no kernels for {} weights on {}", machine.runtime->id,
                                  name_of(runs.weights), device.id));
    if (unpacked && result.supported && result.note.empty())
        result.note =
            fmt::format("computes in {}: no native {}", name_of(runs.compute), name_of(runs.weights));
    const auto take = [&](double& bits, Precision format, std::string_view key) {
        const auto stated = parameter_of(name_of(format), key);
        if (stated)
            bits = machine.param(*stated, 0);
        return stated.has_value();
    };
    if (take(runs.head_bits, runs.weights, "head_bits")) {
        take(runs.table_bits, runs.weights, "table_bits");
        if (requested.weight_bits_overhead != 0) // a type of file that says so itself
            runs.weight_bits_overhead = requested.weight_bits_overhead;
        else if (double bits = 0; take(bits, runs.weights, "weight_bits"))
            runs.weight_bits_overhead = bits > 0 ? bits - bits_of(runs.weights) : 0;
        if (const Fact& bits = machine.parameters.fact(Parameter::kv_cache_bits); bits.known())
            runs.kv_cache = cache_format(bits.value, runs.activations);
    }
    if (kv_cache)
        runs.kv_cache = *kv_cache;
    take(runs.cache_bits, runs.kv_cache, "cache_bits");
    return result;
}

} // namespace archsim
