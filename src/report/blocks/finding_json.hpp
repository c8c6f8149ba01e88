#pragma once
// A finding as every document has it.
//
//   {"kind": "unknown_key", "severity": "error", "file": "chip.json", "where": "/powr",
//    "message": "...", "hint": "\"power\" meant?", "op_type": "", "domain": "", "opset": 0}

#include "archsim/core/finding.hpp"
#include "fields/json_members.hpp"

namespace archsim {

Members<Finding> finding_members();

} // namespace archsim
