#pragma once
// "--what-if bandwidth=2x tdp=15W batch=8": the same question about devices or a workload that differ.

#include "archsim/map/machine_changes.hpp"
#include "archsim/report/compare_architectures.hpp"
#include "run/architecture_choice.hpp"
#include "run/subject.hpp"

namespace archsim {

/// Estimates every architecture with the changes of `asked`: LEVER=FACTOR ("bandwidth=2x", "fixed_cost=50%"),
/// tdp=WATTS, batch=N or precision=NAME; ARCHITECTURE:LEVER=... changes one device only. Throws UsageError
/// for anything else.
WhatIf run_what_if(const std::vector<std::string>& asked, const std::vector<ArchitectureChoice>& choices,
                   std::int64_t batch, RunOptions options, SubjectAtBatches& subjects);

} // namespace archsim
