#pragma once
#include "answers/portability/trial.hpp"

#include <vector>

namespace archsim {

/// The changes of the model that save most time per item, best first, at most `most`: known rewrites,
/// channels at multiples of tiles, dense windows in place of depthwise and 1x1, sizes of attention heads, one
/// block in int8, batches, padded sequences; each done on the graph and estimated. `before` is the estimate
/// as it is, with its subgraphs.
std::vector<RewriteOutcome> advise(const Trial& trial, const Graph& graph, const PortabilityRequest& request,
                                   const Result& before, std::size_t most);

} // namespace archsim
