#pragma once
// Energy per event of one device: hardware_db/energy.json resolved for its family and process node, then
// overridden by what the device's own file states.

#include "archsim/core/finding.hpp"
#include "archsim/hardware/device.hpp"
#include "archsim/hardware/events.hpp"

#include <filesystem>

namespace archsim {

/// Prices that measured power decides together, as multiples of what public facts say of each: a die that is
/// awake, traffic with external memory, everything else that happens on a chip.
enum class PriceGroup : std::uint8_t { awake, dram, chip };
inline constexpr std::size_t kPriceGroupCount = 3;
/// Group of an event; none for links and hosts, which have supplies of their own.
std::optional<PriceGroup> price_group(Event event);

/// Prices hold at `nominal_clock`. A published all-in figure (joules per operation of a known kernel) is
/// split over the events which that kernel causes, so that counting the kernel again returns the figure.
struct EnergyTable {
    std::array<Fact, kPrecisionCount>
        mac{}; ///< joules per multiply-accumulate, datapath and what no event counts
    std::array<Fact, kEventCount> event{}; ///< joules per count; unknown = the family has no such event
    /// Joules per multiply-accumulate that a board takes beyond its events where its limit is what its
    /// densest products draw (energy.json, board_rating); zeros elsewhere.
    std::array<double, kPrecisionCount> rated_mac{};
    Fact dram_device;   ///< part of [dram_byte] spent in DRAM and its interface, joules per byte
    Fact static_power;  ///< watts while busy, without dynamic work: the sum of its parts
    Fact awake_power;   ///< part of it: the die, clocked and awake, with its regulators
    Fact clocked_power; ///< of that, what follows the clock as f V^2; unknown where nobody told it apart
    Fact memory_power;  ///< part of it: standby and refresh of the DRAM; unknown where there is none
    double static_growth = 1; ///< of a changed design over the device as described
    Fact clock_exponent;      ///< dynamic power ~ (f / f0)^a; a = 1 + 2 g when V ~ f^g
    Fact nominal_clock;       ///< Hz; unknown = whatever clock the device runs at
    Fact lowest_voltage;      ///< lowest V^2 relative to nominal
    Fact supply_efficiency;   ///< of the power supply between device and wall
    /// Multiples that these prices hold already; unknown = no measured power decided any.
    std::array<Fact, kPriceGroupCount> multiple{};
    Fact host_share; ///< host power per accelerator relative to its thermal design power; unknown = no host
    /// Joules per operation of a large matrix product with its instructions, registers and nearest memory (1
    /// MAC = 2 operations); NaN for formats without a native engine.
    std::array<double, kPrecisionCount> operation{};

    /// Joules of one event.
    const Fact& operator[](Event e) const { return event[static_cast<std::size_t>(e)]; }
    /// Energy of an event relative to its nominal price when the core runs at `clock` (Hz): voltage follows
    /// the clock, energy its square, so (clock / nominal)^(a - 1), not below `lowest_voltage`.
    double voltage_factor(double clock) const;
};

/// A clock that was published for a kernel of multiply-adds alone on a device at its power limit: at this
/// clock it draws what the limit allows.
struct ClockAtLimit {
    std::string device;
    Precision precision{};
    Fact share; ///< of the peak rate at that clock that the kernel reaches
    Fact clock; ///< Hz
};

/// Watts that a larger die of a changed design is granted beyond its budget: what it draws more. Units that a
/// stack leaves idle make nothing slower.
inline double granted_power(const EnergyTable& table, double static_w) {
    return table.static_growth > 1 ? static_w * (1 - 1 / table.static_growth) : 0;
}

struct EnergySpec;

/// The events table of the database, parsed once.
class EnergyDatabase {
  public:
    /// Reads `file` (hardware_db/energy.json); throws InputError.
    explicit EnergyDatabase(const std::filesystem::path& file);

    /// The file that was read.
    const std::filesystem::path& file() const { return file_; }
    /// Published clocks at power limits: what they say of prices, fits take beside measured power.
    const std::vector<ClockAtLimit>& clocks_at_limit() const;
    /// Scales every entry to the device's node by its class (logic, SRAM, wire, DRAM) and applies the
    /// device's own constants.
    EnergyTable resolve(const Device& device) const;
    /// A finding for every all-in energy of a multiply-accumulate, of the device or of its family at the
    /// device's node, that is below what its bare arithmetic takes there; a warning where the table names
    /// neither memory nor node.
    std::vector<Finding> price_findings(const Device& device) const;

  private:
    std::shared_ptr<const EnergySpec> spec_;
    std::filesystem::path file_;
};

} // namespace archsim
