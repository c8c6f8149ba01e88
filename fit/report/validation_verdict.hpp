#pragma once
// The first lines of a validation: how far off, on left-out rows too, and the worst row.

#include "fit/report/validation_report.hpp"

#include <string>
#include <vector>

namespace archsim {

/// "Median error 7.7 % over 724 trusted measurements, ...", on left-out rows too, and the worst row.
std::vector<std::string> verdict_lines(const ValidationAnswer& answer);

} // namespace archsim
