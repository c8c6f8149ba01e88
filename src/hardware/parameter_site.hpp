#pragma once
// Where the database states a parameter of the latency model, and values that stand in for the stated ones.

#include "archsim/hardware/parameters.hpp"
#include "archsim/hardware/runtime.hpp"

namespace archsim {

/// How many parameters one party pays.
constexpr std::size_t parameters_with(ParameterRole role) {
    std::size_t count = 0;
    for (const ParameterInfo& info : kParameterInfos)
        count += info.role == role;
    return count;
}

/// Those parameters.
template <ParameterRole role>
static constexpr auto kParametersOf = [] {
    std::array<Parameter, parameters_with(role)> list{};
    std::size_t at = 0;
    for (std::size_t i = 0; i < kParameterCount; ++i)
        if (kParameterInfos[i].role == role)
            list[at++] = static_cast<Parameter>(i);
    return list;
}();

/// Where a stack's file states it: "/parameters/sync_time", "/kernels/lookup/cycles".
std::string place_in_stack(Parameter parameter);

/// One statement: in a device's "fitted" block, or in a software stack's "parameters" or "kernels".
struct ParameterSite {
    std::string device;     ///< id of the device that states it; empty: a stack does
    std::string runtime;    ///< id of the stack; with a device, empty: the value holds for every stack
    std::string generation; ///< of a stack's value for one generation of devices; empty: its default
    Parameter parameter{};

    /// Order, for use as a key.
    auto operator<=>(const ParameterSite&) const = default;
};
/// "matrix_efficiency of QCS8550 with qnn"
std::string to_string(const ParameterSite& site);

/// A value to take instead of the stated one.
struct ParameterOverride {
    ParameterSite site;
    double value = 0; ///< in the unit of info_of(site.parameter)
};
using ParameterOverrides = std::vector<ParameterOverride>;

/// Whether a stack's value under that key (ParameterEntry::by_generation) is a device's: it is its
/// generation, or how the type of the link between devices begins ("NVLink 4"). Of several that hold the last
/// one counts.
bool holds_on(std::string_view key, const Device& device);
/// The statement that decides `parameter` when `runtime` runs on `device`, by the order of
/// resolve_parameters; nothing where neither states it.
std::optional<ParameterSite> site_of(const Device& device, const Runtime& runtime, Parameter parameter);
/// The fact stated there; null where none is.
const Fact* stated_at(const Device& device, const Runtime& runtime, const ParameterSite& site);
/// Replaces or adds the values whose site belongs to this device or this stack.
void apply(const ParameterOverrides& overrides, Device& device, Runtime& runtime);

/// Device fit > value for the device's generation > default.
ParameterSet resolve_parameters(const Device& device, const Runtime& runtime);

/// True when the stack has kernels for that engine's instructions, or none of its own are needed.
bool uses(const Runtime& runtime, const Engine& engine);
/// True when its convolutions, too, have kernels for that engine's instructions.
bool convolves_on(const Runtime& runtime, const Engine& engine);

} // namespace archsim
