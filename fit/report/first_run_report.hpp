#pragma once
// What a version said of rows before they were fitted, beside what is said of them now.

#include "archsim/extend/renderer.hpp"
#include "fit/errors/first_run.hpp"
#include "fit/errors/left_out.hpp"

namespace archsim {

/// Rows of weight >= kTrustedWeight that had an estimate then and have one now; nothing where there is none.
void add_first_run(const Validation& shipped, const LeftOutValidation* left_out,
                   const std::vector<FirstRun>& first, Report& report);

} // namespace archsim
