#pragma once
// Walks nodes in file order (topological by the ONNX specification) and infers each from its inputs; control flow
// recurses into bodies, so the depth of recursion is the nesting of subgraphs, never the length of a chain.

#include "ops/bind_state.hpp"

namespace archsim {

class Engine {
  public:
    explicit Engine(BindState& state) : state_(state) {}
    void run(const Scope& scope);
    /// Nodes whose inputs' shapes were unknown because of an earlier problem.
    std::size_t skipped() const { return skipped_; }

  private:
    void run_node(const Scope& scope, const Node& node);
    const OperatorRow* lookup(const Node& node);
    Operator make_operator(const Scope& scope, const Node& node, const OperatorRow* row) const;
    void resolve(const Scope& scope, const Node& node, const OperatorRow& row, Operator& op);
    void finish(NodeContext& context);
    bool declare_outputs(const Scope& scope, const Node& node);
    void unknown_operator(const Scope& scope, const Node& node);

    // Control flow (control_flow.cpp).
    bool run_control_flow(const Scope& scope, const Node& node, const OperatorRow& row);
    void run_if(const Scope& scope, const Node& node, const OperatorRow& row);
    void run_loop(const Scope& scope, const Node& node, const OperatorRow& row);
    void run_scan(const Scope& scope, const Node& node, const OperatorRow& row);
    void run_sequence_map(const Scope& scope, const Node& node, const OperatorRow& row);
    Scope open(const Scope& outer, const Graph& body, std::string prefix, double repeat);
    void alias_outputs(const Scope& scope, const Node& node, const std::vector<TensorId>& sources);
    bool too_many_operators(const Node& node);

    BindState& state_;
    std::unordered_map<std::string_view, const OperatorRow*> onnx_rows_; ///< rows of ai.onnx met so far
    std::size_t skipped_ = 0;
};

} // namespace archsim
