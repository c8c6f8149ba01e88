#pragma once
// Errors on rows that the parameters have not seen, beside those of the shipped parameters.

#include "archsim/compare/left_out.hpp"
#include "archsim/report/report.hpp"

namespace archsim {

void add_left_out(const Validation& shipped, const LeftOutValidation& left_out, Report& report);

} // namespace archsim
