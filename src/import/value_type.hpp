#pragma once
// TypeProto messages: the declared element type, kind and shape of a value.

#include "archsim/graph/graph.hpp"
#include "import/findings.hpp"

#include <string>

namespace onnx {
class TypeProto;
}

namespace archsim::import {

/// Writes what the file declares into `tensor`. Impossible dimensions are reported and left unknown.
void read_type(const onnx::TypeProto& type, Tensor& tensor, Findings& findings);

} // namespace archsim::import
