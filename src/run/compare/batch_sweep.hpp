#pragma once
// The same comparison at many batches: the best batch of each architecture, and where they overtake each
// other.

#include "run/compare/architecture_choice.hpp"
#include "run/compare/compare_architectures.hpp"

namespace archsim {

/// The request's workload at every batch of its sweep; its limits say which batches may be the best.
BatchSweep run_batch_sweep(const Session& session, const CompareArchitecturesRequest& request,
                           const std::vector<ArchitectureChoice>& choices);

} // namespace archsim
