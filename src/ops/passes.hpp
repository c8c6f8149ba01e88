#pragma once
// Whole-graph passes after inference.

#include "ops/engine.hpp"

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

/// The faults of a graph whatever its sizes are: nodes without an operand that their row needs, nodes that
/// read themselves or later ones, tensors that are none of the graph's. Of such a graph nothing can be said.
std::vector<Finding> structural_faults(const Graph& graph, const OperatorRegistry& registry);
/// Says which operand that its row needs a node does not name; empty: it names all.
std::string missing_operand(const Node& node, const OperatorRow& row);

/// Makes an operator one that reads nothing and does not run.
void leave_out(Operator& op);

/// An operator whose work is not known moves its tensors: kinds with a window or a contraction would be read
/// by those.
void leave_uncounted(Operator& op);

/// Leaves out what reads itself or a later result, or makes a tensor again; reports each.
void check_structure(BindState& state);

inline constexpr std::size_t kMostUsualSizes = 4;

/// For `name`, which is the dimension `symbol` of an axis or a part of its arithmetic: from the words in the
/// name, else from what the axis is of an image, of text or of sound. Likeliest first, at most
/// kMostUsualSizes, never empty.
std::vector<std::int64_t> usual_sizes(const Tensor& tensor, std::size_t axis, const std::string& symbol,
                                      const std::string& name);

/// The word as a shell takes it: quoted where a character asks for it.
std::string shell_quoted(const std::string& word);

/// "give it, for example --dim height=224", quoted for a shell where the name asks for it.
std::string size_hint(const std::string& name, std::int64_t size);

/// Sets the flags of these tensors.
inline void mark(std::vector<bool>& flags, const auto& tensors) {
    for (const TensorId id : tensors)
        if (id != kNoTensor)
            flags[id] = true;
}

} // namespace archsim
