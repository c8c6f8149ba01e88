#pragma once
// One model on some devices at rising batch sizes. A request goes in; a result for each device and batch, and
// the best batch of each device, come out.

#include "answers/batch/batch_analysis.hpp"
#include "archsim/run/session.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace archsim {

/// What is asked, and what runs.
struct BatchRequest {
    std::string model = {}; ///< catalogue name or path of the workload's model; empty: it is loaded already
    Workload workload = {};
    Conditions conditions = {};
    std::vector<std::string> hardware = {};
    std::vector<double> device_counts = {}; ///< each in turn is the conditions' devices; empty: theirs alone
    std::vector<std::int64_t> batches = {}; ///< each in turn is the workload's; sorted, doubles removed
    DecisionRequest limits = {};
    /// Called after each estimate.
    std::function<void(std::size_t done, std::size_t total)> progress = {};
};

/// Estimates every batch on every device. A batch that fails (it does not fit, say) becomes a point with its
/// reason. Throws InputError for unknown names, UsageError for no batch or one below 1.
BatchAnalysis analyze_batches(const Session& session, const BatchRequest& request);

} // namespace archsim
