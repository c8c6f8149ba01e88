#pragma once
// The state of binding while it walks the graph; the public NodeContext is a view of it.

#include "archsim/extend/operator.hpp"
#include "core/lists.hpp"
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
        return mapped(locals, [this](TensorId local) { return bound(local); });
    }
    /// The i-th of a node's inputs or outputs; kNoTensor where it names fewer.
    TensorId bound(const TensorList& locals, std::size_t i) const {
        return i < locals.size() ? bound(locals[i]) : kNoTensor;
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

// Walks nodes in file order (topological by the ONNX specification) and infers each from its inputs; control
// flow recurses into bodies, so the depth of recursion is the nesting of subgraphs, never the length of a
// chain.

class BindEngine {
  public:
    explicit BindEngine(BindState& state) : state_(state) {}
    void run(const BindScope& scope);
    /// Nodes whose inputs' shapes were unknown because of an earlier problem.
    std::size_t skipped() const { return skipped_; }

    // For control flow (control_flow.cpp, loops.cpp).

    BindState& state() { return state_; }
    ShapedGraph& graph() { return state_.graph; }
    const ShapedGraph& graph() const { return state_.graph; }
    /// A scope for a body: new tensors for its own names, the outer ones for captured names.
    BindScope open(const BindScope& outer, const Graph& body, std::string prefix, double repeat);
    /// Appends the operator of a node, without its work.
    Operator& add_operator(const BindScope& scope, const Node& node, const OperatorRow* row);
    /// Adds an operator that costs nothing and stands for entering or leaving a body.
    void link(const BindScope& scope, const Node& node, std::vector<TensorId> inputs,
              std::vector<TensorId> outputs);
    /// Copies what is known of one tensor to another; the value only on request.
    void copy(TensorId from, TensorId to, bool with_value);
    /// Whether a loop may appear iteration by iteration, as so many nodes; those of all loops count together.
    bool may_unroll(double nodes);
    /// Forgets operators and tensors added since a mark, for a second try at a body.
    struct Mark {
        std::size_t operators = 0, tensors = 0;
    };
    Mark mark() const { return {state_.graph.operators.size(), state_.graph.tensors.size()}; }
    void rewind(const Mark& mark);
    void drop_operators(std::size_t first, std::size_t last);
    /// Shapes of the outputs as the file declares them; false when that does not resolve them all.
    bool declare_outputs(const BindScope& scope, const Node& node);
    void note_skipped() { ++skipped_; }

  private:
    void run_node(const BindScope& scope, const Node& node);
    const OperatorRow* lookup(const Node& node);
    void resolve(const BindScope& scope, const Node& node, const OperatorRow& row, Operator& op);
    /// Whether the node names what its row needs; otherwise reports it and leaves the operator out.
    bool has_operands(const Node& node, const OperatorRow& row, Operator& op);
    void finish(NodeContext& context);
    void add_attribute_weights(NodeContext& context);
    void unknown_operator(const BindScope& scope, const Node& node);
    /// Results without a declared shape become like the first input, at one operation per element: what
    /// --allow-unknown accepts.
    void preserve_shape(Operator& op);

    BindState& state_;
    std::unordered_map<std::string_view, const OperatorRow*> onnx_rows_; ///< rows of ai.onnx met so far
    /// Bound tensors of the initializers of bodies opened before: a body that appears again has the same
    /// weights.
    std::unordered_map<const Graph*, std::vector<TensorId>> constants_;
    std::size_t skipped_ = 0;
    double unrolled_ = 0; ///< nodes
};

/// Runs If, Loop, Scan, SequenceMap and the searches of ONNX Runtime; false for any other row.
bool run_control_flow(BindEngine& engine, const BindScope& scope, const Node& node, const OperatorRow& row);

// One function per operator; they throw NodeProblem.
void run_loop(BindEngine& engine, const BindScope& scope, const Node& node);
void run_scan(BindEngine& engine, const BindScope& scope, const Node& node);
void run_sequence_map(BindEngine& engine, const BindScope& scope, const Node& node);
void run_search(BindEngine& engine, const BindScope& scope, const Node& node);

/// Prefix of the names in a body, numbered where each iteration appears by itself.
std::string body_prefix(const BindScope& scope, const Node& node, std::int64_t iteration = -1);

/// A subgraph attribute; throws NodeProblem when it is missing.
const Graph& body_of(const Node& node, std::string_view key);

} // namespace archsim
