#pragma once
// Which formats a graph computes in, as its file says: a quantised graph prescribes some operators' formats,
// the others have the type of their tensors.

#include "archsim/ops/shaped_graph.hpp"

namespace archsim {

/// The format that the file gives an operator: the one a quantised graph prescribes ("int8" between
/// QuantizeLinear and DequantizeLinear, in QLinearConv, MatMulInteger...), else that of its first floating
/// output or input ("fp32"), else the type of its first output ("int64").
std::string_view declared_format(const ShapedGraph& graph, const Operator& op);

/// Whether `op` multiplies with a weight that a checkpoint quantises alone, beside others whose products it
/// quantises.
bool meets_weight_only(const ShapedGraph& graph, const Operator& op);

/// Work in one number format.
struct FormatShare {
    std::string format;
    double operators = 0; ///< with run-time work
    double macs = 0, operations = 0;
};
/// Work by format, most operations first; operators without run-time work are left out.
std::vector<FormatShare> precision_mix(const ShapedGraph& graph);

/// Weights stored in one number format.
struct WeightShare {
    double bits = 32;      ///< per value as the file stores it, without the scales of a block
    double parameters = 0; ///< values of this width
};
/// Learned values by their stored width, most first.
std::vector<WeightShare> weight_mix(const ShapedGraph& graph);

/// True when the graph prescribes the format of some operator, or stores weights narrower than 16 bits.
bool is_quantized(const ShapedGraph& graph);

} // namespace archsim
