#pragma once
#include "archsim/core/export.hpp"
#include "archsim/report/comprehensive.hpp"
#include "archsim/run/analyze_batch.hpp"

namespace archsim {

/// One estimate at `batch`, its checks and breakdown, and the sweep over `request.batches` (none: no sweep)
/// on `request.hardware.front()`.
ARCHSIM_API ComprehensiveAnalysis analyze_comprehensive(const Session& session, const BatchRequest& request,
                                                        std::int64_t batch, const Bindings& bindings,
                                                        const RunOptions& options);

} // namespace archsim
