#pragma once
// Percentiles of an inference's latency: run to run, and under an arrival rate with the wait in the queue.

#include "archsim/compare/result.hpp"
#include "result/latency_spread.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace archsim {

/// The load under which percentiles are asked for.
struct PercentileRequest {
    double rate_per_s = 0;         ///< items that arrive, Poisson; 0: one query after the other
    std::int64_t requests = 50000; ///< simulated: fifty lie beyond P99.9
    std::uint64_t seed = 1;
    /// What runs differ by: Session::spread_rows(). Null: those of data_dir().
    std::shared_ptr<const std::vector<SpreadRow>> rows;
};

/// A queue before the device: items wait until it is free, and up to a batch of those that wait run together.
struct QueuedPercentiles {
    RunPercentiles latency;    ///< from arrival to end, in seconds; zeros when overloaded
    double mean_wait_s = 0;    ///< before the batch begins
    double utilization = 0;    ///< busy part of the time
    double capacity_per_s = 0; ///< items per second that the device completes when the queue never empties
    bool overloaded = false;   ///< the rate is above it: the queue grows without bound
};

/// Percentiles of one result.
struct ResultPercentiles {
    LatencySpread spread;
    RunPercentiles run_to_run;
    std::optional<QueuedPercentiles> queued; ///< with a rate
};

/// The estimate is taken as the median. A batch takes the time of the full one, whoever is in it. Nothing
/// where the result has no estimate. Throws UsageError for a rate that is negative or not finite.
std::optional<ResultPercentiles> percentiles(const Result& result, const PercentileRequest& request = {});

} // namespace archsim
