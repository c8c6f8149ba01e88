#pragma once
// Energy gathered from events into what an architect would name first, and those into four:
//
//   31.2 mJ per inference: compute 38.1 %, memory 41.6 %, static 14.9 %, control 5.4 %
//   memory: DRAM 29.0 %, far 8.4 %, near 4.2 %; static: 65.7 W for 71 us

#include "archsim/compare/result.hpp"
#include "archsim/estimate/estimate.hpp"
#include "archsim/extend/renderer.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// Events that spend for the same reason.
enum class EnergyPart : std::uint8_t {
    arithmetic,
    control,
    near_memory,
    far_memory,
    dram,
    movement,
    host,
    leakage,
    count_
};
inline constexpr std::size_t kEnergyPartCount = static_cast<std::size_t>(EnergyPart::count_);
inline constexpr std::array<std::string_view, kEnergyPartCount> kEnergyPartNames = {
    "Arithmetic", "Control", "Near mem.", "Far mem.", "DRAM", "Movement", "Host", "Static"};
inline constexpr std::array<std::string_view, kEnergyPartCount> kEnergyPartKeys = {
    "arithmetic_j", "control_j",  "near_memory_j", "far_memory_j",
    "dram_j",       "movement_j", "host_j",        "static_j"};

using EnergyParts = std::array<double, kEnergyPartCount>;
/// Joules by part; they add up to the total.
EnergyParts parts_of(const EnergyBreakdown& energy);

/// Joules by what they are spent on; they add up to the total.
struct EnergyRollup {
    double compute_j = 0; ///< arithmetic
    double memory_j = 0;  ///< memories of every level and what moves data between them
    double static_j = 0;  ///< what is drawn without work
    double control_j = 0; ///< instructions, tags, scheduling, tokens, configuration, host
    double total() const { return compute_j + memory_j + static_j + control_j; }
};
EnergyRollup roll_up(const EnergyBreakdown& energy);

/// What the energy of an estimate is that of: boundary, power, clock, draw at the wall, interval.
Facts energy_conditions(const Result& result);
/// The two lines above the account of an estimate.
std::vector<std::string> rollup_lines(const Result& result);

} // namespace archsim
