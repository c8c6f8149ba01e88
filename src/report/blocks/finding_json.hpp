#pragma once
// A finding as every document has it.
//
//   {"kind": "unknown_field", "severity": "error", "file": "chip.json", "where": "/powr",
//    "message": "...", "hint": "\"power\" meant?", "op_type": "", "domain": "", "opset": 0}

#include "archsim/core/export.hpp"
#include "archsim/core/finding.hpp"

#include <nlohmann/json.hpp>

#include <vector>

namespace archsim {

ARCHSIM_API nlohmann::ordered_json finding_json(const Finding& finding);
ARCHSIM_API nlohmann::ordered_json findings_json(const std::vector<Finding>& findings);

} // namespace archsim
