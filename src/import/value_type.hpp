#pragma once
// The TypeProto of a value, still encoded: its element type, kind and shape.

#include "archsim/graph/graph.hpp"
#include "import/findings.hpp"

#include <string_view>

namespace archsim::import {

/// Writes what the file declares into `tensor`. Impossible dimensions are reported and left unknown. Throws
/// protozero::exception where the bytes are no such message.
void read_type(std::string_view type, Tensor& tensor, Findings& findings);

} // namespace archsim::import
