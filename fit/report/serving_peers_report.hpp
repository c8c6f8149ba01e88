#pragma once
// Measured servers beside what simulators predicted for them:
//
//   Error of the time that clients wait (median / mean over runs)
//   Simulator      Runs   E2E mean      E2E P99       TTFT mean     TTFT P99      ITL mean
//                         (%)           (%)           (%)           (%)           (%)
//   archsim          11   7.4 / 7.9     9.8 / 10.2    ...

#include "archsim/extend/renderer.hpp"
#include "fit/errors/serving_peers.hpp"

#include <vector>

namespace archsim {

/// Errors by simulator and metric, and below them every row.
Report describe_serving_peers(const ServingPeers& peers);

// Layouts of servers that were measured beside each other:
//
//   Configurations of servers, by model
//   Model          Configurations  Rows    TTFT          TPOT          TPOT bias  ...
//                                          (%)           (%)           (%)
//   gpt-oss-120b                5   333    21.0 / 30.1   11.4 / 13.0   -3.1

/// Errors by model and by what runs it, and how often the layout that the estimate would choose is the best
/// one; with `every`, each row below them.
Report describe_serving_layouts(const ServingLayouts& layouts, bool every = false);

// Memory that engines logged, beside what is estimated:
//
//   Memory by quantity
//   Quantity           Rows   Median error   Largest
//                             (%)            (%)
//   weights              28   0.3            2.4

/// Errors by quantity, whether what ran out fits by the estimate, and below them every row.
Report describe_memory_logs(const std::vector<MemoryLogRow>& rows);

} // namespace archsim
