#pragma once
// What is wrong with device files of one's own, beside the estimates made from them:
//
//   Warning: nano2.json: no power mode runs all 16 units, the largest runs 8: more units change nothing (one
//   of 6 findings; list_hardware_mappers --check nano2.json).

#include "archsim/compare/result.hpp"

#include <span>
#include <string>
#include <vector>

namespace archsim {

/// One sentence per device file with findings, in the order of the results; empty: all files are sound.
std::vector<std::string> device_warnings(std::span<const Result> results);

} // namespace archsim
