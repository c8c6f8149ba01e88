#pragma once
// Inputs that nobody published: does the answer hang on them?

#include "answers/architectures/architecture_choice.hpp"
#include "answers/architectures/compare_architectures.hpp"

namespace archsim {

/// Every input of assumed source that the machines use, 20 % down and up, one at a time.
Sensitivity run_sensitivity(const Session& session, const ArchitectureComparison& c,
                            const std::vector<ArchitectureChoice>& choices);

} // namespace archsim
