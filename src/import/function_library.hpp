#pragma once
// The model-local functions of a file.

#include "import/findings.hpp"

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <onnx/onnx_pb.h>

namespace archsim::import {

/// (domain, version); the domain "ai.onnx" is written "".
using Opsets = std::vector<std::pair<std::string, int>>;

struct Function {
    const onnx::FunctionProto* body = nullptr;
    Opsets opsets;
    std::vector<onnx::AttributeProto> defaults; ///< attributes that a call may leave out
};

class FunctionLibrary {
  public:
    FunctionLibrary(const onnx::ModelProto& model, Findings& findings);

    /// The function that a node calls; null when it is an operator.
    const Function* find(const onnx::NodeProto& node) const;

  private:
    std::unordered_map<std::string, Function> functions_;
};

std::string_view normalized_domain(const std::string& domain);
Opsets read_opsets(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports);

} // namespace archsim::import
