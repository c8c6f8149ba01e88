#pragma once
// What binding keeps while it walks the graph; the public NodeContext is a view of it.

#include "archsim/extend/operator.hpp"
#include "core/spending.hpp"

#include <deque>
#include <memory>
#include <unordered_map>
#include <unordered_set>

namespace archsim {

/// Largest element count that a double and every later product still hold exactly.
inline constexpr double kMaxElements = 9007199254740992.0; // 2^53

/// One graph or subgraph while its nodes are walked.
struct BindScope {
    const Graph* graph = nullptr;
    const BindScope* parent = nullptr;
    std::vector<TensorId> ids; ///< local tensor -> bound tensor; empty: the same number
    std::string prefix;        ///< of the names of operators and tensors
    double repeat = 1;
    int depth = 0;
    double copies = 1; ///< times that unrolled loops around it walk it
    mutable std::unordered_map<std::string_view, TensorId> names; ///< built when a subgraph asks

    TensorId bound(TensorId local) const {
        if (local == kNoTensor || ids.empty())
            return local;
        return local < ids.size() ? ids[local] : kNoTensor;
    }
    std::vector<TensorId> bound(const TensorList& locals) const {
        std::vector<TensorId> all;
        for (const TensorId local : locals)
            all.push_back(bound(local));
        return all;
    }
};

/// A size that nobody gave.
struct OpenSize {
    std::string name;
    std::vector<std::int64_t> usual; ///< what such a size often is, likeliest first; never empty
    std::size_t finding = 0;         ///< that asks for it
};

struct BindState {
    BindState(const Bindings& b, const std::map<std::string, std::int64_t>& d, const OperatorRegistry& r,
              Spending budget)
        : bindings(b), defaults(d), registry(r), spending(std::move(budget)) {}

    ShapedGraph graph;
    std::vector<const Constant*> values; ///< parallel to graph.tensors
    std::unordered_map<TensorId, std::shared_ptr<const SequenceElements>> sequences;
    std::deque<Constant> arena; ///< owns the values computed while binding
    const Bindings& bindings;
    const std::map<std::string, std::int64_t>& defaults;
    const OperatorRegistry& registry;
    Spending spending;
    const BindScope* scope = nullptr; ///< of the node at hand
    std::unordered_set<std::string> reported;
    std::vector<OpenSize> open_sizes;
    std::string batch_name; ///< symbol that bindings.batch_size is the size of
    std::optional<std::pair<std::int64_t, std::int64_t>> rebatch; ///< batch fixed in the file -> wanted

    TensorId add_tensor(ShapedTensor tensor) {
        spending.keep(static_cast<double>(sizeof(ShapedTensor) + tensor.name.size()));
        graph.tensors.push_back(std::move(tensor));
        values.push_back(nullptr);
        return static_cast<TensorId>(graph.tensors.size() - 1);
    }
    /// Size that the user or the defaults give a symbol.
    std::optional<std::int64_t> symbol(const std::string& name);
    /// Size of a symbol that is arithmetic over others.
    std::optional<std::int64_t> computed_symbol(const std::string& name);
    /// Size that the user gives by this name, a symbol or the name of a node; it counts as used from then on.
    std::optional<std::int64_t> given_dim(const std::string& name);
    /// Adds a finding once per place and kind.
    void report(Finding finding);
    void report(const Node& node, FindingKind kind, Severity severity, std::string message, std::string hint);
};

/// Attaches the value that the user gave for this tensor, if there is one that fits its shape.
bool attach_given_value(BindState& state, TensorId id);

/// Says what is wrong with a shape, or nothing.
std::optional<NodeProblem> shape_problem(const Shape& shape);
/// Throws it.
void require_shape(const Shape& shape);

} // namespace archsim
