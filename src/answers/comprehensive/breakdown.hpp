#pragma once
// Where the time and energy of one estimate go, by kind of operator.

#include "archsim/compare/result.hpp"
#include "archsim/core/export.hpp"

#include <vector>

namespace archsim {

/// Work of one kind of subgraph.
struct KindShare {
    OpKind kind = OpKind::free; ///< free: fixed costs of the network outside any subgraph
    double subgraphs = 0, operations = 0, memory_bytes = 0;
    double latency_s = 0, energy_j = 0;
    int compute_bound = 0, memory_bound = 0, overhead_bound = 0;
};

/// Largest time first; latencies add up to that of the estimate, of an answer to a prompt to that of the pass
/// whose subgraphs it lists (shown_pass). Empty without an estimate or its subgraphs.
ARCHSIM_API std::vector<KindShare> breakdown_by_kind(const Result& result);

} // namespace archsim
