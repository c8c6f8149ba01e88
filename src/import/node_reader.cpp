// The parts of GraphBuilder that nest: attributes with their subgraphs, and calls of functions.

#include "import/graph_builder.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace archsim::import {

namespace {

/// Subgraphs and calls within each other; exporters stay below ten.
constexpr int kMaxNesting = 64;
/// Nodes, edges and 16-byte units of names and attributes that inlining may add, some 100 MB: functions that
/// call each other can ask for more than any memory holds.
constexpr std::size_t kMaxInlinedSize = 4'000'000;

/// The type of an attribute; files before IR version 2 leave it to the reader.
onnx::AttributeProto::AttributeType type_of(const onnx::AttributeProto& proto) {
    if (proto.type() != onnx::AttributeProto::UNDEFINED)
        return proto.type();
    if (proto.has_f())
        return onnx::AttributeProto::FLOAT;
    if (proto.has_i())
        return onnx::AttributeProto::INT;
    if (proto.has_s())
        return onnx::AttributeProto::STRING;
    if (proto.has_t())
        return onnx::AttributeProto::TENSOR;
    if (proto.has_g())
        return onnx::AttributeProto::GRAPH;
    if (proto.floats_size() > 0)
        return onnx::AttributeProto::FLOATS;
    if (proto.ints_size() > 0)
        return onnx::AttributeProto::INTS;
    if (proto.strings_size() > 0)
        return onnx::AttributeProto::STRINGS;
    return onnx::AttributeProto::UNDEFINED;
}

} // namespace

void GraphBuilder::read_attributes(const onnx::NodeProto& proto, Node& node, Frame& frame) {
    node.attributes.reserve(static_cast<std::size_t>(proto.attribute_size()));
    for (const auto& attribute : proto.attribute())
        if (auto value = read_attribute(attribute, node, frame))
            node.attributes.emplace_back(attribute.name(), std::move(*value));
}

std::optional<AttributeValue> GraphBuilder::read_attribute(const onnx::AttributeProto& proto,
                                                           const Node& node, Frame& frame) {
    if (!proto.ref_attr_name().empty())
        return referred_attribute(proto, node, frame);
    const auto constant = [](std::shared_ptr<const Constant> read) -> std::optional<AttributeValue> {
        return read ? std::optional<AttributeValue>(std::move(read)) : std::nullopt;
    };
    switch (type_of(proto)) {
    case onnx::AttributeProto::FLOAT:
        return static_cast<double>(proto.f());
    case onnx::AttributeProto::INT:
        return static_cast<std::int64_t>(proto.i());
    case onnx::AttributeProto::STRING:
        return proto.s();
    case onnx::AttributeProto::TENSOR:
        return constant(tensors_.read(proto.t(), node.name));
    case onnx::AttributeProto::SPARSE_TENSOR:
        return constant(tensors_.read(proto.sparse_tensor(), node.name));
    case onnx::AttributeProto::GRAPH: {
        auto subgraph = read_subgraph(proto.g(), node, frame);
        return subgraph ? std::optional<AttributeValue>(std::move(subgraph)) : std::nullopt;
    }
    case onnx::AttributeProto::FLOATS:
        return std::vector<double>(proto.floats().begin(), proto.floats().end());
    case onnx::AttributeProto::INTS:
        return std::vector<std::int64_t>(proto.ints().begin(), proto.ints().end());
    case onnx::AttributeProto::STRINGS:
        return std::vector<std::string>(proto.strings().begin(), proto.strings().end());
    default:
        // Types and lists of tensors or graphs: no operator's shape or work depends on them.
        return std::nullopt;
    }
}

std::optional<AttributeValue> GraphBuilder::referred_attribute(const onnx::AttributeProto& proto,
                                                               const Node& node, Frame& frame) {
    if (frame.call == nullptr) {
        findings_.add(FindingKind::malformed_node, Severity::error, node.name,
                      fmt::format("its attribute '{}' refers to an attribute of a function, and is in none",
                                  proto.name()),
                      "export the model again");
        return std::nullopt;
    }
    if (const AttributeValue* given = frame.call->attribute(proto.ref_attr_name()))
        return *given;
    for (const auto& fallback : frame.function->defaults)
        if (fallback.name() == proto.ref_attr_name() && fallback.ref_attr_name().empty())
            return read_attribute(fallback, node, frame);
    return std::nullopt; // left out by the call: the operator's own default applies
}

std::shared_ptr<const Graph> GraphBuilder::read_subgraph(const onnx::GraphProto& proto, const Node& node,
                                                         Frame& frame) {
    if (frame.depth >= kMaxNesting) {
        findings_.add(FindingKind::too_large, Severity::error, node.name,
                      fmt::format("subgraphs and functions are nested more than {} deep", kMaxNesting),
                      "export the model again");
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
                              .mend = "export the model again",
                              .op_type = call.op_type,
                              .domain = call.domain});
        return false;
    };
    if (std::find(active_.begin(), active_.end(), &function) != active_.end())
        return refuse(FindingKind::malformed_file, "the function calls itself");
    if (frame.depth >= kMaxNesting)
        return refuse(FindingKind::too_large,
                      fmt::format("subgraphs and functions are nested more than {} deep", kMaxNesting));
    if (inlined_size_ > kMaxInlinedSize)
        return refuse(FindingKind::too_large, "the functions of the file expand to more than can be held");
    const auto inputs = static_cast<std::size_t>(function.body->input_size());
    const auto outputs = static_cast<std::size_t>(function.body->output_size());
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
    const onnx::FunctionProto& body = *function.body;
    GraphDraft& draft = frame.scope.draft();
    Scope scope(draft, nullptr);
    Frame inner{.scope = scope,
                .opsets = function.opsets,
                .prefix = call.name + "/",
                .call = &call,
                .function = &function,
                .depth = frame.depth + 1};

    for (int i = 0; i < body.input_size(); ++i) {
        const auto index = static_cast<std::size_t>(i);
        scope.bind(body.input(i), index < call.inputs.size() ? call.inputs[index] : kNoTensor);
    }
    std::unordered_map<std::string_view, TensorId> promised;
    for (int i = 0; i < body.output_size(); ++i) {
        const auto index = static_cast<std::size_t>(i);
        if (index >= call.outputs.size() || call.outputs[index] == kNoTensor)
            continue;
        const std::string& name = body.output(i);
        if (const auto passed = scope.find_own(name)) { // an input handed through
            Node identity{.name = inner.prefix + "Identity_" + std::to_string(i),
                          .op_type = "Identity",
                          .opset = opset_of("", inner),
                          .inputs = {*passed},
                          .outputs = {call.outputs[index]}};
            draft.add_node(std::move(identity));
        } else {
            scope.bind(name, call.outputs[index]);
            promised.emplace(name, call.outputs[index]);
        }
    }
    active_.push_back(&function);
    read_nodes(body.node(), declare_outputs(body.node(), inner, std::move(promised)), inner);
    active_.pop_back();
    return true;
}

} // namespace archsim::import
