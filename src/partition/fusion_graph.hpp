#pragma once
// The bound graph seen by fusion: operators with run-time work, who produces and who reads each tensor, with
// views (reshape, in-place split) looked through.

#include "archsim/extend/fusion_policy.hpp"
#include "archsim/ops/shaped_graph.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace archsim {

/// Many short lists in one piece of memory.
class FlatLists {
  public:
    /// (list, value): the values of a list keep their order.
    using Entry = std::pair<std::uint32_t, std::uint32_t>;

    FlatLists() = default;
    FlatLists(std::size_t lists, std::span<const Entry> entries)
        : begin_(lists + 1, 0), values_(entries.size()) {
        for (const auto& [list, value] : entries)
            ++begin_[list + 1];
        for (std::size_t list = 0; list < lists; ++list)
            begin_[list + 1] += begin_[list];
        std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
        for (const auto& [list, value] : entries)
            values_[next[list]++] = value;
    }

    std::span<const std::uint32_t> operator[](std::size_t list) const {
        return {values_.data() + begin_[list], values_.data() + begin_[list + 1]};
    }

  private:
    std::vector<std::uint32_t> begin_; ///< of each list, and the end of the last
    std::vector<std::uint32_t> values_;
};

inline constexpr std::uint32_t kNoOperator = 0xFFFFFFFFu;

class FusionGraph {
  public:
    FusionGraph(const ShapedGraph& graph, const FusionPolicy& policy);

    const ShapedGraph& graph() const { return graph_; }
    const Operator& op(std::uint32_t i) const { return graph_.operators[i]; }
    const ShapedTensor& tensor(TensorId id) const { return graph_.tensors[id]; }

    /// True for operators that need no kernel: views, folded operators, in-place concatenation.
    bool is_view(std::uint32_t i) const { return view_[i]; }
    /// Concatenation whose producers write their part of the result directly.
    bool is_in_place_join(std::uint32_t i) const { return join_[i]; }
    /// The tensor that `id` is a view of (itself when it is none).
    TensorId root(TensorId id) const { return root_[id]; }
    /// Operator with work that produces the root tensor, or kNoOperator (graph input, constant,
    /// concatenation).
    std::uint32_t producer(TensorId root) const { return producer_[root]; }
    /// Operators with work that read the tensor or a view of it, ascending, each once. An in-place
    /// concatenation does not read.
    std::span<const std::uint32_t> readers(TensorId root) const { return readers_[root]; }
    /// Returned by the graph, or part of an in-place concatenation: must be in memory.
    bool is_pinned(TensorId root) const { return pinned_[root]; }
    bool is_constant(TensorId id) const {
        return tensor(id).constant || tensor(id).role == TensorRole::initializer;
    }

    /// Whether callers may replace one of the operator's weights.
    bool reads_replaceable(std::uint32_t i) const {
        const TensorList& inputs = op(i).inputs;
        return std::ranges::any_of(inputs,
                                   [&](TensorId id) { return id != kNoTensor && tensor(id).replaceable; });
    }

    /// Activation inputs of an operator as roots, each once, in order.
    std::span<const TensorId> activation_inputs(std::uint32_t i) const { return activation_inputs_[i]; }

    /// The local post-dominator of `root`: the first operator that every path from its readers passes, when
    /// all operators before it satisfy `elementwise` (or, with `through_reductions`, are reductions). nullopt
    /// when the paths leave the region, or it is larger than a kernel would hold.
    std::optional<std::uint32_t> closing_operator(TensorId root, bool through_reductions) const;

  private:
    void list_activation_inputs();

    const ShapedGraph& graph_;
    std::vector<char> view_, join_, pinned_;
    std::vector<TensorId> root_;
    std::vector<std::uint32_t> producer_;
    FlatLists readers_, activation_inputs_;
};

} // namespace archsim
