#include "archsim/hardware/runtime.hpp"

#include "core/text.hpp"
#include "hardware/parameter_site.hpp"

namespace archsim {

constexpr std::string_view kEveryGeneration = "*";

static bool listed(const std::vector<std::string>& names, std::string_view name) {
    return std::ranges::any_of(
        names, [&](const std::string& candidate) { return same_ignoring_case(candidate, name); });
}

bool Runtime::serves(const Device& device) const {
    // The device knows best: DirectML runs on GPUs, yet not on one without a display driver.
    // What it says of a stack holds for that stack's releases and ways of calling.
    // A stack that names vendors - a browser that one vendor ships - is for theirs alone.
    // A stack for every generation ("*") stands for no software that a device could name or leave out.
    if (listed(generations, kEveryGeneration))
        return std::ranges::find(families, device.family) != families.end();
    if (!device.runtimes.empty())
        return listed(device.runtimes, id) || (!base.empty() && listed(device.runtimes, base) &&
                                               (vendors.empty() || listed(vendors, device.vendor)));
    const bool family_fits = std::ranges::find(families, device.family) != families.end();
    return family_fits && (vendors.empty() || listed(vendors, device.vendor)) &&
           (generations.empty() || listed(generations, device.generation));
}

bool uses(const Runtime& runtime, const Engine& engine) {
    return engine.isa.empty() || listed(runtime.instruction_sets, engine.isa);
}

bool convolves_on(const Runtime& runtime, const Engine& engine) {
    return uses(runtime, engine) && (engine.isa.empty() || !runtime.convolution_instruction_sets ||
                                     listed(*runtime.convolution_instruction_sets, engine.isa));
}

ParameterSet resolve_parameters(const Device& device, const Runtime& runtime) {
    ParameterSet set;
    const auto at = [&set](Parameter p) -> Fact& { return set.facts[static_cast<std::size_t>(p)]; };
    if (const auto assumed = device.family.row().assumed; assumed != nullptr)
        for (const AssumedParameter& entry : assumed())
            at(entry.parameter) = entry.value;
    for (const ParameterEntry& entry : runtime.parameters) {
        at(entry.parameter) = entry.value;
        for (const auto& [key, fact] : entry.by_generation)
            if (holds_on(key, device))
                at(entry.parameter) = fact;
    }
    // First the fits that hold for every stack, then those of the stack it extends and of this one.
    const auto apply = [&](std::string_view stack) {
        for (const FittedParameter& fit : device.fitted)
            if (same_ignoring_case(fit.runtime, stack))
                if (const auto parameter = parse_parameter(fit.name))
                    at(*parameter) = fit.fact;
    };
    apply("");
    if (!runtime.base.empty())
        apply(runtime.base);
    apply(runtime.id);
    return set;
}

} // namespace archsim
