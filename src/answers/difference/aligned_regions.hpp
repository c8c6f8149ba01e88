#pragma once
// Kernels of two graphs set against each other.

#include "answers/difference/factor_terms.hpp"

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
    /// By region: it computes the same on both sides, operators, sizes and number of kernels.
    std::vector<bool> unchanged;
};

/// Regions that compute the same on the same device under the same conditions, in a network that is another:
/// what they cost more or less is for the room that the rest leaves them. Empty where there are none.
std::vector<bool> displaced_regions(const EstimateRecord& a, const EstimateRecord& b,
                                    const AlignedEstimates& aligned);

/// Graphs are paired by name, else in order; kernels that share an aligned operator are one region.
AlignedEstimates align(const EstimateRecord& a, const EstimateRecord& b);

} // namespace archsim
