// Caches of windowed layers in ONNX files: cut where nothing else reads what they hold, lengths read
// elsewhere.

#include "session/generation/language_model.hpp"

#include <catch2/catch.hpp>

using namespace archsim;

namespace {

TensorId tensor(Graph& graph, const std::string& name, TensorRole role) {
    Tensor& made = graph.tensors.emplace_back();
    made.name = name;
    made.role = role;
    return static_cast<TensorId>(graph.tensors.size() - 1);
}

/// Layers with these windows (0: none), the number of cached positions read off the first one's keys.
Graph decoder(const std::vector<std::int64_t>& windows) {
    Graph graph;
    for (std::size_t layer = 0; layer < windows.size(); ++layer) {
        Node node;
        node.op_type = "GroupQueryAttention";
        node.domain = "com.microsoft";
        node.inputs.assign(3, kNoTensor);
        node.outputs.assign(1, tensor(graph, "out", TensorRole::intermediate));
        for (int kind = 0; kind < 2; ++kind) {
            const TensorId past = tensor(graph, "past", TensorRole::input);
            graph.tensors[past].shape = {{-1, "batch"}, {8, ""}, {-1, "past"}, {64, ""}};
            node.inputs.push_back(past);
            node.outputs.push_back(tensor(graph, "present", TensorRole::intermediate));
        }
        if (windows[layer] > 0)
            node.attributes.emplace_back("local_window_size", windows[layer]);
        graph.nodes.push_back(std::move(node));
    }
    Node shape;
    shape.op_type = "Shape";
    shape.inputs = {graph.nodes.front().inputs[3]};
    shape.outputs = {tensor(graph, "lengths", TensorRole::intermediate)};
    graph.nodes.push_back(std::move(shape));
    return graph;
}

std::string length(const Graph& graph, std::size_t layer, std::size_t kind = 0) {
    return (*graph.tensors[graph.nodes[layer].inputs[3 + kind]].shape)[2].symbol;
}

} // namespace

TEST_CASE("caches of windowed layers are cut, others are not, and lengths are read off the others",
          "[windows]") {
    const Graph mixed = decoder({1024, 0, 512});
    const auto cut = with_kept_windows(mixed);
    REQUIRE(cut);
    CHECK(length(*cut, 0) == "min(past, 1024)");
    CHECK(length(*cut, 0, 1) == "min(past, 1024)");
    CHECK(length(*cut, 1) == "past");
    CHECK(length(*cut, 2) == "min(past, 512)");
    CHECK(cut->nodes.back().inputs.front() == mixed.nodes[1].inputs[3]);
    // With windows alone nobody counts further than a window.
    const auto windows = with_kept_windows(decoder({1024, 1024}));
    REQUIRE(windows);
    CHECK(length(*windows, 0) == "min(past, 1024)");
    CHECK(windows->nodes.back().inputs.front() == windows->nodes[0].inputs[3]);
    CHECK_FALSE(with_kept_windows(decoder({0, 0})));
    CHECK_FALSE(with_kept_windows(*cut)); // once is enough
}

TEST_CASE("a cache whose content something else reads stays whole", "[windows]") {
    Graph graph = decoder({1024, 1024, 0});
    Node reader;
    reader.op_type = "ReduceMean";
    reader.inputs = {graph.nodes[1].outputs[1]};
    graph.nodes.push_back(reader);
    const auto cut = with_kept_windows(graph);
    REQUIRE(cut);
    CHECK(length(*cut, 0) == "min(past, 1024)");
    CHECK(length(*cut, 1) == "past");
}

TEST_CASE("lengths of caches in words", "[windows]") {
    CHECK(parse_cache_length("past_sequence").positions == "past_sequence");
    CHECK(parse_cache_length("past_sequence").window == 0);
    const CacheLength kept = parse_cache_length("min(past_sequence, 4096)");
    CHECK(kept.positions == "past_sequence");
    CHECK(kept.window == 4096);
}
