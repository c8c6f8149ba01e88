#pragma once
// Findings in lines, equal ones together: 88 notes about the same operator are one line with a count.

#include "archsim/core/finding.hpp"
#include "fields/json_members.hpp"

#include <string>
#include <vector>

namespace archsim {

/// One line of findings that say the same of different places.
struct FindingLine {
    Severity severity = Severity::note;
    std::string text; ///< to_string of the first, and "(and 87 more places like it)"
};

/// In the order of their first finding. What differs in numbers alone is the same.
std::vector<FindingLine> finding_lines(const std::vector<Finding>& findings);

// A finding as every document has it.
//
//   {"kind": "unknown_key", "severity": "error", "file": "chip.json", "where": "/powr",
//    "message": "...", "hint": "\"power\" meant?", "op_type": "", "domain": "", "opset": 0}

Members<Finding> finding_members();

} // namespace archsim
