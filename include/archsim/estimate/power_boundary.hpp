#pragma once
// Where power is measured. Every measured value and every question about power has one of these boundaries;
// what lies inside of it is counted.

#include "archsim/core/export.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace archsim {

/// From the inside out.
enum class PowerBoundary : std::uint8_t {
    rail,   ///< what a sensor on the accelerator's supply reads (NVML): chip, memory, regulators of the card
    chip,   ///< the device with its memory: what Estimate::power_w is
    module, ///< a module that holds chip, memory and regulators
    board,  ///< the board around chip or module: other chips, links, fans
    wall    ///< the socket of the whole system: host, fans, power supply
};
/// "rail", "chip", "module", "board" or "wall".
ARCHSIM_API std::string_view name_of(PowerBoundary boundary);
/// The boundary of that name.
ARCHSIM_API std::optional<PowerBoundary> parse_power_boundary(std::string_view text);

} // namespace archsim
