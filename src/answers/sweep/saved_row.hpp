#pragma once
// Points of a design space as rows of a file of results.

#include "answers/sweep/sweep.hpp"
#include "answers/sweep/sweep_row.hpp"
#include "store/results_file.hpp"

namespace archsim {

/// The question is the point's factors.
SavedResult saved_row(const SweepRow& row, const SweepRequest& request);

} // namespace archsim
