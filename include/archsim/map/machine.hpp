#pragma once
// A device made ready to run: one power mode, one software stack, one scenario, with every rate resolved to
// SI.

#include "archsim/core/export.hpp"
#include "archsim/hardware/database.hpp"

#include <array>
#include <memory>
#include <string>
#include <string_view>

namespace archsim {

enum class Scenario : std::uint8_t { latency, throughput };
enum class Scope : std::uint8_t { kernel, end_to_end };

/// The resources that demands are made on. A rate exists for each; see Machine::rate.
enum class Resource : std::uint8_t {
    matrix_cycles,  ///< cycles of the matrix engine's clock
    vector_cycles,  ///< cycles of the vector engine's clock
    special_cycles, ///< cycles of the special-function engine's clock
    l1_bytes,
    l2_bytes,
    llc_bytes,
    dram_bytes,      ///< activations (and anything that cannot be prefetched)
    weight_bytes,    ///< weights from DRAM; a stack may prefetch them over the whole network
    link_bytes,      ///< chip-to-chip
    host_link_bytes, ///< host-to-device
    overhead_cycles, ///< fixed cycles of the device clock
    seconds,         ///< fixed time
    count_
};
inline constexpr std::size_t kResourceCount = static_cast<std::size_t>(Resource::count_);
/// Names for people. Names of its values.
template <>
struct NamesOf<Resource> {
    static constexpr std::array<std::string_view, 12> all = {
        "matrix engine",  "vector engine",    "special-function engine",
        "L1 bandwidth",   "L2 bandwidth",     "last-level cache bandwidth",
        "DRAM bandwidth", "weight streaming", "chip-to-chip link",
        "host link",      "fixed cycles",     "fixed time"};
};

/// Where a rate comes from: the facts it is the product of.
struct Rate {
    double value = 0;                   ///< amount per second; 0 = the device has no such resource
    std::array<const Fact*, 3> facts{}; ///< inputs, for provenance; owned by the device
};

class Mapper;
struct EnergyTable;
class UncertaintyTable;

/// A device with every choice made: what mappers and prices work on.
struct Machine {
    std::shared_ptr<const Device> device;
    std::shared_ptr<const Runtime> runtime;
    std::shared_ptr<const Mapper> mapper;      ///< null: the family's own, mapper_for(device->family)
    std::shared_ptr<const EnergyTable> energy; ///< null: energy is not priced
    std::shared_ptr<const UncertaintyTable> uncertainty; ///< null: no intervals
    ParameterSet parameters;
    const PowerMode* mode = nullptr;
    bool efficient_clock = false; ///< see kEfficientMode; `mode` is null then
    Scenario scenario = Scenario::latency;
    Scope scope = Scope::kernel;
    double active_fraction = 1; ///< share of units that the mode keeps on
    double clock_ratio = 1;     ///< of the operating clock; below 1 when the power limit throttles
    double units = 0;           ///< active SMs, cores, tiles, arrays
    std::array<Rate, kResourceCount> rates{};
    double combine_exponent = 4; ///< see Runtime
    std::array<double, kPrecisionCount>
        matrix_ops_per_cycle{}; ///< whole device (active units); 0 = not native
    std::array<double, kPrecisionCount> vector_ops_per_cycle{};
    double devices = 1; ///< devices of this kind that share every network

    /// Amount per second; 0 where the device has no such resource.
    double rate(Resource r) const { return rates[static_cast<std::size_t>(r)].value; }
    /// Operations per clock of all matrix engines; 0 where the format is not native.
    double matrix_ops(Precision p) const { return matrix_ops_per_cycle[static_cast<std::size_t>(p)]; }
    /// Operations per clock of all vector engines; 0 where the format is not native.
    double vector_ops(Precision p) const { return vector_ops_per_cycle[static_cast<std::size_t>(p)]; }
    /// Name of the power mode; empty when there is none.
    std::string_view mode_name() const {
        return mode ? std::string_view(mode->name) : efficient_clock ? kEfficientMode : std::string_view();
    }
    /// A parameter of the device on this stack, or `neutral` where it has none.
    double param(Parameter p, double neutral) const { return parameters.get(p, neutral); }
    /// Peak operations per second at the operating clock: matrix engines, or vector where there are none.
    double peak_ops(Precision p) const {
        const double matrix = matrix_ops(p) * rate(Resource::matrix_cycles);
        return matrix > 0 ? matrix : vector_ops(p) * rate(Resource::vector_cycles);
    }
    double power_limit_w =
        0; ///< of one chip: the mode's, else the thermal design power; 0 = unknown or estimated
    double power_budget_w = 0; ///< the same where it is an estimate: it bounds energy, not the clock
    /// A factor on every event's price: where a budget is an estimate, what made the chip as it is described
    /// meet it (Estimate::energy_scale), once something about it is changed.
    double price_scale = 1;
    double static_power_w = 0;        ///< of one chip
    double memory_capacity_bytes = 0; ///< of one chip, or of `host`; 0 = unknown
    /// Whose memory holds what passes through a chip that has none of its own, or the computer that the chip
    /// is named with; null: neither.
    std::shared_ptr<const Device> host;
    /// Whether the host's memory holds the weights.
    bool in_host_memory() const { return host && !device->dram && runtime->streams_weights; }
};

/// Choices besides the device, the power mode and the stack.
struct MachineOptions {
    Scenario scenario = Scenario::latency;
    Scope scope = Scope::kernel;
    double devices = 1;
    std::shared_ptr<const EnergyTable> energy;
    std::shared_ptr<const UncertaintyTable> uncertainty;
    std::shared_ptr<const Mapper> mapper; ///< instead of the family's
    std::shared_ptr<const Device> host;   ///< the processor that Device::host names, where it is known
};

/// Resolves clocks, active units and bandwidth. Throws InputError naming the fact that is missing.
ARCHSIM_API Machine make_machine(std::shared_ptr<const Device> device, std::string_view power_mode,
                                 std::shared_ptr<const Runtime> runtime, const MachineOptions& options = {});

/// How a device executes a requested format.
struct ExecutedPrecision {
    bool supported = false;
    PrecisionConfig config; ///< what runs
    std::string note;       ///< what the device does instead, empty when exactly as asked
};
ARCHSIM_API ExecutedPrecision resolve_precision(const Device& device, const Runtime& runtime,
                                                const PrecisionConfig& requested);

} // namespace archsim
