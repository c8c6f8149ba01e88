#pragma once
// Reads what a stack's compiler takes:
//   {"refused": [{"operators": ["ConvTranspose"], "generations": ["ethos-u"], "when": {"stride": {"above":
//   2}},
//                 "because": "...", "source": "S1"}],
//    "lists": [{"operators": ["Add", ...], "because": "...", "source": "S2"}],
//    "rest_follows": {"because": "...", "source": "S2"}}

#include "hardware/json_reader.hpp"
#include "hardware/operator_rules.hpp"

namespace archsim {

std::shared_ptr<const OperatorRules> read_operator_rules(ObjectReader& block);

/// Operators that no row of the operator table describes, as they are named in these rules.
std::vector<std::string> unknown_operators(const OperatorRules& rules);

} // namespace archsim
