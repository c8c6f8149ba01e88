#pragma once
// Why there is no estimate: a line for each reason, with the devices that share it.

#include "archsim/compare/result.hpp"

#include <string>
#include <vector>

namespace archsim {

/// "A100, H100: needs 141 GB, the device has 80.0 GB"; results with an estimate are passed over. With a
/// model's name, "bert on A100, H100: ...", and "bert: ..." where every result has the same reason.
std::vector<std::string> failure_notes(const std::vector<const Result*>& results,
                                       const std::string& model = {});

} // namespace archsim
