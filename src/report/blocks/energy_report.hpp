#pragma once
// Where an estimate's energy goes: `--explain-energy`.
//
//   31.2 mJ per inference: compute 38.1 %, memory 41.6 %, static 14.9 %, control 5.4 %
//   memory: DRAM 29.0 %, far 8.4 %, near 4.2 %; static: 65.7 W for 71 us
//   Energy of resnet50 on A100 (batch 1, fp16): 31.2 mJ per inference
//   Event                    Count     Each      Energy   Share  Source
//   multiply-accumulate fp16 4.09 G    1.93 pJ   7.90 mJ  25.3 % derived: upper bound (TDP - static) / ...
//   DRAM device              61.2 M    33.6 pJ   ...
//   static power             412 us    65.7 W    ...
// Every row is count x price at the voltage of the clock; the rows add up to the energy of the estimate.

#include "archsim/compare/result.hpp"
#include "archsim/estimate/estimate.hpp"
#include "archsim/extend/renderer.hpp"
#include "fields/json_members.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// One line of the account.
struct EnergyItem {
    std::string event;        ///< "mac_int8", "dram_device", "static": the name in JSON and CSV
    std::string name;         ///< "register file"
    std::string_view counted; ///< "byte"; empty: the event itself
    double count = 0;         ///< per batch
    double each_j = 0;        ///< joules per count, at the voltage of the clock
    double joules = 0;
    std::string_view source_kind; ///< "datasheet", "no price"
    std::string source;           ///< kind and citation, and how the price was derived
    bool timed = false;           ///< a power over a time: `count` is seconds, `each_j` watts

    /// "register file, byte".
    std::string title() const { return counted.empty() ? name : name + ", " + std::string(counted); }
};

/// Every event of the estimate, largest first; their joules add up to `result.estimate.energy.total()`.
std::vector<EnergyItem> energy_items(const Result& result);

struct EnergyView {
    bool subgraphs = false; ///< also by subgraph
};
/// The account of each result, after a line on clock, voltage, power and the boundary it is drawn at.
Report describe_energy(std::span<const Result> results, const EnergyView& view);
/// Its lines in documents.
Members<EnergyItem> energy_event_members();

// Energy gathered from events into what an architect would name first, and those into four:
//
//   31.2 mJ per inference: compute 38.1 %, memory 41.6 %, static 14.9 %, control 5.4 %
//   memory: DRAM 29.0 %, far 8.4 %, near 4.2 %; static: 65.7 W for 71 us

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

/// The conditions of an estimate's energy: boundary, power, clock, draw at the wall, interval.
Facts energy_conditions(const Result& result);
/// The two lines above the account of an estimate.
std::vector<std::string> rollup_lines(const Result& result);

} // namespace archsim
