#pragma once
// Bytes of a checkpoint's attention cache, summed over the inputs of its graph that carry it.

#include "archsim/ops/shaped_graph.hpp"
#include "checkpoint/checkpoint.hpp"

namespace archsim::test {

/// Cache after `positions` tokens, two bytes per element where the file says nothing else.
inline double cache_bytes(const Checkpoint& c, std::int64_t positions) {
    Bindings sizes;
    sizes.dims = {{"batch", 1}, {"sequence", 1}, {"past_sequence", positions}};
    const ShapedGraph graph = archsim::bind(c.graph, sizes, c.dims);
    double bytes = 0;
    for (const TensorId in : graph.inputs)
        if (graph.tensors[in].kv_cache)
            bytes += graph.tensors[in].elements() * graph.tensors[in].stored_bits() / 8;
    return bytes;
}

} // namespace archsim::test
