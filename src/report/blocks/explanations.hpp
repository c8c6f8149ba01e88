#pragma once
// Parts that a report can add about its results, asked for by flags that tools share: where the energy goes,
// what memory is needed, what an inference costs.

#include "archsim/compare/cost.hpp"
#include "archsim/compare/result.hpp"
#include "archsim/extend/renderer.hpp"
#include "estimate/cold_start.hpp"
#include "fields/json_members.hpp"
#include "report/blocks/energy_report.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace archsim {

/// Nothing where the result has no estimate.
std::optional<ColdStart> cold_start_of(const Result& result);
/// First inference against warm ones, quickest first.
Table cold_start_table(std::span<const Result> results);

// Memory of estimates: `--show-memory`. One row per device (weights, activations planned and alive, does it
// fit the device and the chip, what would), then for each way the network was fused and stored the tensors
// alive at the peak and how much is alive at every step.

std::vector<Block> memory_blocks(std::span<const Result> results);

/// Its prices with their dates, given ones first; "no published price" where there is none.
std::string price_text(const Result& result, const CostOptions& options);

/// A table of $ per million inferences (rented; owned: purchase and electricity) and g CO2e per thousand, the
/// prices with their dates, the break-even volumes between the devices, and the assumptions with their
/// sources.
std::vector<Block> cost_blocks(std::span<const Result> results, const CostOptions& options);
/// One line: g CO2e per thousand inferences on every device.
std::vector<Block> carbon_blocks(std::span<const Result> results, const CostOptions& options);

/// Which accounts a report adds.
struct Explanations {
    bool energy = false;    ///< every event: count, price, source
    bool subgraphs = false; ///< energy also by subgraph
    bool memory = false;
    bool cost = false;
    bool carbon = false; ///< one line, where the cost table does not show it already
    CostOptions conditions;
    /// True when at least one is asked for.
    bool any() const { return energy || memory || cost || carbon; }
};

/// The blocks asked for, for the results of one model.
std::vector<Block> explanation_blocks(std::span<const Result> results, const Explanations& explanations);

struct Explained {
    std::span<const Result> results;
    Explanations explanations;
};

Members<Explained> energy_members();
Members<Explained> memory_members();
Members<Explained> cost_members();

/// "memory", "energy" and "cost", as far as asked for.
Members<Explained> explanation_members();

} // namespace archsim
