#include "import/tflite.hpp"

#include <fmt/format.h>
#include <set>

namespace archsim::import {

// The opset of the newest exporters; Resize by axes needs 18.
constexpr int kTfliteOpset = 21;
constexpr std::string_view kTfliteDomain = "tflite";
constexpr std::size_t kImageRank = 4;

static std::size_t index_of(AxisOrder order) {
    return static_cast<std::size_t>(order);
}

/// N, H, W, C as N, C, H, W; shapes of lower rank stand at the end.
static Shape channels_first(Shape shape) {
    shape.insert(shape.begin(), kImageRank - shape.size(), 1);
    std::rotate(shape.begin() + 1, shape.end() - 1, shape.end());
    return shape;
}

static std::vector<Dimension> dimensions(const Shape& shape, const Shape& signature,
                                         const std::string& name) {
    std::vector<Dimension> out(shape.size());
    for (std::size_t i = 0; i < shape.size(); ++i)
        if (i < signature.size() && signature[i] < 0)
            out[i].symbol = i == 0 ? "batch" : fmt::format("{}_{}", name, i);
        else
            out[i].value = shape[i];
    return out;
}

TfliteGraph::TfliteGraph(TfliteBodies& bodies, const TfliteSubgraph& model)
    : bodies_(bodies), model_(model), buffer_(bodies.buffer()), forms_(model.tensors.size()),
      source_(model.tensors.size(), -1), is_input_(model.tensors.size(), false),
      integers_(model, bodies.buffer()) {
    graph_.name = model.name;
    graph_.opset_imports = {{"", kTfliteOpset}, {std::string(kTfliteDomain), 1}};
    for (const std::int64_t i : model.inputs)
        is_input_[static_cast<std::size_t>(i)] = true;
}

TensorId TfliteGraph::make(std::string name, TensorRole role, DataType type) {
    Tensor& t = graph_.tensors.emplace_back();
    t.name = std::move(name);
    t.role = role;
    t.type = type;
    return static_cast<TensorId>(graph_.tensors.size() - 1);
}

/// An input or a constant of the file.
TensorId TfliteGraph::declared(std::int64_t index, AxisOrder order) {
    const TfliteTensor& t = tensor(index);
    const bool input = is_input_[static_cast<std::size_t>(index)];
    if (!input && !t.constant() && !t.variable)
        throw FlatError(fmt::format("\"{}\" is read before anything has written it", t.name));
    const bool first = order == AxisOrder::channels_first;
    std::string name = t.name.empty() ? fmt::format("tensor_{}", index) : t.name;
    Shape shape = t.shape, signature = t.signature;
    if (first) {
        signature = signature.empty() ? Shape{} : channels_first(signature);
        shape = channels_first(shape);
    }
    const TensorId id = make(first && !input ? name + "/channels_first" : name,
                             input ? TensorRole::input : TensorRole::initializer, t.type);
    graph_.tensors[id].shape = dimensions(shape, input ? signature : Shape{}, name);
    graph_.tensors[id].buffer = t.variable;
    if (input)
        graph_.inputs.push_back(id);
    else if (const auto values = integers(index); values && !first) {
        Constant c;
        c.type = t.type;
        c.shape = t.shape;
        c.ints = *values;
        graph_.tensors[id].value = std::make_shared<const Constant>(std::move(c));
    }
    return id;
}

TensorId TfliteGraph::scaled(std::string_view op, TensorId x, const TfliteTensor& t) {
    const auto operand = [&](std::string_view name, DataType type) {
        const TensorId id = make(fmt::format("{}/{}", t.name, name), TensorRole::initializer, type);
        graph_.tensors[id].shape.emplace();
        graph_.tensors[id].buffer = true;
        if (t.scales > 1)
            graph_.tensors[id].shape->push_back({static_cast<std::int64_t>(t.scales), {}});
        return id;
    };
    const TensorId scale = operand("scale", DataType::float32);
    return emit(op, {x, scale, operand("zero_point", t.type)});
}

TensorId TfliteGraph::dequantized(std::int64_t index, TensorId stored) {
    return tensor(index).quantized() ? scaled("DequantizeLinear", stored, tensor(index)) : stored;
}

/// The same bytes with their axes named in another order.
TensorId TfliteGraph::reordered(std::int64_t index, TensorId from, AxisOrder to) {
    const TfliteTensor& t = tensor(index);
    const bool first = to == AxisOrder::channels_first;
    const auto open = std::ranges::count_if(t.signature, [](auto n) { return n < 0; });
    if (open > (!t.signature.empty() && t.signature.front() < 0 ? 1 : 0)) // sizes that only a run knows
        return emit("Transpose", {from},
                    {{"perm", first ? std::vector<std::int64_t>{0, 3, 1, 2}
                                    : std::vector<std::int64_t>{0, 2, 3, 1}}});
    Shape shape = first ? channels_first(t.shape) : t.shape;
    if (!shape.empty())
        shape.front() = 0; // as it is
    return emit("Reshape", {from, ints(std::move(shape))});
}

TensorId TfliteGraph::get(std::int64_t index, AxisOrder order) {
    const TfliteTensor& t = tensor(index);
    Forms& forms = forms_[static_cast<std::size_t>(index)];
    if (order == AxisOrder::channels_first && t.shape.size() > kImageRank)
        throw FlatError(fmt::format("\"{}\" has too many axes for an image", t.name));
    const std::size_t wanted = index_of(order), other = 1 - wanted;
    if (forms.plain[wanted] != kNoTensor)
        return forms.plain[wanted];
    if (forms.stored[wanted] != kNoTensor) // written quantised
        return forms.plain[wanted] = dequantized(index, forms.stored[wanted]);
    if (forms.stored[other] != kNoTensor || forms.plain[other] != kNoTensor) {
        if (t.constant()) {
            const TensorId id = declared(index, order);
            return forms_[static_cast<std::size_t>(index)].plain[wanted] = dequantized(index, id);
        }
        const TensorId from = get(index, static_cast<AxisOrder>(other));
        return forms_[static_cast<std::size_t>(index)].plain[wanted] = reordered(index, from, order);
    }
    const TensorId id = declared(index, order);
    return forms.plain[wanted] = dequantized(index, id);
}

bool TfliteGraph::is_channels_first(std::int64_t index) const {
    if (index < 0)
        return false;
    const Forms& forms = forms_[static_cast<std::size_t>(index)];
    const auto there = [&](AxisOrder order) {
        return forms.plain[index_of(order)] != kNoTensor || forms.stored[index_of(order)] != kNoTensor;
    };
    return there(AxisOrder::channels_first) && !there(AxisOrder::file) && !tensor(index).constant();
}

void TfliteGraph::set(std::int64_t index, TensorId id, AxisOrder order, bool computed) {
    const TfliteTensor& t = tensor(index);
    Forms& forms = forms_[static_cast<std::size_t>(index)];
    if (computed && t.quantized() && !t.constant())
        forms.stored[index_of(order)] = scaled("QuantizeLinear", id, t);
    else
        forms.plain[index_of(order)] = id;
}

void TfliteGraph::set_raw(std::int64_t index, TensorId id) {
    Forms& forms = forms_[static_cast<std::size_t>(index)];
    (tensor(index).quantized() ? forms.stored : forms.plain)[index_of(AxisOrder::file)] = id;
}

TensorId TfliteGraph::raw(std::int64_t index) {
    const TfliteTensor& t = tensor(index);
    constexpr AxisOrder kFile = AxisOrder::file;
    if (!t.quantized())
        return get(index, kFile);
    const auto stored = [&] { return forms_[static_cast<std::size_t>(index)].stored[index_of(kFile)]; };
    if (stored() == kNoTensor) {
        const TensorId id =
            t.constant() ? declared(index, kFile) : scaled("QuantizeLinear", get(index, kFile), t);
        forms_[static_cast<std::size_t>(index)].stored[index_of(kFile)] = id;
    }
    return stored();
}

void TfliteGraph::alias(std::int64_t index, std::int64_t of) {
    if (tensor(of).constant())
        source_[static_cast<std::size_t>(index)] = of;
    const AxisOrder order = is_channels_first(of) ? AxisOrder::channels_first : AxisOrder::file;
    const TensorId id = get(of, order); // before the reference: it may add forms
    forms_[static_cast<std::size_t>(index)].plain[index_of(order)] = id;
}

std::optional<std::vector<std::int64_t>> TfliteGraph::integers(std::int64_t index) const {
    return index < 0 ? std::nullopt : small_integers(tensor(index), buffer_);
}

std::vector<TensorId> TfliteGraph::emit_several(std::string_view op, std::vector<TensorId> inputs,
                                                std::size_t outputs, TfliteAttributes attributes,
                                                std::string_view domain) {
    Node n;
    n.name = fmt::format("{}/{}_{}", prefix_, op, made_++);
    n.op_type = op;
    n.domain = domain;
    n.opset = domain.empty() ? kTfliteOpset : 1;
    while (!inputs.empty() && inputs.back() == kNoTensor)
        inputs.pop_back();
    n.inputs = std::move(inputs);
    n.attributes = std::move(attributes);
    for (std::size_t i = 0; i < outputs; ++i)
        n.outputs.push_back(
            make(fmt::format("{}_output_{}", n.name, i), TensorRole::intermediate, DataType::undefined));
    std::vector<TensorId> ids = n.outputs;
    graph_.nodes.push_back(std::move(n));
    return ids;
}

TensorId TfliteGraph::emit(std::string_view op, std::vector<TensorId> inputs, TfliteAttributes attributes) {
    return emit_several(op, std::move(inputs), 1, std::move(attributes)).front();
}

std::vector<TensorId> TfliteGraph::emit_own(std::string_view op, std::vector<TensorId> inputs,
                                            std::size_t outputs, TfliteAttributes attributes) {
    return emit_several(op, std::move(inputs), outputs, std::move(attributes), kTfliteDomain);
}

TensorId TfliteGraph::emit_own(std::string_view op, std::vector<TensorId> inputs,
                               TfliteAttributes attributes) {
    return emit_own(op, std::move(inputs), 1, std::move(attributes)).front();
}

TensorId TfliteGraph::constant(Constant c) {
    const TensorId id =
        make(fmt::format("{}/constant_{}", prefix_, made_++), TensorRole::initializer, c.type);
    graph_.tensors[id].shape = dimensions(c.shape, {}, {});
    graph_.tensors[id].buffer = true;
    graph_.tensors[id].value = std::make_shared<const Constant>(std::move(c));
    return id;
}

TensorId TfliteGraph::ints(std::vector<std::int64_t> values) {
    const auto count = static_cast<std::int64_t>(values.size());
    return constant({.type = DataType::int64, .shape = {count}, .ints = std::move(values)});
}

TensorId TfliteGraph::scalar(double value) {
    return constant({.type = DataType::float32, .reals = {value}});
}

TensorId TfliteGraph::weights(std::int64_t index, Shape shape) {
    while (source_[static_cast<std::size_t>(index)] >= 0)
        index = source_[static_cast<std::size_t>(index)];
    const TfliteTensor& t = tensor(index);
    if (!t.constant()) { // computed: the arrangement is only another name for the same bytes
        return emit("Reshape", {get(index, AxisOrder::file), ints(std::move(shape))});
    }
    auto known = weights_.lower_bound({t.data, Shape{}});
    const bool there = t.data_bytes > 0 && known != weights_.end() && known->first.first == t.data &&
                       graph_.tensors[known->second].type == t.type;
    if (const auto same = weights_.find({t.data, shape}); there && same != weights_.end())
        known = same;
    TensorId id = kNoTensor;
    if (there) {
        id = known->second;
    } else {
        id = make(t.name, TensorRole::initializer, t.type);
        graph_.tensors[id].shape = dimensions(shape, {}, t.name);
        weights_.emplace(std::pair{t.data, shape}, id);
    }
    const auto [form, fresh] = dequantized_weights_.try_emplace({index, id}, kNoTensor);
    if (fresh)
        form->second = dequantized(index, id);
    const TensorId read = form->second;
    return there && known->first.second != shape ? emit("Reshape", {read, ints(std::move(shape))}) : read;
}

void TfliteGraph::declare(TensorId id, std::int64_t index) {
    const TfliteTensor& t = tensor(index);
    graph_.tensors[id].type = t.type;
    // Files written before scalars were told from tensors of unknown rank leave the shape out for both.
    if (!t.shape.empty())
        graph_.tensors[id].shape = dimensions(t.shape, t.signature, t.name);
}

void TfliteGraph::begin_body() {
    for (const std::int64_t index : model_.inputs) {
        const Forms& forms = forms_[static_cast<std::size_t>(index)];
        if (forms.plain[0] == kNoTensor && forms.stored[0] == kNoTensor)
            set_raw(index, declared(index, AxisOrder::file));
    }
}

Graph TfliteGraph::take_body() {
    for (const std::int64_t index : model_.outputs)
        graph_.outputs.push_back(raw(index));
    return std::move(graph_);
}

Graph TfliteGraph::take() {
    std::set<std::int64_t> listed;
    for (const std::int64_t index : model_.outputs) {
        if (!listed.insert(index).second)
            continue;
        const Forms& forms = forms_[static_cast<std::size_t>(index)];
        TensorId id = kNoTensor;
        for (const auto& of : {forms.stored, forms.plain})
            for (const AxisOrder order : {AxisOrder::channels_first, AxisOrder::file})
                if (of[index_of(order)] != kNoTensor)
                    id = of[index_of(order)];
        graph_.outputs.push_back(id != kNoTensor ? id : get(index, AxisOrder::file));
    }
    graph_.outputs.insert(graph_.outputs.end(), kept_.begin(), kept_.end());
    // Inputs that nothing reads belong to the interface all the same.
    for (const std::int64_t index : model_.inputs) {
        const Forms& forms = forms_[static_cast<std::size_t>(index)];
        if (forms.plain[0] == kNoTensor && forms.plain[1] == kNoTensor)
            get(index, AxisOrder::file);
    }
    return std::move(graph_);
}

const TfliteSubgraph& TfliteBodies::subgraph(std::int64_t index) const {
    if (index < 0 || static_cast<std::size_t>(index) >= model_.graphs.size())
        throw FlatError("an operator runs a graph that is not there");
    return model_.graphs[static_cast<std::size_t>(index)];
}

bool TfliteBodies::walk(std::size_t operators) {
    constexpr std::size_t kMostWalked = 2'000'000;
    walked_ += operators;
    return walked_ < kMostWalked;
}

std::shared_ptr<const Graph> TfliteBodies::body(std::int64_t index) {
    const TfliteSubgraph& own = subgraph(index);
    const auto [it, fresh] = made_.try_emplace(index, nullptr);
    if (!fresh) {
        if (!it->second)
            throw FlatError("a graph runs itself");
        return it->second;
    }
    constexpr std::size_t kDeepest = 64;
    if (++depth_ > kDeepest)
        throw FlatError("its graphs are nested too deeply");
    TfliteGraph graph(*this, own);
    graph.begin_body();
    translate_tflite(graph);
    auto made = std::make_shared<const Graph>(graph.take_body());
    --depth_;
    return made_[index] = std::move(made);
}

std::shared_ptr<const Graph> TfliteBodies::branch(std::int64_t index,
                                                  const std::vector<std::string>& inputs) {
    constexpr std::size_t kMostCopied = 1'000'000; // nodes: a file that names one graph over and over
    const auto shared = body(index);
    if (shared->inputs.size() != inputs.size())
        throw FlatError("an operator gives a graph more or fewer tensors than it takes");
    copied_ += shared->nodes.size() + shared->tensors.size();
    if (copied_ > kMostCopied)
        throw FlatError("its operators run the same graph over and over");
    Graph own = *shared;
    for (std::size_t i = 0; i < inputs.size(); ++i)
        own.captured.emplace_back(own.inputs[i], inputs[i]);
    own.inputs.clear();
    return std::make_shared<const Graph>(std::move(own));
}

} // namespace archsim::import
