#pragma once
// Kernels of two graphs set against each other.

#include "compare/factor_terms.hpp"

#include <list>
#include <vector>

namespace archsim {

/// Two estimates with what they share.
struct AlignedEstimates {
    std::vector<GraphPair> graphs;    ///< by CommonRegion::part
    std::list<GraphRecord> stand_ins; ///< without kernels, for graphs that one side lacks
    std::vector<CommonRegion>
        regions;             ///< kernels of A (0) and B (1); those of one side alone have none of the other
    std::size_t aligned = 0; ///< pairs of operators
};

/// Graphs are paired by name, else in order; kernels that share an aligned operator are one region.
AlignedEstimates align(const EstimateRecord& a, const EstimateRecord& b);

} // namespace archsim
