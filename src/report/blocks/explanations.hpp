#pragma once
// What a report can add about its results, asked for by flags that tools share: where the energy goes, what
// memory is needed, what an inference costs.

#include "archsim/compare/cost.hpp"
#include "archsim/compare/result.hpp"
#include "archsim/extend/renderer.hpp"
#include "fields/json_members.hpp"
#include "report/blocks/energy_report.hpp"

#include <span>
#include <vector>

namespace archsim {

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

/// Results and what is to be explained of them.
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
