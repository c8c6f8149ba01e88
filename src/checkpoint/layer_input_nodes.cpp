// What layers are given beside the residual stream: rows of a second table (Gemma 3n and 4), a narrow path
// beside attention and parallel streams (Gemma 3n; transformers, models/gemma3n/modeling_gemma3n.py).

#include "checkpoint/graph_maker.hpp"

namespace archsim::checkpoint {

LayerRows add_layer_rows(GraphMaker& g, TensorId ids, TensorId rows) {
    const LayerInputs& in = g.decoder().layer_inputs;
    const auto layers = static_cast<std::int64_t>(g.decoder().layers.size());
    if (in.width == 0 || layers == 0)
        return {};
    const std::string path = "model/embed_tokens_per_layer";
    const TensorId table = g.weight(path, "weight", {in.vocabulary, layers * in.width}, true);
    const TensorId own = g.node("Gather", path, {table, ids}, {{"axis", std::int64_t{0}}});
    const std::string projection = "model/per_layer_model_projection";
    TensorId shared = g.linear(projection, rows, g.hidden(), layers * in.width, false);
    shared = g.node("Reshape", projection, {shared, g.ints({0, 0, layers, in.width})});
    shared = g.rms_norm("model/per_layer_projection_norm", shared, in.width);
    shared = g.node("Reshape", projection, {shared, g.ints({0, 0, layers * in.width})});
    const TensorId sum = g.node("Add", projection, {shared, own});
    std::vector<std::string> names;
    for (std::int64_t i = 0; i < layers; ++i)
        names.push_back("/model/per_layer_inputs/" + std::to_string(i));
    return g.nodes("Split", "model/per_layer_inputs",
                   {sum, g.ints(std::vector<std::int64_t>(static_cast<std::size_t>(layers), in.width))},
                   names, {{"axis", std::int64_t{-1}}});
}

TensorId add_layer_input(GraphMaker& g, const std::string& path, TensorId x, TensorId row) {
    const std::int64_t width = g.decoder().layer_inputs.width;
    const std::string gate = path + "/per_layer_input_gate";
    const TensorId y = g.activate(gate, "gelu", g.linear(gate, x, g.hidden(), width, false));
    return g.linear(path + "/per_layer_projection", g.node("Mul", gate, {y, row}), width, g.hidden(), false);
}

TensorId add_narrow_path(GraphMaker& g, const std::string& path, TensorId x) {
    const std::int64_t rank = g.decoder().layer_inputs.rank;
    x = g.linear(path + "/linear_left", x, g.hidden(), rank, false);
    return g.linear(path + "/linear_right", x, rank, g.hidden(), false);
}

TensorId add_streams(GraphMaker& g, const std::string& path, TensorId x) {
    // The streams between these products are a few sums per element and are not counted.
    TensorId sum = x;
    for (std::int64_t i = 1; i < g.decoder().layer_inputs.streams; ++i) {
        const std::string own = path + "." + std::to_string(i - 1);
        sum = g.node("Add", own, {g.linear(own, x, g.hidden(), g.hidden(), false), sum});
    }
    return sum;
}

} // namespace archsim::checkpoint
