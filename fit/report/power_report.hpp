#pragma once
// Power and energy of a validation as a table of their own.
//
//   Metric     Boundary  Family  Regime  Rows  Median  Bias    In interval  Network out  Device out  Worst
//   row power_w    all                        120  11 %    -4.1 %  92 %         13 %         21 % h100-...
//   +41 %

#include "archsim/extend/renderer.hpp"
#include "fit/errors/left_out.hpp"
#include "fit/errors/validation.hpp"

namespace archsim {

/// Adds a heading and the table where there are such rows. `left_out` may be null.
void add_power(const Validation& validation, const LeftOutValidation* left_out, Report& report);

} // namespace archsim
