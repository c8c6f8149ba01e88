#pragma once
// An answer as the passes that it adds up to, each with its subgraphs: what a difference is taken apart by.

#include "archsim/run/session.hpp"

namespace archsim {

/// The estimate of a workload with a prompt; where it has one, its parts are the pass over the prompt and
/// steps at the contexts at which they are priced. Throws UsageError for a model that is shared in stages,
/// copies or groups, or is served (Scenario::throughput), or has parts before the prompt: what these add is
/// of no pass.
Result answer_in_passes(const Session& session, const Workload& workload, std::string_view device,
                        const Conditions& conditions);

} // namespace archsim
