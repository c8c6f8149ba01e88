#pragma once
// Energy per event of one device: hardware_db/energy.json resolved for its family and process node, then
// overridden by what the device's own file states.

#include "archsim/core/export.hpp"
#include "archsim/hardware/device.hpp"
#include "archsim/hardware/events.hpp"

#include <array>
#include <filesystem>
#include <memory>

namespace archsim {

struct EnergyTable {
    std::array<Fact, kPrecisionCount> mac{};  ///< joules per multiply-accumulate in the matrix engine, all-in
    std::array<Fact, kEventCount> event{};    ///< joules per count; unknown = the family has no such event
    Fact static_power;                        ///< watts while busy, without dynamic work (active idle)
    Fact clock_exponent;                      ///< dynamic power ~ (f / f0)^a; a = 1 + 2 g when V ~ f^g
    const Fact& operator[](Event e) const { return event[static_cast<std::size_t>(e)]; }
};

/// The events table of the database, parsed once.
class ARCHSIM_API EnergyDatabase {
  public:
    /// Reads `file` (hardware_db/energy.json); throws InputError.
    explicit EnergyDatabase(const std::filesystem::path& file);
    ~EnergyDatabase();
    EnergyDatabase(EnergyDatabase&&) noexcept;
    EnergyDatabase& operator=(EnergyDatabase&&) noexcept;

    /// Scales every entry to the device's node by its class (logic, SRAM, wire, DRAM) and applies the device's
    /// own constants.
    EnergyTable resolve(const Device& device) const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace archsim
