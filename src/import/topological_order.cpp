#include "import/topological_order.hpp"

#include <map>

namespace archsim::import {

constexpr std::size_t kNoNode = static_cast<std::size_t>(-1);

class DepthFirst {
  public:
    DepthFirst(const Graph& graph, const std::vector<std::pair<std::size_t, TensorId>>& subgraph_reads)
        : graph_(graph), producer_(graph.tensors.size(), kNoNode), state_(graph.nodes.size(), State::unseen) {
        for (std::size_t node = 0; node < graph.nodes.size(); ++node)
            for (const TensorId output : graph.nodes[node].outputs)
                if (output != kNoTensor)
                    producer_[output] = node;
        for (const auto& [node, tensor] : subgraph_reads)
            if (node < graph.nodes.size())
                bodies_[node].push_back(tensor);
        for (auto& [node, reads] : bodies_) // whose nodes are in any order, too
            std::ranges::sort(reads, [&](TensorId a, TensorId b) { return name(a) < name(b); });
    }

    NodeOrder run() {
        order_.nodes.reserve(graph_.nodes.size());
        for (const TensorId output : graph_.outputs)
            if (output != kNoTensor && producer_[output] != kNoNode)
                visit(producer_[output]);
        if (order_.nodes.size() + order_.cyclic.size() < graph_.nodes.size())
            visit_dead_ends();
        return std::move(order_);
    }

  private:
    enum class State : std::uint8_t { unseen, open, done, cyclic };
    struct Open {
        std::size_t node, next = 0; ///< the next of its reads
    };

    const std::string& name(TensorId tensor) const { return graph_.tensors[tensor].name; }

    /// The tensor that a node reads next; false at the end.
    bool read(Open& at, TensorId& tensor) const {
        const TensorList& inputs = graph_.nodes[at.node].inputs;
        if (at.next < inputs.size()) {
            tensor = inputs[at.next++];
            return true;
        }
        const auto body = bodies_.empty() ? bodies_.end() : bodies_.find(at.node);
        if (body == bodies_.end() || at.next - inputs.size() >= body->second.size())
            return false;
        tensor = body->second[at.next++ - inputs.size()];
        return true;
    }

    void visit(std::size_t root) {
        if (state_[root] != State::unseen)
            return;
        begin(root);
        while (!open_.empty()) {
            TensorId tensor = kNoTensor;
            const std::size_t node = open_.back().node;
            if (!read(open_.back(), tensor)) {
                (waits_[node] ? order_.cyclic : order_.nodes).push_back(node);
                state_[node] = waits_[node] ? State::cyclic : State::done;
                open_.pop_back();
                if (!open_.empty() && waits_[node])
                    waits_[open_.back().node] = true;
                continue;
            }
            const std::size_t from = tensor == kNoTensor ? kNoNode : producer_[tensor];
            if (from == kNoNode)
                continue;
            if (state_[from] == State::unseen)
                begin(from);
            else if (state_[from] != State::done) // itself, or what waits for itself
                waits_[node] = true;
        }
    }

    void begin(std::size_t node) {
        state_[node] = State::open;
        open_.push_back({node});
    }

    /// Visits what no output needs, by the names of what it makes.
    void visit_dead_ends() {
        std::vector<std::pair<std::string, std::size_t>> left;
        std::vector<bool> is_read(graph_.nodes.size(), false);
        for (const Node& node : graph_.nodes)
            for (const TensorId input : node.inputs)
                if (input != kNoTensor && producer_[input] != kNoNode)
                    is_read[producer_[input]] = true;
        for (std::size_t node = 0; node < graph_.nodes.size(); ++node)
            if (state_[node] == State::unseen) {
                const TensorList& made = graph_.nodes[node].outputs;
                left.emplace_back(
                    made.empty() || made.front() == kNoTensor ? std::string() : name(made.front()), node);
            }
        std::ranges::sort(left);
        for (const bool read : {false, true}) // those in a cycle are read by others of it
            for (const auto& [made, node] : left)
                if (is_read[node] == read)
                    visit(node);
    }

    const Graph& graph_;
    std::vector<std::size_t> producer_;
    std::map<std::size_t, TensorList> bodies_; ///< what the subgraphs of a node read
    std::vector<State> state_;
    std::vector<bool> waits_ = std::vector<bool>(state_.size(), false); ///< for itself, as far as is known
    std::vector<Open> open_;
    NodeOrder order_;
};

NodeOrder topological_order(const Graph& graph,
                            const std::vector<std::pair<std::size_t, TensorId>>& subgraph_reads) {
    return DepthFirst(graph, subgraph_reads).run();
}

} // namespace archsim::import
