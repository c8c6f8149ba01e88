#pragma once
// Shared by the energy reports.

#include "archsim/report/energy_report.hpp"

namespace archsim {

/// Chips that worked on a result together.
double chips_of(const Result& result);

} // namespace archsim
