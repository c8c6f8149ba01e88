#pragma once
// Errors on rows that the parameters have not seen, beside those of the shipped parameters.

#include "archsim/extend/renderer.hpp"
#include "fit/errors/left_out.hpp"

namespace archsim {

/// How many numbers were chosen with measurements in view, and on how many rows.
void add_support(const std::vector<FitSupport>& support, Report& report);
void add_left_out(const Validation& shipped, const LeftOutValidation& left_out, Report& report);

} // namespace archsim
