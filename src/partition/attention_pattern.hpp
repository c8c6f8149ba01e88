#pragma once
// Finds decomposed attention: contraction of two activations, elementwise scaling and masking, softmax,
// contraction with a third activation. Found by operator class and data flow, not by operator names.

#include "partition/fusion_graph.hpp"

#include <vector>

namespace archsim {

struct AttentionRegion {
    std::uint32_t score_product = 0;    ///< Q K^T
    std::uint32_t value_product = 0;    ///< softmax(...) V
    bool biased = false;                ///< the scores of each head have a bias of their own
    std::vector<std::uint32_t> members; ///< ascending, with the transposes that the kernel reads through
};

std::vector<AttentionRegion> find_attention(const FusionGraph& graph);

} // namespace archsim
