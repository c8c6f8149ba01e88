#pragma once
// Shapes for people.

#include "archsim/ops/shaped_graph.hpp"
#include "ops/precision_mix.hpp"

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

/// The names with a star for each number that differs; the first name where they differ in more than numbers.
std::string common_name(const std::vector<std::string>& names);

/// The name with a star for every number: equal for names that differ in numbers alone.
std::string name_shape(const std::string& name);

/// Its last `most` characters after "...", where it is longer.
std::string shortened_name(const std::string& name, std::size_t most);

/// "int8 98.2 % of operations, fp32 1.8 %".
std::string precision_text(const std::vector<FormatShare>& mix);
/// "4-bit 84.1 %, 32-bit 15.9 %".
std::string weight_text(const std::vector<WeightShare>& mix);

} // namespace archsim
