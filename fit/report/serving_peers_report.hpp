#pragma once
// Measured servers beside what simulators predicted for them:
//
//   Error of the time that clients wait (median / mean over runs)
//   Simulator      Runs   E2E mean      E2E P99       TTFT mean     TTFT P99      ITL mean
//                         (%)           (%)           (%)           (%)           (%)
//   archsim          11   7.4 / 7.9     9.8 / 10.2    ...

#include "archsim/extend/renderer.hpp"
#include "fit/errors/serving_peers.hpp"

namespace archsim {

/// Errors by simulator and metric, and below them every row.
Report describe_serving_peers(const ServingPeers& peers);

} // namespace archsim
