#include "import/topological_order.hpp"

#include <functional>
#include <numeric>
#include <queue>

namespace archsim::import {

namespace {

constexpr std::size_t kNoNode = static_cast<std::size_t>(-1);

} // namespace

NodeOrder topological_order(const Graph& graph,
                            const std::vector<std::pair<std::size_t, TensorId>>& subgraph_reads) {
    const std::size_t count = graph.nodes.size();
    std::vector<std::size_t> producer(graph.tensors.size(), kNoNode);
    for (std::size_t node = 0; node < count; ++node)
        for (const TensorId output : graph.nodes[node].outputs)
            if (output != kNoTensor)
                producer[output] = node;

    const auto for_each_edge = [&](auto visit) { // producer, consumer
        const auto read = [&](TensorId tensor, std::size_t consumer) {
            if (tensor != kNoTensor && producer[tensor] != kNoNode)
                visit(producer[tensor], consumer);
        };
        for (std::size_t node = 0; node < count; ++node)
            for (const TensorId input : graph.nodes[node].inputs)
                read(input, node);
        for (const auto& [node, tensor] : subgraph_reads)
            if (node < count)
                read(tensor, node);
    };
    NodeOrder order;
    bool in_order = true; // as the ONNX specification asks
    for_each_edge([&](std::size_t from, std::size_t to) { in_order &= from < to; });
    if (in_order) {
        order.nodes.resize(count);
        std::iota(order.nodes.begin(), order.nodes.end(), std::size_t{0});
        return order;
    }
    std::vector<std::pair<std::size_t, std::size_t>> edges;
    for_each_edge([&](std::size_t from, std::size_t to) { edges.emplace_back(from, to); });

    // Kahn's algorithm over edges grouped by producer.
    std::vector<std::size_t> waits_for(count, 0);
    std::vector<std::size_t> first(count + 1, 0);
    for (const auto& [from, to] : edges) {
        ++waits_for[to];
        ++first[from + 1];
    }
    for (std::size_t node = 0; node < count; ++node)
        first[node + 1] += first[node];
    std::vector<std::size_t> consumers(edges.size());
    std::vector<std::size_t> next(first.begin(), first.end() - 1);
    for (const auto& [from, to] : edges)
        consumers[next[from]++] = to;

    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
    for (std::size_t node = 0; node < count; ++node)
        if (waits_for[node] == 0)
            ready.push(node);
    order.nodes.reserve(count);
    while (!ready.empty()) {
        const std::size_t node = ready.top();
        ready.pop();
        order.nodes.push_back(node);
        for (std::size_t edge = first[node]; edge < first[node + 1]; ++edge)
            if (--waits_for[consumers[edge]] == 0)
                ready.push(consumers[edge]);
    }
    if (order.nodes.size() < count)
        for (std::size_t node = 0; node < count; ++node)
            if (waits_for[node] > 0)
                order.cyclic.push_back(node);
    return order;
}

} // namespace archsim::import
