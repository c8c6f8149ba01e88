#pragma once
#include "ops/precision_mix.hpp"

#include <string>
#include <vector>

namespace archsim {

/// "int8 98.2 % of operations, fp32 1.8 %".
std::string precision_text(const std::vector<FormatShare>& mix);
/// "4-bit 84.1 %, 32-bit 15.9 %".
std::string weight_text(const std::vector<WeightShare>& mix);

} // namespace archsim
