#include "checkpoint/graph_maker.hpp"

#include "core/lists.hpp"

namespace archsim::checkpoint {

// SimplifiedLayerNormalization and RotaryEmbedding belong to ONNX Runtime's opsets; 21 is the newest of
// ai.onnx that its model builder writes.
constexpr int kOpset = 21;
constexpr double kEpsilon = 1e-5; // no cost depends on it

static std::string dotted(std::string path) {
    std::ranges::replace(path, '/', '.');
    return path;
}

GraphMaker::GraphMaker(const Decoder& decoder) : decoder_(decoder) {
    graph_.name = decoder.name;
    graph_.opset_imports = {{"", kOpset}, {std::string(kMicrosoft), 1}, {std::string(kOwnDomain), 1}};
    graph_.findings = decoder.findings;
}

TensorId GraphMaker::tensor(std::string name, TensorRole role, DataType type) {
    Tensor& t = graph_.tensors.emplace_back();
    t.name = std::move(name);
    t.role = role;
    t.type = type;
    return static_cast<TensorId>(graph_.tensors.size() - 1);
}

std::string GraphMaker::unique(std::string name) {
    if (const int count = used_[name]++; count > 0)
        name += "_" + std::to_string(count);
    return name;
}

std::vector<TensorId> GraphMaker::nodes(std::string_view op, const std::string& path,
                                        std::vector<TensorId> inputs, const std::vector<std::string>& outputs,
                                        Attributes attributes, std::string_view domain) {
    Node n{.name = unique("/" + path + "/" + std::string(op)),
           .op_type = std::string(op),
           .domain = std::string(domain),
           .opset = domain.empty() ? kOpset : 1,
           .inputs = std::move(inputs),
           .attributes = std::move(attributes)};
    std::vector<TensorId> ids;
    for (const std::string& name : outputs)
        ids.push_back(name.empty() ? kNoTensor : tensor(name, TensorRole::intermediate, DataType::undefined));
    n.outputs = ids;
    graph_.nodes.push_back(std::move(n));
    return ids;
}

TensorId GraphMaker::node(std::string_view op, const std::string& path, std::vector<TensorId> inputs,
                          Attributes attributes, std::string_view domain) {
    const std::string name = "/" + path + "/" + std::string(op);
    const auto known = used_.find(name);
    const int count = known == used_.end() ? 0 : known->second;
    return nodes(op, path, std::move(inputs),
                 {name + (count > 0 ? "_" + std::to_string(count) : "") + "_output_0"}, std::move(attributes),
                 domain)
        .front();
}

std::vector<TensorId> GraphMaker::parts(const std::string& path, TensorId x, std::vector<std::int64_t> sizes,
                                        std::initializer_list<const char*> names, const std::string& own) {
    const auto full = mapped(names, [&](const char* name) { return "/" + path + "/" + name; });
    return nodes("Split", path + own, {x, ints(std::move(sizes))}, full, {{"axis", std::int64_t{-1}}});
}

TensorId GraphMaker::weight(const std::string& path, std::string_view leaf, Shape shape, bool matrix) {
    const std::string module = dotted(path);
    if (const auto known = weights_.find(module + "." + std::string(leaf)); known != weights_.end())
        return known->second;
    const TensorId id = tensor(leaf.empty() ? module : module + "." + std::string(leaf),
                               TensorRole::initializer, decoder_.type);
    Tensor& t = graph_.tensors[id];
    t.shape.emplace(shape.size());
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
        (*t.shape)[axis].value = shape[axis];
    if (matrix) {
        WeightScheme scheme = decoder_.formats.of(module);
        if (scheme.bits > 0 && scheme.bits_of_matrix > 0)
            scheme.bits += scheme.bits_of_matrix / elements(t);
        // Weights that a narrow scheme leaves out lie as the checkpoint's type says, whatever is asked for
        // the rest.
        const bool wide = scheme.bits <= 0 && (decoder_.weights || decoder_.stored_scale != 1);
        store(id, (wide ? bits_of(decoder_.type) : scheme.bits) * decoder_.stored_scale);
        if (decoder_.products && decoder_.formats.mixed() && scheme.bits > 0 && !scheme.products)
            alone_.insert(id);
    }
    if (decoder_.passes > 1)
        weights_.emplace(module + "." + std::string(leaf), id);
    return id;
}

TensorId GraphMaker::buffer(const std::string& name, Shape shape) {
    const TensorId id = weight(name, "", std::move(shape));
    graph_.tensors[id].buffer = true;
    return id;
}

void GraphMaker::store(TensorId id, double bits) {
    if (bits <= 0)
        return;
    stored_.push_back(id);
    stored_bits_.push_back(bits);
}

void GraphMaker::keep(const ResidentWeight& w) {
    stored_.push_back(weight(w.name, "", w.shape));
    stored_bits_.push_back(w.bits);
}

Graph GraphMaker::take() {
    if (!stored_.empty() || decoder_.cache) {
        Attributes how{{"bits", std::move(stored_bits_)}};
        if (!alone_.empty()) {
            std::vector<std::int64_t> alone =
                mapped(stored_, [&](const TensorId id) -> std::int64_t { return alone_.count(id) > 0; });
            how.emplace_back("weight_only", std::move(alone));
        }
        if (decoder_.cache)
            how.emplace_back("cache", std::string(name_of(*decoder_.cache)));
        if (decoder_.weights)
            how.emplace_back("format", std::string(name_of(*decoder_.weights)));
        if (decoder_.products)
            how.emplace_back("products", std::string(name_of(*decoder_.products)));
        nodes("Stored", "storage", std::move(stored_), {}, std::move(how), kOwnDomain);
    }
    return std::move(graph_);
}

TensorId GraphMaker::input(const std::string& name, DataType type, std::vector<Axis> shape,
                           double storage_bits) {
    const TensorId id = tensor(name, TensorRole::input, type);
    graph_.tensors[id].shape.emplace(shape.begin(), shape.end());
    store(id, storage_bits);
    graph_.inputs.push_back(id);
    return id;
}

void GraphMaker::output(TensorId tensor, std::vector<Axis> shape) {
    graph_.tensors[tensor].shape.emplace(shape.begin(), shape.end());
    graph_.outputs.push_back(tensor);
}

std::string GraphMaker::numbered(std::string_view name, std::size_t layer) const {
    std::string text(name);
    return text.replace(text.find('#'), 1, std::to_string(first_cache_ + layer));
}

TensorId GraphMaker::past(std::string_view kind, std::size_t layer, std::vector<Axis> shape,
                          double storage_bits) {
    return decoder_.generates ? input(numbered(kind, layer), type(), std::move(shape), storage_bits)
                              : kNoTensor;
}

void GraphMaker::present(TensorId tensor, std::vector<Axis> shape) {
    if (decoder_.generates)
        output(tensor, std::move(shape));
}

TensorId GraphMaker::ints(std::vector<std::int64_t> values) {
    if (const auto known = constants_.find(values); known != constants_.end())
        return known->second;
    Constant c{.type = DataType::int64, .shape = {static_cast<std::int64_t>(values.size())}, .ints = values};
    const TensorId id =
        tensor("constant_" + std::to_string(constants_.size()), TensorRole::initializer, DataType::int64);
    graph_.tensors[id].shape.emplace(1);
    graph_.tensors[id].shape->front().value = c.shape.front();
    graph_.tensors[id].value = std::make_shared<const Constant>(std::move(c));
    constants_.emplace(std::move(values), id);
    return id;
}

TensorId GraphMaker::linear(const std::string& path, TensorId x, std::int64_t n_in, std::int64_t n_out,
                            bool bias) {
    const TensorId w = weight(path, "weight", {n_in, n_out}, true);
    const TensorId y = node("MatMul", path, {x, w});
    return bias ? node("Add", path, {weight(path, "bias", {n_out}), y}) : y;
}

TensorId GraphMaker::grouped_linear(const std::string& path, TensorId x, std::int64_t groups,
                                    std::int64_t n_in, std::int64_t n_out) {
    const auto swapped = [&](TensorId y) {
        return node("Transpose", path, {y}, {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
    };
    x = swapped(node("Reshape", path, {x, ints({0, 0, groups, n_in / groups})}));
    x = swapped(
        node("MatMul", path, {x, weight(path, "weight", {groups, n_in / groups, n_out / groups}, true)}));
    return node("Reshape", path, {x, ints({0, 0, n_out})});
}

TensorId GraphMaker::rms_norm(const std::string& path, TensorId x, std::int64_t width) {
    return node("SimplifiedLayerNormalization", path, {x, weight(path, "weight", {width})},
                {{"axis", std::int64_t{-1}}, {"epsilon", kEpsilon}, {"stash_type", std::int64_t{1}}});
}

TensorId GraphMaker::norm(const std::string& path, TensorId x) {
    if (!decoder_.layer_norm)
        return rms_norm(path, x, hidden());
    return node("LayerNormalization", path,
                {x, weight(path, "weight", {hidden()}), weight(path, "bias", {hidden()})},
                {{"axis", std::int64_t{-1}}, {"epsilon", kEpsilon}, {"stash_type", std::int64_t{1}}});
}

TensorId GraphMaker::activate(const std::string& path, std::string_view activation, TensorId x) {
    if (activation == "silu" || activation == "swish" || activation == "swiglu")
        return node("Mul", path, {x, node("Sigmoid", path, {x})});
    if (activation == "relu2" || activation == "sqrelu") {
        const TensorId y = node("Relu", path, {x});
        return node("Mul", path, {y, y});
    }
    if (activation == "relu")
        return node("Relu", path, {x});
    return node("Gelu", path, {x}, {}, kMicrosoft);
}

std::pair<TensorId, TensorId> GraphMaker::add_and_norm(const std::string& path, TensorId x, TensorId residual,
                                                       bool keep_sum) {
    const std::string op =
        decoder_.layer_norm ? "SkipLayerNormalization" : "SkipSimplifiedLayerNormalization";
    const std::string out = "/" + path + "/" + op + "_output_";
    std::vector<TensorId> inputs{x, residual, weight(path, "weight", {hidden()})};
    if (decoder_.layer_norm)
        inputs.push_back(weight(path, "bias", {hidden()}));
    const auto ids = nodes(op, path, std::move(inputs),
                           keep_sum ? std::vector<std::string>{out + "0", "", "", out + "3"}
                                    : std::vector<std::string>{out + "0"},
                           {{"epsilon", kEpsilon}}, kMicrosoft);
    return {ids.front(), keep_sum ? ids.back() : kNoTensor};
}

TensorId GraphMaker::kept(std::int64_t layer, std::string_view kind) const {
    const std::string name = numbered("present.#.", static_cast<std::size_t>(layer)) + std::string(kind);
    for (const TensorId id : graph_.outputs)
        if (graph_.tensors[id].name == name)
            return id;
    return kNoTensor;
}

std::string kept_positions(const std::string& positions, std::int64_t window) {
    return window > 0 ? "min(" + positions + ", " + std::to_string(window) + ")" : positions;
}

} // namespace archsim::checkpoint
