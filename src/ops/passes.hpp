#pragma once
// Whole-graph passes after inference.

#include "ops/bind_state.hpp"

namespace archsim {

/// Reads the precision that QuantizeLinear/DequantizeLinear pairs prescribe: an operator between them runs on
/// the quantised type, the pairs themselves then cost nothing, and folded dequantised weights keep their
/// packed size.
void mark_quantization(BindState& state);

/// Marks cache tensors of decomposed attention: a graph input that is extended (Concat, ScatterND...) into a
/// graph output.
void mark_kv_caches(ShapedGraph& graph);

/// Compares graph outputs with what the file declares, and remembers the sizes of symbols that only outputs
/// have.
void check_outputs(const Graph& graph, BindState& state);

/// Reports sizes, shapes and values that the user gave for names which the model does not have.
void check_names(BindState& state);

/// Folds operators whose results nothing at run time reads (a Transpose whose shape alone was wanted), and
/// takes initializers that no operator reads off the parameters.
void drop_unused(ShapedGraph& graph);

} // namespace archsim
