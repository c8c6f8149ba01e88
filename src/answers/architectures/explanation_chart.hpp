#pragma once
#include "answers/architectures/compare_architectures_report.hpp"

namespace archsim {

/// From the value of the second architecture to that of the first, one step per cause.
Chart explanation_chart(const ArchitectureComparison& comparison, const Explanation& explanation);

} // namespace archsim
