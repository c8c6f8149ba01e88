#pragma once
// The model-local functions of a file.

#include "import/findings.hpp"
#include "import/messages.hpp"

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace archsim::import {

/// (domain, version); the domain "ai.onnx" is written "".
using Opsets = std::vector<std::pair<std::string, int>>;

struct Function {
    const FunctionMessage* body = nullptr;
    Opsets opsets;
};

class FunctionLibrary {
  public:
    FunctionLibrary(const ModelMessage& model, Findings& findings);

    /// The function that a node calls; null when it is an operator.
    const Function* find(const NodeMessage& node) const;

  private:
    std::unordered_map<std::string, Function> functions_;
};

std::string_view normalized_domain(std::string_view domain);
Opsets read_opsets(const ArenaList<Opset>& imports);

} // namespace archsim::import
