#pragma once
// The same comparison at many batches: the best batch of each architecture, and where they overtake each
// other.

#include "archsim/report/compare_architectures.hpp"
#include "run/architecture_choice.hpp"
#include "run/subject.hpp"

namespace archsim {

/// `latency_bound_s` limits which batches may be the best; absent: none.
BatchSweep run_batch_sweep(const std::vector<std::int64_t>& batches,
                           const std::vector<ArchitectureChoice>& choices, const RunOptions& options,
                           std::optional<double> latency_bound_s, const CostOptions& cost,
                           SubjectAtBatches& subjects);

} // namespace archsim
