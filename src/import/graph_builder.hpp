#pragma once
// Turns the messages of a model into a Graph: names become tensor ids, constants and initialisers become
// tensors with values, calls of model-local functions are replaced by their bodies, subgraphs become
// attributes.

#include "archsim/graph/graph.hpp"
#include "core/spending.hpp"
#include "import/findings.hpp"
#include "import/messages.hpp"
#include "import/scope.hpp"
#include "import/tensor_value.hpp"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace archsim::import {

class GraphBuilder {
  public:
    GraphBuilder(const ModelMessage& model, ExternalData& external, Findings& findings, Spending& spending);

    /// The whole model; its findings stay with the collector.
    Graph build();

  private:
    using Nodes = ArenaList<NodeMessage>;

    /// What the nodes of one list have in common.
    struct Frame {
        Scope& scope;
        const Opsets& opsets;
        std::string prefix;         ///< of names inside a function body, "call/"
        const Node* call = nullptr; ///< the call whose body this is: attributes may refer to its attributes
        const Function* function = nullptr; ///< the function called
        int depth = 0;                      ///< nesting of subgraphs and calls
    };

    void fill(const GraphMessage& proto, Frame& frame);
    void read_initializers(const GraphMessage& proto, Scope& scope);
    void read_inputs(const GraphMessage& proto, Scope& scope);
    void read_outputs(const GraphMessage& proto, Scope& scope);
    void finish(GraphDraft& draft);
    void mark_buffers(Graph& graph);
    /// As nodes meet them, whatever the order in which the file lists the nodes.
    static void number_tensors(Graph& graph);
    /// Says what it costs that callers may replace weights.
    void tell_replaceable(const Graph& graph);

    /// Gives every output of the nodes a tensor, in order; `promised` names already have one.
    std::vector<TensorId> declare_outputs(const Nodes& nodes, Frame& frame,
                                          std::unordered_map<std::string_view, TensorId> promised = {});
    void read_nodes(const Nodes& nodes, const std::vector<TensorId>& outputs, Frame& frame);
    /// Fills in `node`, whose outputs are there, and appends what it stands for.
    void read_node(const NodeMessage& proto, int index, Node& node, Frame& frame);
    void read_attributes(const NodeMessage& proto, Node& node, Frame& frame);
    std::optional<AttributeValue> read_attribute(const AttributeMessage& proto, const Node& node,
                                                 Frame& frame);
    std::optional<AttributeValue> referred_attribute(const AttributeMessage& proto, const Node& node,
                                                     Frame& frame);
    std::shared_ptr<const Graph> read_subgraph(const GraphMessage& proto, const Node& node, Frame& frame);
    bool fold_constant(const Node& node, Frame& frame);
    bool inline_call(const Node& call, const Function& function, Frame& frame);
    /// Finding that keeps the call as an operator when its body cannot take its place.
    bool may_inline(const Node& call, const Function& function, const Frame& frame);
    int opset_of(std::string_view domain, const Frame& frame);

    const ModelMessage& model_;
    Findings& findings_;
    Spending& spending_;
    FunctionLibrary functions_;
    Opsets opsets_;
    TensorReader tensors_;
    std::vector<const Function*> active_; ///< functions being inlined, outermost first
    std::set<std::string, std::less<>> unimported_;
    std::size_t inlined_size_ = 0;
};

} // namespace archsim::import
