#include "import/graph_builder.hpp"

#include "core/lists.hpp"
#include "import/topological_order.hpp"

#include <fmt/format.h>
#include <iterator>

namespace archsim::import {

constexpr std::int64_t kFirstWithDefaults = 4; ///< IR version in which initializers need not be inputs

static std::vector<Dimension> fixed_dimensions(const Shape& shape) {
    return mapped(shape, [&](const auto dim) { return Dimension{.value = dim, .symbol = {}}; });
}

static void take_constant(Tensor& tensor, const std::shared_ptr<const Constant>& constant) {
    tensor.role = TensorRole::initializer;
    if (!constant)
        return;
    tensor.type = constant->type;
    tensor.shape = fixed_dimensions(constant->shape);
    if (holds_value(*constant))
        tensor.value = constant;
}

GraphBuilder::GraphBuilder(const ModelMessage& model, ExternalData& external, Findings& findings,
                           Spending& spending)
    : model_(model), findings_(findings), spending_(spending), functions_(model, findings),
      opsets_(read_opsets(model.opset_import)), tensors_(external, findings) {
    // Before IR version 3 a model named no operator sets and used the first.
    if (opsets_.empty())
        opsets_.emplace_back("", 1);
}

Graph GraphBuilder::build() {
    GraphDraft draft;
    Scope scope(draft, nullptr);
    Frame frame{.scope = scope, .opsets = opsets_};
    fill(*model_.graph, frame);
    draft.graph.opset_imports = opsets_;
    return std::move(draft.graph);
}

void GraphBuilder::fill(const GraphMessage& proto, Frame& frame) {
    GraphDraft& draft = frame.scope.draft();
    draft.graph.name = proto.name;
    const std::size_t nodes = proto.node.size();
    const std::size_t names = proto.initializer.size() + proto.input.size() + nodes;
    draft.reserve(names, nodes); // nearly all nodes have one output
    frame.scope.reserve(names);
    read_initializers(proto, frame.scope);
    read_inputs(proto, frame.scope);
    const std::vector<TensorId> outputs = declare_outputs(proto.node, frame);
    for (const ValueInfoMessage& value : proto.value_info)
        if (const auto id = frame.scope.find_own(value.name))
            if (Tensor& tensor = draft.graph.tensors[*id]; tensor.role == TensorRole::intermediate)
                read_type(value.type, tensor, findings_);
    read_nodes(proto.node, outputs, frame);
    read_outputs(proto, frame.scope);
    finish(draft);
    if (proto.node.size() > 0 && &proto == &*model_.graph)
        tell_replaceable(draft.graph);
}

void GraphBuilder::read_initializers(const GraphMessage& proto, Scope& scope) {
    const auto declare = [&](std::string_view name) -> Tensor* {
        if (name.empty() || scope.find_own(name).has_value()) {
            findings_.add(FindingKind::duplicate, Severity::error, std::string(name),
                          name.empty() ? "an initializer has no name"
                                       : "two initializers have this name; the first is used",
                          "export the model again");
            return nullptr;
        }
        const TensorId id = scope.draft().add_tensor(name, TensorRole::initializer);
        scope.bind(name, id);
        return &scope.draft().graph.tensors[id];
    };
    for (const TensorMessage& initializer : proto.initializer)
        if (Tensor* tensor = declare(initializer.name)) {
            tensor->external = initializer.external;
            take_constant(*tensor, tensors_.read(initializer, tensor->name));
        }
    for (const SparseTensorMessage& initializer : proto.sparse_initializer)
        if (Tensor* tensor = declare(initializer.values.name))
            take_constant(*tensor, tensors_.read(initializer, tensor->name));
}

void GraphBuilder::read_inputs(const GraphMessage& proto, Scope& scope) {
    Graph& graph = scope.draft().graph;
    for (const ValueInfoMessage& input : proto.input) {
        if (const auto known = scope.find_own(input.name)) {
            // Before IR version 4 every initializer is listed as an input too; later that makes it a default
            // that a caller may replace.
            if (Tensor& tensor = graph.tensors[*known]; tensor.role == TensorRole::initializer)
                tensor.replaceable = model_.ir_version >= kFirstWithDefaults;
            else
                findings_.add(FindingKind::duplicate, Severity::error, std::string(input.name),
                              "two inputs have this name; the first is used", "export the model again");
            continue;
        }
        const TensorId id = scope.draft().add_tensor(input.name, TensorRole::input);
        scope.bind(input.name, id);
        read_type(input.type, graph.tensors[id], findings_);
        graph.inputs.push_back(id);
    }
}

void GraphBuilder::read_outputs(const GraphMessage& proto, Scope& scope) {
    Graph& graph = scope.draft().graph;
    for (const ValueInfoMessage& output : proto.output) {
        const auto id = scope.find(output.name);
        if (!id || *id == kNoTensor) {
            findings_.add(FindingKind::malformed_file, Severity::error, std::string(output.name),
                          "no node produces this output of the graph");
            continue;
        }
        Tensor& tensor = graph.tensors[*id];
        if (tensor.role == TensorRole::intermediate)
            read_type(output.type, tensor, findings_);
        graph.outputs.push_back(*id);
    }
}

std::vector<TensorId> GraphBuilder::declare_outputs(const Nodes& nodes, Frame& frame,
                                                    std::unordered_map<std::string_view, TensorId> promised) {
    std::vector<TensorId> outputs;
    outputs.reserve(nodes.size());
    for (const NodeMessage& node : nodes)
        for (const std::string_view name : node.output) {
            if (name.empty()) {
                outputs.push_back(kNoTensor);
            } else if (const auto known = promised.find(name); known != promised.end()) {
                outputs.push_back(known->second);
                promised.erase(known);
            } else {
                const TensorId id =
                    frame.scope.draft().add_tensor(name, TensorRole::intermediate, frame.prefix);
                if (!frame.scope.bind(name, id))
                    findings_.add(FindingKind::duplicate, Severity::error, std::string(name),
                                  "this value is produced twice; readers get the first",
                                  "export the model again");
                outputs.push_back(id);
            }
        }
    for (const auto& [name, id] : promised)
        findings_.add(FindingKind::malformed_node, Severity::error,
                      frame.call ? frame.call->name : std::string(),
                      fmt::format("no node of the function produces its output '{}'", name));
    return outputs;
}

void GraphBuilder::read_nodes(const Nodes& nodes, const std::vector<TensorId>& outputs, Frame& frame) {
    auto next_output = outputs.begin();
    int index = 0;
    for (const NodeMessage& proto : nodes) {
        Node node;
        const auto end = next_output + static_cast<std::ptrdiff_t>(proto.output.size());
        node.outputs.assign(next_output, end);
        next_output = end;
        read_node(proto, index++, node, frame);
    }
}

void GraphBuilder::read_node(const NodeMessage& proto, int index, Node& node, Frame& frame) {
    GraphDraft& draft = frame.scope.draft();
    spending_.step();
    spending_.keep(static_cast<double>(sizeof(Node) + frame.prefix.size() + proto.size));
    node.op_type = proto.op_type;
    node.domain = normalized_domain(proto.domain);
    node.name = frame.prefix;
    if (proto.name.empty())
        fmt::format_to(std::back_inserter(node.name), "{}_{}", node.op_type, index);
    else
        node.name += proto.name;
    node.inputs.reserve(proto.input.size());
    for (const std::string_view name : proto.input) {
        if (name.empty()) {
            node.inputs.push_back(kNoTensor);
        } else if (const auto id = frame.scope.find(name)) {
            node.inputs.push_back(*id);
        } else {
            findings_.add(Finding{
                .kind = FindingKind::malformed_node,
                .severity = Severity::error,
                .message = fmt::format("its input '{}' is no input, initializer or output of a node", name),
                .where = node.name,
                .hint = "export the model again",
                .op_type = node.op_type,
                .domain = node.domain});
            const TensorId missing = draft.add_tensor(name, TensorRole::intermediate, frame.prefix);
            frame.scope.bind(name, missing);
            node.inputs.push_back(missing);
        }
    }
    read_attributes(proto, node, frame);

    if (frame.call != nullptr) {
        constexpr std::size_t kBytesPerUnit = 16;
        const std::size_t names = frame.prefix.size() * (1 + node.outputs.size());
        inlined_size_ += 1 + node.inputs.size() + node.outputs.size() + (proto.size + names) / kBytesPerUnit;
    }
    if (const Function* function = functions_.find(proto); function && inline_call(node, *function, frame))
        return;
    if (node.domain.empty() && node.op_type == "Constant" && fold_constant(node, frame))
        return;
    node.opset = opset_of(node.domain, frame);
    draft.add_node(std::move(node));
}

int GraphBuilder::opset_of(std::string_view domain, const Frame& frame) {
    for (const Opsets* opsets : {&frame.opsets, static_cast<const Opsets*>(&opsets_)})
        for (const auto& [imported, version] : *opsets)
            if (imported == domain)
                return version;
    if (unimported_.emplace(domain).second)
        findings_.add(
            FindingKind::malformed_file, Severity::warning, std::string(domain),
            fmt::format("operators of the domain '{}' are used but no version of it is imported; version 1 "
                        "is assumed",
                        domain.empty() ? "ai.onnx" : domain),
            "add the domain to opset_import");
    return 1;
}

bool GraphBuilder::fold_constant(const Node& node, Frame& frame) {
    if (node.outputs.size() != 1 || node.outputs.front() == kNoTensor || node.attributes.size() != 1)
        return false;
    std::shared_ptr<const Constant> constant;
    const AttributeValue& value = node.attributes.front().second;
    if (const auto* tensor = std::get_if<std::shared_ptr<const Constant>>(&value))
        constant = *tensor;
    const auto take = [&](DataType type, auto values) { // one of them, or a list
        using List = std::decay_t<decltype(std::declval<Constant&>().*values)>;
        const auto* one = std::get_if<typename List::value_type>(&value);
        const auto* many = std::get_if<List>(&value);
        if (one == nullptr && many == nullptr)
            return;
        auto made = std::make_shared<Constant>();
        made->type = type;
        (*made).*values = one != nullptr ? List{*one} : *many;
        if (many != nullptr)
            made->shape = {static_cast<std::int64_t>(many->size())};
        constant = std::move(made);
    };
    take(DataType::int64, &Constant::ints);
    take(DataType::float32, &Constant::reals);
    take(DataType::string, &Constant::strings);
    if (!constant)
        return false;
    Tensor& tensor = frame.scope.draft().graph.tensors[node.outputs.front()];
    take_constant(tensor, constant);
    // Numbers and index lists written into the code of a model; nothing that training adjusts.
    const bool vector =
        std::ranges::count_if(constant->shape, [](auto d) { return d > 1; }) <= 1 && holds_value(*constant);
    tensor.buffer = vector || !is_floating(constant->type);
    return true;
}

void GraphBuilder::tell_replaceable(const Graph& graph) {
    std::vector<bool> weight(graph.tensors.size(), false);
    for (const Node& node : graph.nodes) // where a runtime would fold or lay out anew
        if (node.op_type == "Conv" || node.op_type == "ConvTranspose" || node.op_type == "BatchNormalization")
            for (const TensorId id : node.inputs)
                if (id != kNoTensor)
                    weight[id] = graph.tensors[id].replaceable;
    const auto count = std::ranges::count(weight, true);
    if (count > 0)
        findings_.add(
            FindingKind::inconsistent, Severity::note, graph.name,
            fmt::format("{} weights of convolutions and normalisations are inputs of the graph too, "
                        "which callers may replace: ONNX Runtime folds no batch normalisation into "
                        "such a convolution and keeps it out of its blocked layout",
                        count),
            "remove initializers from the graph's inputs (keep_initializers_as_inputs=False when "
            "exporting, or onnxruntime's remove_initializer_from_input)");
}

void GraphBuilder::mark_buffers(Graph& graph) {
    constexpr std::array<std::string_view, 3> kStatistics = {"running_mean", "running_var",
                                                             "num_batches_tracked"};
    for (Tensor& tensor : graph.tensors)
        if (tensor.role == TensorRole::initializer)
            tensor.buffer |= std::ranges::any_of(
                kStatistics, [&](std::string_view name) { return tensor.name.ends_with(name); });
    for (const Node& node : graph.nodes) {
        // Resize(X, roi, scales): where to sample, not what training adjusts.
        if (node.op_type == "Resize" || node.op_type == "Upsample")
            for (std::size_t i = 1; i < node.inputs.size(); ++i)
                if (node.inputs[i] != kNoTensor)
                    graph.tensors[node.inputs[i]].buffer = true;
        // The bias of a layer is learned, though a Constant may hold it.
        if (node.op_type == "Conv" || node.op_type == "ConvTranspose" || node.op_type == "Gemm")
            if (constexpr std::size_t kBias = 2;
                node.inputs.size() > kBias && node.inputs[kBias] != kNoTensor)
                if (Tensor& bias = graph.tensors[node.inputs[kBias]]; is_floating(bias.type))
                    bias.buffer = false;
        // BatchNormalization(X, scale, B, mean, variance): the statistics are observed, not learned.
        constexpr std::size_t kFirstStatistic = 3;
        if (node.op_type != "BatchNormalization" || !node.domain.empty())
            continue;
        for (std::size_t i = kFirstStatistic; i < node.inputs.size(); ++i)
            if (node.inputs[i] != kNoTensor && graph.tensors[node.inputs[i]].role == TensorRole::initializer)
                graph.tensors[node.inputs[i]].buffer = true;
    }
}

void GraphBuilder::finish(GraphDraft& draft) {
    Graph& graph = draft.graph;
    mark_buffers(graph);
    if (draft.node_names.repetitions() > 0)
        findings_.add(FindingKind::duplicate, Severity::note, graph.name,
                      fmt::format("{} nodes repeat the name of another; they are numbered",
                                  draft.node_names.repetitions()),
                      "nothing to do");
    NodeOrder order = topological_order(graph, draft.subgraph_reads);
    if (!order.cyclic.empty()) {
        const Node& node = graph.nodes[order.cyclic.front()];
        findings_.add(
            Finding{.kind = FindingKind::malformed_file,
                    .severity = Severity::error,
                    .message = fmt::format("{} nodes wait for each other in a cycle, this one among them",
                                           order.cyclic.size()),
                    .where = node.name,
                    .hint = "export the model again",
                    .op_type = node.op_type,
                    .domain = node.domain});
        order.nodes.insert(order.nodes.end(), order.cyclic.begin(), order.cyclic.end());
    }
    if (!std::ranges::is_sorted(order.nodes)) {
        std::vector<Node> sorted =
            mapped(order.nodes, [&](const std::size_t index) { return std::move(graph.nodes[index]); });
        graph.nodes = std::move(sorted);
    }
    number_tensors(graph);
}

void GraphBuilder::number_tensors(Graph& graph) {
    // Intermediate ones share the numbers that they have, in the order in which nodes read or make them.
    std::vector<TensorId> number(graph.tensors.size(), kNoTensor), slots;
    for (TensorId id = 0; id < graph.tensors.size(); ++id)
        if (graph.tensors[id].role == TensorRole::intermediate)
            slots.push_back(id);
    std::size_t used = 0;
    const auto meet = [&](TensorId id) {
        if (id != kNoTensor && number[id] == kNoTensor && graph.tensors[id].role == TensorRole::intermediate)
            number[id] = slots[used++];
    };
    for (const Node& node : graph.nodes) {
        std::ranges::for_each(node.inputs, meet);
        std::ranges::for_each(node.outputs, meet);
    }
    bool moved = false;
    for (TensorId id = 0; id < graph.tensors.size(); ++id) {
        meet(id); // what nobody reads keeps its place among the others
        number[id] = number[id] == kNoTensor ? id : number[id];
        moved = moved || number[id] != id;
    }
    if (!moved)
        return;
    std::vector<Tensor> tensors(graph.tensors.size());
    for (TensorId id = 0; id < tensors.size(); ++id)
        tensors[number[id]] = std::move(graph.tensors[id]);
    graph.tensors = std::move(tensors);
    const auto renumber = [&](TensorId& id) { id = id == kNoTensor ? id : number[id]; };
    for (Node& node : graph.nodes) {
        std::ranges::for_each(node.inputs, renumber);
        std::ranges::for_each(node.outputs, renumber);
    }
    std::ranges::for_each(graph.outputs, renumber);
    for (auto& [local, name] : graph.captured)
        renumber(local);
    std::ranges::sort(graph.captured);
}

} // namespace archsim::import
