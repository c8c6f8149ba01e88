#pragma once
// The same comparison at many batches: the best batch of each architecture, and where they overtake each
// other.

#include "answers/architectures/architecture_choice.hpp"
#include "answers/architectures/compare_architectures.hpp"

namespace archsim {

/// The request's workload at every batch of its sweep; its limits say which batches may be the best.
BatchSweep run_batch_sweep(const Session& session, const CompareArchitecturesRequest& request,
                           const std::vector<ArchitectureChoice>& choices);

} // namespace archsim
