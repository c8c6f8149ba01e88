#pragma once
// Scaled dot-product attention for every operator that contains it.

#include "ops/common.hpp"

namespace archsim {

/// Sizes of softmax(Q K' scale + mask) V and what of it is computed.
struct AttentionSizes {
    double batch = 1, heads = 1, kv_heads = 1, query_length = 1, kv_length = 1, head_size = 1, value_size = 1;
    bool causal = false;
    double causal_offset = 0; ///< query i sees keys 0 ... i + offset
    double window = 0;        ///< keys a query sees at most; 0: all
    bool chunked = false; ///< the window does not slide: a query sees its own chunk of that many positions
    bool mask = false;    ///< a mask or bias is added to the scores
    bool softcap = false; ///< tanh limits the scores
};

/// Query-key pairs of one head that are computed: all, or what a causal mask and a window leave.
double attended_pairs(const AttentionSizes& sizes);

/// Fills attention shape, both contractions and the softmax. Query heads that share keys and values are rows
/// of one product, so a group reads each key once.
void attention_work(NodeContext& c, const AttentionSizes& sizes);

/// Rotating `elements` by precomputed sines and cosines: two multiplications and an addition each.
void add_rotation(NodeContext& c, double elements);

} // namespace archsim
