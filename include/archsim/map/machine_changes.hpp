#pragma once
// A device that does not exist (yet): the one of the database with some of its rates, costs or limits
// changed. What-if questions, sensitivity and the search for what would flip a ranking.

#include "archsim/core/export.hpp"
#include "archsim/hardware/events.hpp"
#include "archsim/map/machine.hpp"

#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace archsim {

/// The values that can be changed. Each is a factor on the machine's own value.
enum class Lever : std::uint8_t {
    peak,             ///< speed of matrix, vector and special engines
    bandwidth,        ///< external memory
    on_chip,          ///< bandwidth of L1, L2 and last-level cache
    fixed_cost,       ///< per kernel, layer, parallel region and inference
    host_time,        ///< of operators that the device hands to its host
    power_limit,      ///< watts
    operation_energy, ///< joules per multiply-accumulate, vector and special operation
    control_energy, ///< joules per instruction, scheduling and coherence event, token and configuration byte
    on_chip_energy, ///< joules per byte in registers, arrays, caches and their interconnect
    memory_energy,  ///< joules per byte of external memory
    static_power,   ///< watts that flow without work
    capacity,       ///< bytes of external memory
    count_
};
inline constexpr std::size_t kLeverCount = static_cast<std::size_t>(Lever::count_);

/// The names of a lever.
struct LeverInfo {
    std::string_view name;  ///< flag value and JSON key: "bandwidth"
    std::string_view title; ///< "memory bandwidth"
};
inline constexpr std::array<LeverInfo, kLeverCount> kLevers = {{
    {"peak", "peak compute"},
    {"bandwidth", "memory bandwidth"},
    {"on_chip", "on-chip bandwidth"},
    {"fixed_cost", "fixed cost per kernel and inference"},
    {"host_time", "time of operators on the host"},
    {"power_limit", "power limit"},
    {"operation_energy", "energy per operation"},
    {"control_energy", "instruction and control energy"},
    {"on_chip_energy", "energy of on-chip data movement"},
    {"memory_energy", "energy per byte of external memory"},
    {"static_power", "static power"},
    {"capacity", "memory capacity"},
}};
constexpr const LeverInfo& info_of(Lever lever) {
    return kLevers[static_cast<std::size_t>(lever)];
}
/// By its name; nothing where no lever has it.
constexpr std::optional<Lever> parse_lever(std::string_view text) {
    for (std::size_t i = 0; i < kLeverCount; ++i)
        if (info_of(static_cast<Lever>(i)).name == text)
            return static_cast<Lever>(i);
    return std::nullopt;
}

/// The lever that scales the price of an event; absent for what the host's own supplies deliver.
constexpr std::optional<Lever> lever_of(Event event) {
    switch (event) {
    case Event::mac:
    case Event::vector_op:
    case Event::special_op:
        return Lever::operation_energy;
    case Event::instruction:
    case Event::scheduling:
    case Event::coherence:
    case Event::domain_token:
    case Event::configuration_byte:
        return Lever::control_energy;
    case Event::dram_byte:
        return Lever::memory_energy;
    case Event::host_link_byte:
    case Event::host_busy_second:
    case Event::count_:
        return std::nullopt;
    default:
        return Lever::on_chip_energy;
    }
}

/// Factors on a machine; 1 everywhere is the machine itself.
struct MachineChanges {
    std::array<double, kLeverCount> factors;
    std::vector<std::pair<Parameter, double>> parameters; ///< factors on parameters of the latency model
    std::optional<double> power_limit_w;                  ///< instead of the machine's own, before its factor

    MachineChanges() { factors.fill(1); }
    /// Factor on one part.
    double operator[](Lever l) const { return factors[static_cast<std::size_t>(l)]; }
    /// Factor on one part.
    double& operator[](Lever l) { return factors[static_cast<std::size_t>(l)]; }
    /// Equal in every factor.
    bool operator==(const MachineChanges&) const = default;
};

ARCHSIM_API void apply(const MachineChanges& changes, Machine& machine);

} // namespace archsim
