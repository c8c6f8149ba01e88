#pragma once
// The part that the totals of a graph leave out where a part of it is not understood.

#include "archsim/ops/shaped_graph.hpp"

namespace archsim {

/// The operators at run time of which nothing, or no shape, is known.
struct Uncounted {
    std::map<std::string, std::size_t> unknown; ///< type -> operators that are not understood
    std::size_t unshaped = 0;                   ///< operators without shapes, behind those or without sizes
    std::size_t operators = 0;                  ///< of the network at run time, these included
    double parameters = 0;                      ///< that only these read
    double all_parameters = 0;

    /// True where nothing is left out.
    bool empty() const { return unknown.empty() && unshaped == 0; }
};

Uncounted uncounted_of(const ShapedGraph& graph);

/// "2 of 112 operators are not understood (org.example.Foo) and 5 have no shapes; these hold 34 % of the
/// parameters: every total is a lower bound". Empty for a complete graph.
std::string uncounted_text(const ShapedGraph& graph);

/// Elements of input `input`, which is `tensor`, that one execution reads: all, unless the operator says
/// otherwise (Gather reads rows, Slice a part).
double read_elements(const Operator& op, std::size_t input, const ShapedTensor& tensor);

/// Elements of output `output`, which is `tensor`, that one execution writes: all, unless the operator says
/// otherwise (attention appends new keys and values to a cache that it shares with its input).
double written_elements(const Operator& op, std::size_t output, const ShapedTensor& tensor);

/// Operators of ai.onnx whose function the operator has, itself among them where it is one. `type` is that of
/// a bound graph. Empty where no operator of ai.onnx does what it does. Worked:
/// "com.microsoft.SkipLayerNormalization" adds and has the function of LayerNormalization.
std::vector<std::string_view> functions_of(std::string_view type);

/// "com.microsoft" of "com.microsoft.Gelu"; empty of an operator of ai.onnx.
std::string_view domain_of(std::string_view type);

} // namespace archsim
