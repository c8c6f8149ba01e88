#pragma once
// Inputs that nobody published: does the answer hang on them?

#include "archsim/report/compare_architectures.hpp"
#include "run/architecture_choice.hpp"
#include "run/subject.hpp"

namespace archsim {

/// Every input of assumed source that the machines use, 20 % down and up, one at a time.
Sensitivity run_sensitivity(const ArchitectureComparison& c, const std::vector<ArchitectureChoice>& choices,
                            const RunOptions& options, SubjectAtBatches& subjects);

} // namespace archsim
