#pragma once
// The operators that can be read, as the table in src/ops has them.

#include "archsim/core/export.hpp"
#include "archsim/ops/registry.hpp"
#include "archsim/report/report.hpp"

#include <string>

namespace archsim {

/// One table per domain, sorted by name; with `one_table` a single one, for spreadsheets.
ARCHSIM_API Report describe(const OperatorRegistry& operators, bool one_table = false);
/// {"schema": "archsim.operators/1", "newest_opset": 26, "operators": [{"domain", "name", "since", "kind",
/// "fusion", "vector_per_element", "special_per_element", "doc"}]}
ARCHSIM_API std::string to_json(const OperatorRegistry& operators);

} // namespace archsim
