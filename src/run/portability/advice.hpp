#pragma once
#include "run/portability/trial.hpp"

#include <vector>

namespace archsim {

/// The changes of the model that save most time per item, best first, at most `most`: known rewrites,
/// channels at multiples of tiles, batches, padded sequences; each done on the graph and estimated.
/// `before_s` is the time per item as it is.
std::vector<RewriteOutcome> advise(const Trial& trial, const Graph& graph, const PortabilityRequest& request,
                                   double before_s, std::size_t most);

} // namespace archsim
