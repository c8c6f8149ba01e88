#pragma once
// "--what-if bandwidth=2x tdp=15W batch=8": the same question about devices or a workload that differ.

#include "answers/architectures/architecture_choice.hpp"
#include "answers/architectures/compare_architectures.hpp"

namespace archsim {

/// Estimates every architecture with the changes that the request asks for: LEVER=FACTOR ("bandwidth=2x",
/// "fixed_cost=50%"), tdp=WATTS, batch=N or precision=NAME; ARCHITECTURE:LEVER=... changes one device only.
/// Throws UsageError for anything else.
WhatIf run_what_if(const Session& session, const CompareArchitecturesRequest& request,
                   const std::vector<ArchitectureChoice>& choices);

} // namespace archsim
