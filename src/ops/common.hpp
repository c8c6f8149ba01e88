#pragma once
// Inference and work shared by operator families.

#include "archsim/extend/operator.hpp"

#include <span>

namespace archsim {

// Helpers.

[[noreturn]] void malformed(std::string message);
/// The value of input i; throws NodeProblem where the node has no such input or its value is not known.
const Constant& known_value(const NodeContext& c, std::size_t i);
/// Numpy broadcasting; throws NodeProblem{shape_conflict} when the shapes do not fit.
Shape broadcast(std::span<const std::int64_t> a, std::span<const std::int64_t> b);
/// Index from the front; throws when out of [-rank, rank).
std::size_t normalized_axis(std::int64_t axis, std::size_t rank);
/// Sorted axes without duplicates, from the front.
std::vector<std::size_t> normalized_axes(const std::vector<std::int64_t>& axes, std::size_t rank);
double product(std::span<const std::int64_t> dims);
/// Axes from input `i` (newer opsets) or attribute `axes` (older); nullopt when neither is given.
std::optional<std::vector<std::int64_t>> axes_of(const NodeContext& c, std::size_t i);
DataType data_type_attribute(const NodeContext& c, std::string_view key, DataType fallback);
bool is_integer_type(DataType type);
/// A value of the output's type and shape, to be filled in.
Constant blank_value(NodeContext& c, std::size_t output);
std::size_t value_count(const Constant& constant);
double number_at(const Constant& constant, std::size_t i);
void append_from(Constant& to, const Constant& from, std::size_t i);
/// Truncates towards zero and saturates; NaN gives 0.
std::int64_t saturated_int(double value);
/// Rounds to what the type can hold, so that folded float32 arithmetic agrees with a float32 runtime.
double rounded_to(DataType type, double value);

// Inference.

/// Output 0 has the type and shape of input 0.
void infer_same(NodeContext& c);
/// Numpy broadcast of all inputs, type of input 0; the old `broadcast` and `axis` attributes too.
void infer_broadcast(NodeContext& c);
/// The same with a boolean result.
void infer_comparison(NodeContext& c);

// Work.

/// The row's cost for each output element.
void work_per_output(NodeContext& c);
/// The row's cost for each element of input 0.
void work_per_input(NodeContext& c);
/// Bytes only.
void work_movement(NodeContext& c);
/// Nothing at run time; joins anything.
void work_free(NodeContext& c);
/// Makes a movement free when input 0 and output 0 lie the same way in memory.
void make_free(NodeContext& c);

/// Value of output 0 is that of input 0 in the output's shape.
void fold_reshaped(NodeContext& c);

} // namespace archsim
