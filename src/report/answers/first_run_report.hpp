#pragma once
// What a version said of rows before they were fitted, beside what is said of them now.

#include "archsim/compare/first_run.hpp"
#include "archsim/compare/left_out.hpp"
#include "archsim/report/report.hpp"

namespace archsim {

/// Rows of weight >= kTrustedWeight that had an estimate then and have one now; nothing where there is none.
void add_first_run(const Validation& shipped, const LeftOutValidation* left_out,
                   const std::vector<FirstRun>& first, Report& report);

} // namespace archsim
