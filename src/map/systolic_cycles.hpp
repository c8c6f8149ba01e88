#pragma once
// Stall-free cycles of a square systolic array, in closed form.

#include "archsim/ops/shaped_graph.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace archsim {

/// Which operand stays in the processing elements of a systolic array.
enum class Dataflow : std::uint8_t { weight_stationary, output_stationary, input_stationary };
std::string_view name_of(Dataflow dataflow); ///< "weight_stationary"
/// "weight_stationary" or "ws", and so on; any case.
std::optional<Dataflow> parse_dataflow(std::string_view text);

/// Cycles of an M x N x K product on an `array` x `array` systolic array without memory stalls and without
/// overlap between folds: ceil(Sr/A) ceil(Sc/A) (k A + T - 2) - 1, where Sr x Sc is the part of the iteration
/// space that lies on the array, T the part that streams, and k = 3 (weight and input stationary: load, skew
/// in, skew out) or 2 (output stationary: skew in, drain). (Sr, Sc, T) = (K, N, M), (M, N, K), (K, M, N) for
/// weight, output and input stationary. This is what SCALE-Sim counts (Samajdar et al., arXiv:1811.02883).
/// Worked: M = N = K = A = 32, weight stationary: 1 x 1 x (96 + 32 - 2) - 1 = 125.
/// @code
/// assert(systolic_cycles(32, 32, 32, 32, Dataflow::weight_stationary) == 125);
/// @endcode
std::uint64_t systolic_cycles(std::uint64_t m, std::uint64_t n, std::uint64_t k, std::uint64_t array,
                              Dataflow dataflow);

/// Cycles of one layer.
struct LayerCycles {
    std::uint32_t op = 0;     ///< index into ShapedGraph::operators
    std::uint64_t cycles = 0; ///< of one inference: all groups and repeats, one after another
};

/// The same for every operator of `graph` that multiplies matrices, in order; convolutions as implicit
/// products.
std::vector<LayerCycles> systolic_cycles(const ShapedGraph& graph, std::uint64_t array, Dataflow dataflow);

} // namespace archsim
