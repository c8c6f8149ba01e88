#pragma once
// The operators that can be read, as the table in src/ops has them.

#include "archsim/extend/operator.hpp"
#include "archsim/extend/renderer.hpp"

#include <string>

namespace archsim {

/// One table per domain, sorted by name; CSV: one table.
Report describe(const OperatorRegistry& operators, PlainView view = {}, Format format = Format::text);
/// {"schema": "archsim.operators/1", "newest_opset": 26, "operators": [{"domain", "name", "since", "kind",
/// "fusion", "vector_per_element", "special_per_element", "doc"}]}
std::string to_json(const OperatorRegistry& operators, PlainView view = {});

} // namespace archsim
