#pragma once
// hardware_db/energy.json as read: prices per event with the node they hold at, reference kernels, DRAM and
// links.

#include "hardware/energy_table.hpp"

#include <map>

namespace archsim {

/// The law by which a price shrinks from node to node.
enum class Scaling : std::uint8_t { none, logic, sram, wire };

/// A price at one node, or listed for several.
struct NodePrice {
    Fact energy;        ///< joules per count at `process`
    double process = 0; ///< nm
    Scaling scaling = Scaling::none;
    std::vector<std::pair<double, Fact>> by_process; ///< (nm, price), ascending; replaces the above
    bool known() const { return energy.known() || !by_process.empty(); }
};

/// Events per multiply-accumulate of a kernel whose all-in energy is published. Events that move operands
/// grow with the operand's width.
struct ReferenceKernel {
    std::array<double, kEventCount> per_mac{};
    std::array<double, kEventCount> per_operand_byte{};
    bool known = false;
    double count(Event e, double operand_bytes) const {
        const auto i = static_cast<std::size_t>(e);
        return per_mac[i] + per_operand_byte[i] * operand_bytes;
    }
};

/// A price for every kind of memory or link whose type starts with one of `types`; an entry without types is
/// the default.
struct TypedPrice {
    std::vector<std::string> types;
    Fact energy; ///< joules per byte
};

struct FamilyEnergy {
    std::array<NodePrice, kEventCount> events{};
    std::array<NodePrice, kPrecisionCount> matrix{}; ///< joules per MAC of matrix engines, all-in
    NodePrice figure_clock; ///< Hz at which the figures of engines hold; unknown: at any device's highest
    NodePrice vector_fp32;  ///< joules per MAC of vector engines, all-in: fixes the price of an instruction
    ReferenceKernel matrix_kernel, vector_kernel;
    std::array<double, kEventCount> stream_kernel{}; ///< events per byte streamed from DRAM
    std::vector<TypedPrice> dram_path;               ///< from the DRAM's interface to the compute units
    Fact static_share;                               ///< of the thermal design power; the last resort
    /// W of a compute unit that is awake, with its part of the chip: clocks, leakage and what runs without
    /// doing work, at a clock.
    std::map<std::string, Fact> awake; ///< by generation
    Fact awake_clock;
    Fact clock_exponent, nominal_clock;
    Fact lowest_voltage;                           ///< lowest V^2 relative to nominal
    std::array<Fact, kPriceGroupCount> multiple{}; ///< of its prices, by what measured power says
    /// Part of what their limit leaves beside the die that the densest products of boards draw which are not
    /// sold for servers; unknown: what events cost says so.
    Fact board_rating;
    bool bounded_by_limit = true; ///< prices never exceed what the power limit leaves at the sustained rate
};

/// From accelerators to the wall socket.
struct WallSpec {
    Fact server_supply_efficiency, adapter_efficiency, host_share;
};

struct EnergySpec {
    std::array<std::vector<std::pair<double, double>>, NamesOf<Scaling>::all.size()>
        scaling;                                       ///< (nm, factor), ascending
    std::array<NodePrice, kPrecisionCount> arithmetic; ///< joules per bare MAC
    /// How all-in figures of engines are taken apart: the share of peak that the best products reach, and the
    /// part of a figure that stays with the datapath whatever the events of its kernel cost.
    Fact best_share_of_peak, least_datapath_share;
    /// Carried along by a changed design: the shares of a die that compute and on-chip memory take.
    Fact compute_share, memory_share;
    std::array<Fact, kPrecisionCount> width_ratio; ///< all-in energy of a MAC relative to bf16
    std::vector<TypedPrice> dram_device, links;
    std::vector<TypedPrice> dram_background; ///< W per byte of capacity: standby and refresh
    WallSpec wall;
    std::vector<ClockAtLimit> clocks_at_limit;
    std::map<Family, FamilyEnergy> families;
    /// Prices of a family; none where the file does not name it: its devices state their own.
    const FamilyEnergy& of(Family family) const;
};

/// Throws InputError with every finding.
EnergySpec read_energy_spec(const std::filesystem::path& file);

} // namespace archsim
