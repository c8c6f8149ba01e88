#pragma once
// Small ONNX models for the tests of the importer.

#include "archsim/extend/importer.hpp"

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

namespace archsim::test {

inline onnx::ModelProto make_model(int opset = 17) {
    onnx::ModelProto model;
    model.set_ir_version(8);
    model.add_opset_import()->set_version(opset);
    model.mutable_graph()->set_name("main");
    return model;
}

inline void add_input(onnx::GraphProto& graph, const std::string& name,
                      const std::vector<std::string>& dims) {
    auto* input = graph.add_input();
    input->set_name(name);
    auto* tensor = input->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(onnx::TensorProto::FLOAT);
    for (const auto& dim : dims)
        if (const char first = dim.empty() ? ' ' : dim.front();
            first == '-' || (first >= '0' && first <= '9'))
            tensor->mutable_shape()->add_dim()->set_dim_value(std::stoll(dim));
        else if (dim.empty())
            tensor->mutable_shape()->add_dim();
        else
            tensor->mutable_shape()->add_dim()->set_dim_param(dim);
}

inline void add_output(onnx::GraphProto& graph, const std::string& name) {
    graph.add_output()->set_name(name);
}

template <typename Owner> // a graph or a function
onnx::NodeProto& add_node(Owner& owner, const std::string& type, const std::vector<std::string>& inputs,
                          const std::vector<std::string>& outputs, const std::string& name = {}) {
    auto* node = owner.add_node();
    node->set_op_type(type);
    node->set_name(name);
    for (const auto& input : inputs)
        node->add_input(input);
    for (const auto& output : outputs)
        node->add_output(output);
    return *node;
}

inline onnx::AttributeProto& add_attribute(onnx::NodeProto& node, const std::string& name,
                                           onnx::AttributeProto::AttributeType type) {
    auto* attribute = node.add_attribute();
    attribute->set_name(name);
    attribute->set_type(type);
    return *attribute;
}

inline onnx::TensorProto& add_weights(onnx::GraphProto& graph, const std::string& name,
                                      const std::vector<std::int64_t>& dims,
                                      int type = onnx::TensorProto::FLOAT) {
    auto* tensor = graph.add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(type);
    for (const auto dim : dims)
        tensor->add_dims(dim);
    return *tensor;
}

inline Graph import_bytes(const std::string& bytes) {
    return import_onnx(std::span(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()),
                       "test.onnx");
}

inline Graph import_model(const onnx::ModelProto& model) {
    return import_bytes(model.SerializeAsString());
}

inline const Tensor* find_tensor(const Graph& graph, const std::string& name) {
    for (const auto& tensor : graph.tensors)
        if (tensor.name == name)
            return &tensor;
    return nullptr;
}

inline bool has_finding(const Graph& graph, FindingKind kind) {
    for (const auto& finding : graph.findings)
        if (finding.kind == kind)
            return true;
    return false;
}

inline std::vector<std::string> node_names(const Graph& graph) {
    std::vector<std::string> names;
    for (const auto& node : graph.nodes)
        names.push_back(node.name);
    return names;
}

} // namespace archsim::test
