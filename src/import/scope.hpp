#pragma once
// Which tensor a name means. A scope belongs to a graph under construction; the scope of a subgraph also sees
// the names of the enclosing one, the scope of an inlined function sees nothing but its own.

#include "archsim/graph/graph.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace archsim::import {

/// Makes names unique by numbering repetitions: "x", "x#2", "x#3".
class UniqueNames {
  public:
    /// The name itself when it is new.
    std::string add(std::string name);
    std::size_t repetitions() const { return repetitions_; }

  private:
    std::unordered_map<std::string, int> used_; ///< last number given
    std::size_t repetitions_ = 0;
};

/// A graph with what is needed only while it is built.
struct GraphDraft {
    Graph graph;
    /// Tensors of this graph that subgraphs of a node read: (index of the node, tensor).
    std::vector<std::pair<std::size_t, TensorId>> subgraph_reads;

    UniqueNames tensor_names;
    UniqueNames node_names;

    TensorId add_tensor(std::string name, TensorRole role);
};

class Scope {
  public:
    /// `enclosing` is null for the main graph and for function bodies.
    Scope(GraphDraft& draft, Scope* enclosing) : draft_(draft), enclosing_(enclosing) {}

    GraphDraft& draft() { return draft_; }

    /// Makes the name mean this tensor; false when it already means another one.
    bool bind(std::string_view name, TensorId tensor) { return names_.try_emplace(name, tensor).second; }

    /// The tensor of a name of this very scope; null when it has none.
    const TensorId* find_own(std::string_view name) const;

    /// The tensor of a name, captured from an enclosing scope where need be; null when nothing has that name.
    /// kNoTensor is the meaning of an input that a function call leaves out.
    const TensorId* find(std::string_view name);

  private:
    GraphDraft& draft_;
    Scope* enclosing_;
    std::unordered_map<std::string_view, TensorId> names_; ///< keys live in the ONNX messages
};

} // namespace archsim::import
