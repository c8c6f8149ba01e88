#pragma once
// A measurement with its prediction as a row of a file of results.

#include "fit/errors/validation.hpp"
#include "store/results_file.hpp"

namespace archsim {

/// The predicted value as the metric that it is of, the measured one, and the error without its sign. The
/// question is the row of the measurements' file.
SavedResult saved_row(const ValidatedRow& row);

} // namespace archsim
