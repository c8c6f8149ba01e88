#pragma once
// Everything about one model on one device.

#include "answers/batch/analyze_batch.hpp"
#include "answers/comprehensive/breakdown.hpp"
#include "archsim/core/export.hpp"

#include <vector>

namespace archsim {

/// Everything about one model on one device.
struct ComprehensiveAnalysis {
    Result result;
    Decision decision; ///< on the one result
    std::vector<KindShare> kinds;
    BatchAnalysis batches; ///< without series where not asked for
};

/// The workload of the request on its first device: one estimate, its checks and breakdown, and the sweep
/// over `request.batches` (none: no sweep). Throws as analyze_batches does.
ARCHSIM_API ComprehensiveAnalysis analyze_comprehensive(const Session& session, const BatchRequest& request);

} // namespace archsim
