#pragma once
// Shapes for people.

#include "archsim/ops/shaped_graph.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace archsim {

/// "1x64x112x112", "scalar", "?" where unresolved.
std::string shape_text(const ShapedTensor& tensor);
/// The same of several tensors, with commas.
std::string shapes_text(const ShapedGraph& graph, std::span<const TensorId> ids);
/// Inputs of an operator that are computed; its weights follow from its type and shapes.
std::vector<TensorId> activations_of(const ShapedGraph& graph, const Operator& op);

/// "batch = 1, sequence = 512", without sizes that are sums of others.
std::string sizes_text(const std::map<std::string, std::int64_t>& dims);

} // namespace archsim
