// The parts of GraphBuilder that nest: attributes with their subgraphs, and calls of functions; and the
// scopes in which their names mean something.

#include "import/graph_builder.hpp"

#include <fmt/format.h>
#include <limits>

namespace archsim::import {

/// Subgraphs and calls within each other; exporters stay below ten.
constexpr int kMaxNesting = 64;
/// Nodes, edges and 16-byte units of names and attributes that inlining may add, some 100 MB: functions that
/// call each other can ask for more than any memory holds.
constexpr std::size_t kMaxInlinedSize = 4'000'000;

/// The type of an attribute; files before IR version 2 leave it to the reader.
static AttributeType type_of(const AttributeMessage& attribute) {
    using enum AttributeType;
    return attribute.type != undefined  ? attribute.type
           : attribute.f                ? real
           : attribute.i                ? integer
           : attribute.s                ? string
           : attribute.t != nullptr     ? tensor
           : attribute.g != nullptr     ? graph
           : !attribute.floats.empty()  ? reals
           : !attribute.ints.empty()    ? integers
           : !attribute.strings.empty() ? strings
                                        : undefined;
}

/// Stands for a field that the file leaves out.
const GraphMessage kEmptyGraph;
const TensorMessage kEmptyTensor;
const SparseTensorMessage kEmptySparseTensor;

void GraphBuilder::read_attributes(const NodeMessage& proto, Node& node, Frame& frame) {
    node.attributes.reserve(proto.attribute.size());
    for (const AttributeMessage& attribute : proto.attribute)
        if (auto value = read_attribute(attribute, node, frame))
            node.attributes.emplace_back(attribute.name, std::move(*value));
}

std::optional<AttributeValue> GraphBuilder::read_attribute(const AttributeMessage& proto, const Node& node,
                                                           Frame& frame) {
    if (!proto.ref_attr_name.empty())
        return referred_attribute(proto, node, frame);
    const auto constant = [](std::shared_ptr<const Constant> read) -> std::optional<AttributeValue> {
        return read ? std::optional<AttributeValue>(std::move(read)) : std::nullopt;
    };
    switch (type_of(proto)) {
    case AttributeType::real:
        return static_cast<double>(proto.f.value_or(0));
    case AttributeType::integer:
        return proto.i.value_or(0);
    case AttributeType::string:
        return std::string(proto.s.value_or(std::string_view()));
    case AttributeType::tensor:
        return constant(tensors_.read(proto.t ? *proto.t : kEmptyTensor, node.name));
    case AttributeType::sparse_tensor:
        return constant(
            tensors_.read(proto.sparse_tensor ? *proto.sparse_tensor : kEmptySparseTensor, node.name));
    case AttributeType::graph: {
        auto subgraph = read_subgraph(proto.g ? *proto.g : kEmptyGraph, node, frame);
        return subgraph ? std::optional<AttributeValue>(std::move(subgraph)) : std::nullopt;
    }
    case AttributeType::reals:
        return std::vector<double>(proto.floats.begin(), proto.floats.end());
    case AttributeType::integers:
        return std::vector<std::int64_t>(proto.ints.begin(), proto.ints.end());
    case AttributeType::strings:
        return std::vector<std::string>(proto.strings.begin(), proto.strings.end());
    default:
        // Types and lists of tensors or graphs: no operator's shape or work depends on them.
        return std::nullopt;
    }
}

std::optional<AttributeValue> GraphBuilder::referred_attribute(const AttributeMessage& proto,
                                                               const Node& node, Frame& frame) {
    if (frame.call == nullptr) {
        findings_.add(FindingKind::malformed_node, Severity::error, node.name,
                      fmt::format("its attribute '{}' refers to an attribute of a function, and is in none",
                                  proto.name));
        return std::nullopt;
    }
    if (const AttributeValue* given = frame.call->attribute(proto.ref_attr_name))
        return *given;
    for (const AttributeMessage& fallback : frame.function->body->attribute_proto)
        if (fallback.name == proto.ref_attr_name && fallback.ref_attr_name.empty())
            return read_attribute(fallback, node, frame);
    return std::nullopt; // left out by the call: the operator's own default applies
}

std::shared_ptr<const Graph> GraphBuilder::read_subgraph(const GraphMessage& proto, const Node& node,
                                                         Frame& frame) {
    if (frame.depth >= kMaxNesting) {
        findings_.add(FindingKind::too_large, Severity::error, node.name,
                      fmt::format("subgraphs and functions are nested more than {} deep", kMaxNesting));
        return nullptr;
    }
    GraphDraft draft;
    Scope scope(draft, &frame.scope);
    Frame inner{.scope = scope,
                .opsets = frame.opsets,
                .prefix = frame.prefix,
                .call = frame.call,
                .function = frame.function,
                .depth = frame.depth + 1};
    fill(proto, inner);
    draft.graph.opset_imports = frame.opsets;
    return std::make_shared<const Graph>(std::move(draft.graph));
}

bool GraphBuilder::may_inline(const Node& call, const Function& function, const Frame& frame) {
    const auto refuse = [&](FindingKind kind, std::string message) {
        findings_.add(Finding{.kind = kind,
                              .severity = Severity::error,
                              .message = std::move(message),
                              .where = call.name,
                              .hint = "export the model again",
                              .op_type = call.op_type,
                              .domain = call.domain});
        return false;
    };
    if (std::ranges::find(active_, &function) != active_.end())
        return refuse(FindingKind::malformed_file, "the function calls itself");
    if (frame.depth >= kMaxNesting)
        return refuse(FindingKind::too_large,
                      fmt::format("subgraphs and functions are nested more than {} deep", kMaxNesting));
    if (inlined_size_ > kMaxInlinedSize)
        return refuse(FindingKind::too_large, "the functions of the file expand to more than can be held");
    const std::size_t inputs = function.body->input.size(), outputs = function.body->output.size();
    if (call.inputs.size() > inputs || call.outputs.size() > outputs)
        return refuse(
            FindingKind::malformed_node,
            fmt::format("the call has {} inputs and {} outputs where the function takes {} and gives {}",
                        call.inputs.size(), call.outputs.size(), inputs, outputs));
    inlined_size_ += 1 + inputs + outputs;
    return true;
}

bool GraphBuilder::inline_call(const Node& call, const Function& function, Frame& frame) {
    if (!may_inline(call, function, frame))
        return false;
    const FunctionMessage& body = *function.body;
    GraphDraft& draft = frame.scope.draft();
    Scope scope(draft, nullptr);
    Frame inner{.scope = scope,
                .opsets = function.opsets,
                .prefix = call.name + "/",
                .call = &call,
                .function = &function,
                .depth = frame.depth + 1};

    for (std::size_t i = 0; i < body.input.size(); ++i)
        scope.bind(body.input[i], i < call.inputs.size() ? call.inputs[i] : kNoTensor);
    std::unordered_map<std::string_view, TensorId> promised;
    for (std::size_t i = 0; i < body.output.size(); ++i) {
        if (i >= call.outputs.size() || call.outputs[i] == kNoTensor)
            continue;
        const std::string_view name = body.output[i];
        if (const auto passed = scope.find_own(name)) { // an input handed through
            Node identity{.name = inner.prefix + "Identity_" + std::to_string(i),
                          .op_type = "Identity",
                          .opset = opset_of("", inner),
                          .inputs = {*passed},
                          .outputs = {call.outputs[i]}};
            draft.add_node(std::move(identity));
        } else {
            scope.bind(name, call.outputs[i]);
            promised.emplace(name, call.outputs[i]);
        }
    }
    active_.push_back(&function);
    read_nodes(body.node, declare_outputs(body.node, inner, std::move(promised)), inner);
    active_.pop_back();
    return true;
}

TensorId GraphDraft::add_tensor(std::string_view name, TensorRole role, std::string_view prefix) {
    Tensor& tensor = graph.tensors.emplace_back();
    tensor.name.reserve(prefix.size() + name.size());
    tensor.name.append(prefix).append(name);
    tensor.role = role;
    tensor_names.settle_last(graph.tensors);
    return static_cast<TensorId>(graph.tensors.size() - 1);
}

void GraphDraft::add_node(Node&& node) {
    graph.nodes.push_back(std::move(node));
    node_names.settle_last(graph.nodes);
}

void GraphDraft::reserve(std::size_t tensors, std::size_t nodes) {
    graph.tensors.reserve(tensors);
    tensor_names.reserve(tensors);
    graph.nodes.reserve(nodes);
    node_names.reserve(nodes);
}

void Scope::reserve(std::size_t names) {
    meanings_.reserve(names);
    index_.reserve(names);
}

bool Scope::bind(std::string_view name, TensorId tensor) {
    const auto entry = static_cast<std::uint32_t>(meanings_.size());
    const auto name_of = [this](std::uint32_t other) { return meanings_[other].name; };
    if (index_.add(name, entry, name_of) != NameIndex::kNone)
        return false;
    meanings_.push_back({name, tensor});
    return true;
}

std::optional<TensorId> Scope::find_own(std::string_view name) const {
    const auto name_of = [this](std::uint32_t entry) { return meanings_[entry].name; };
    const std::uint32_t entry = index_.find(name, name_of);
    return entry == NameIndex::kNone ? std::nullopt : std::optional(meanings_[entry].tensor);
}

std::optional<TensorId> Scope::find(std::string_view name) {
    if (const auto own = find_own(name))
        return own;
    if (enclosing_ == nullptr)
        return std::nullopt;
    const auto outer = enclosing_->find(name);
    if (!outer)
        return std::nullopt;
    if (*outer == kNoTensor) {
        bind(name, kNoTensor);
        return kNoTensor;
    }

    GraphDraft& outer_draft = enclosing_->draft_;
    // The node that owns this subgraph is appended after its attributes are read.
    outer_draft.subgraph_reads.emplace_back(outer_draft.graph.nodes.size(), *outer);
    const Tensor& captured = outer_draft.graph.tensors[*outer];
    const TensorId local = draft_.add_tensor(captured.name, TensorRole::intermediate);
    draft_.graph.tensors[local].type = captured.type;
    draft_.graph.tensors[local].kind = captured.kind;
    draft_.graph.captured.emplace_back(local, captured.name);
    bind(name, local);
    return local;
}

static std::string key(std::string_view domain, std::string_view name, std::string_view overload) {
    constexpr char kSeparator = '\0';
    std::string key(normalized_domain(domain));
    key += kSeparator;
    key += name;
    key += kSeparator;
    key += overload;
    return key;
}

std::string_view normalized_domain(std::string_view domain) {
    return domain == "ai.onnx" ? std::string_view() : domain;
}

Opsets read_opsets(const ArenaList<Opset>& imports) {
    Opsets opsets;
    for (const Opset& import : imports) {
        constexpr std::int64_t kLargest = std::numeric_limits<int>::max();
        opsets.emplace_back(normalized_domain(import.domain),
                            static_cast<int>(std::clamp<std::int64_t>(import.version, 0, kLargest)));
    }
    return opsets;
}

FunctionLibrary::FunctionLibrary(const ModelMessage& model, Findings& findings) {
    for (const FunctionMessage& function : model.functions) {
        const auto [entry, is_new] =
            functions_.try_emplace(key(function.domain, function.name, function.overload));
        if (!is_new) {
            findings.add(FindingKind::duplicate, Severity::error, std::string(function.name),
                         "the file defines this function twice; the first is used", "export the model again");
            continue;
        }
        entry->second.body = &function;
        entry->second.opsets = read_opsets(function.opset_import);
    }
}

const Function* FunctionLibrary::find(const NodeMessage& node) const {
    if (functions_.empty())
        return nullptr;
    const auto found = functions_.find(key(node.domain, node.op_type, node.overload));
    return found == functions_.end() ? nullptr : &found->second;
}

} // namespace archsim::import
