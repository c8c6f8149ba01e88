#pragma once
// Turns the messages of a model into a Graph: names become tensor ids, constants and initialisers become
// tensors with values, calls of model-local functions are replaced by their bodies, subgraphs become
// attributes.

#include "core/spending.hpp"
#include "import/tensor_value.hpp"

#include <bit>
#include <functional>
#include <set>

namespace archsim::import {

/// Finds the entry of a list by its name: open addressing over the numbers of the entries, which keep their
/// names themselves. A look-up touches one slot and one name, and adding a name allocates nothing.
class NameIndex {
  public:
    static constexpr std::uint32_t kNone = 0xFFFFFFFFu;

    /// Makes room for this many names.
    void reserve(std::size_t names) {
        if (const std::size_t slots = std::bit_ceil(std::max(names * kSlotsPerName, kFewestSlots));
            slots > slots_.size())
            rehash(slots);
    }

    /// The entry of this name, or kNone. `name_of` gives the name of an entry.
    template <typename NameOf>
    std::uint32_t find(std::string_view name, const NameOf& name_of) const {
        return slots_.empty() ? kNone : slots_[locate(name, hash_of(name), name_of)].entry;
    }

    /// The entry that has this name already, or kNone after giving the name to `entry`.
    template <typename NameOf>
    std::uint32_t add(std::string_view name, std::uint32_t entry, const NameOf& name_of) {
        reserve(used_ + 1);
        const std::uint32_t hash = hash_of(name);
        Slot& slot = slots_[locate(name, hash, name_of)];
        if (slot.entry != kNone)
            return slot.entry;
        slot = {hash, entry};
        ++used_;
        return kNone;
    }

  private:
    struct Slot {
        std::uint32_t hash = 0;
        std::uint32_t entry = kNone;
    };
    static constexpr std::size_t kSlotsPerName = 2;
    static constexpr std::size_t kFewestSlots = 16;

    static std::uint32_t hash_of(std::string_view name) {
        return static_cast<std::uint32_t>(std::hash<std::string_view>{}(name));
    }

    /// Slot of the name, or the free one where it belongs.
    template <typename NameOf>
    std::size_t locate(std::string_view name, std::uint32_t hash, const NameOf& name_of) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = hash & mask;
        while (slots_[at].entry != kNone &&
               (slots_[at].hash != hash || std::string_view(name_of(slots_[at].entry)) != name))
            at = (at + 1) & mask;
        return at;
    }

    void rehash(std::size_t slots) {
        const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots));
        for (const Slot& slot : old) {
            if (slot.entry == kNone)
                continue;
            std::size_t at = slot.hash & (slots - 1);
            while (slots_[at].entry != kNone)
                at = (at + 1) & (slots - 1);
            slots_[at] = slot;
        }
    }

    std::vector<Slot> slots_; ///< a power of two of them, at most half in use
    std::size_t used_ = 0;
};

/// Makes the names of a growing list unique by numbering repetitions: "x", "x#2", "x#3".
class UniqueNames {
  public:
    void reserve(std::size_t names) { index_.reserve(names); }

    /// Numbers the name of the last entry of `list`, which is new, where an earlier entry has it.
    template <typename Named>
    void settle_last(std::vector<Named>& list) {
        const auto name_of = [&list](std::uint32_t entry) -> const std::string& { return list[entry].name; };
        const auto entry = static_cast<std::uint32_t>(list.size() - 1);
        const std::string& name = list.back().name;
        if (index_.add(name, entry, name_of) == NameIndex::kNone)
            return;
        ++repetitions_;
        int& number = last_number_.try_emplace(name, 1).first->second;
        std::string numbered;
        do
            numbered = name + "#" + std::to_string(++number);
        while (index_.find(numbered, name_of) != NameIndex::kNone);
        list.back().name = std::move(numbered);
        index_.add(list.back().name, entry, name_of);
    }
    std::size_t repetitions() const { return repetitions_; }

  private:
    NameIndex index_;
    std::unordered_map<std::string, int> last_number_; ///< of names that were repeated
    std::size_t repetitions_ = 0;
};

/// A graph with what is needed only while it is built.
struct GraphDraft {
    Graph graph;
    /// Tensors of this graph that subgraphs of a node read: (index of the node, tensor).
    std::vector<std::pair<std::size_t, TensorId>> subgraph_reads;

    UniqueNames tensor_names;
    UniqueNames node_names;

    /// Appends a tensor called `prefix` + `name`, numbered where another is called so.
    TensorId add_tensor(std::string_view name, TensorRole role, std::string_view prefix = {});
    /// Appends a node; its name is numbered where another has it.
    void add_node(Node&& node);
    /// Makes room in a draft that is still empty.
    void reserve(std::size_t tensors, std::size_t nodes);
};

/// Which tensor a name means. A scope belongs to a graph under construction; the scope of a subgraph also
/// sees the names of the enclosing one, the scope of an inlined function sees nothing but its own.
class Scope {
  public:
    /// `enclosing` is null for the main graph and for function bodies.
    Scope(GraphDraft& draft, Scope* enclosing) : draft_(draft), enclosing_(enclosing) {}

    GraphDraft& draft() { return draft_; }

    /// Makes room for the names of this scope.
    void reserve(std::size_t names);

    /// Makes the name, which lives in the ONNX messages, mean this tensor; false when it already means
    /// another one.
    bool bind(std::string_view name, TensorId tensor);

    /// The tensor of a name of this very scope.
    std::optional<TensorId> find_own(std::string_view name) const;

    /// The tensor of a name, captured from an enclosing scope where need be. kNoTensor is the meaning of an
    /// input that a function call leaves out.
    std::optional<TensorId> find(std::string_view name);

  private:
    struct Meaning {
        std::string_view name;
        TensorId tensor = kNoTensor;
    };

    GraphDraft& draft_;
    Scope* enclosing_;
    std::vector<Meaning> meanings_;
    NameIndex index_; ///< of the meanings
};

/// (domain, version); the domain "ai.onnx" is written "".
using Opsets = std::vector<std::pair<std::string, int>>;

struct Function {
    const FunctionMessage* body = nullptr;
    Opsets opsets;
};

class FunctionLibrary {
  public:
    FunctionLibrary(const ModelMessage& model, Findings& findings);

    /// The function that a node calls; null when it is an operator.
    const Function* find(const NodeMessage& node) const;

  private:
    std::unordered_map<std::string, Function> functions_;
};

std::string_view normalized_domain(std::string_view domain);
Opsets read_opsets(const ArenaList<Opset>& imports);

class GraphBuilder {
  public:
    GraphBuilder(const ModelMessage& model, ExternalData& external, Findings& findings, Spending& spending);

    /// The whole model; its findings stay with the collector.
    Graph build();

  private:
    using Nodes = ArenaList<NodeMessage>;

    /// The context that the nodes of one list have in common.
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
