#pragma once
// How much the same inference on the same machine varies from run to run: interrupts, clocks, other work of
// the host. It has nothing to do with the 90 % interval, which is how wrong the estimate may be.

#include "archsim/hardware/device.hpp"
#include "archsim/hardware/runtime.hpp"
#include "hardware/spread_rows.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace archsim {

/// Every row of hardware_db/percentiles.json in a data folder: logs of MLPerf Inference's single stream and
/// the latency tables of AWS Neuron. Throws InputError for a file that is missing or wrong.
std::vector<SpreadRow> read_latency_spread(const std::filesystem::path& data);
/// The rows of data_dir(), read when first asked for and kept.
std::span<const SpreadRow> latency_spread_rows();

/// Percentiles of repeated inferences, in seconds.
struct RunPercentiles {
    double p50 = 0, p90 = 0, p99 = 0, p999 = 0;
};

/// The time of repeated inferences of one kind of device under one stack beyond their median. P99 lies
/// `fixed_s` (the host's hand-over) and `share` of the median (clocks, memory) above it, the least absolute
/// relative error over the rows; outside of `shortest_s` to `longest_s` the ratio to the median stays as at
/// that end.
struct LatencySpread {
    double fixed_s = 0, share = 0;
    double shortest_s = 0, longest_s = 0;       ///< medians of the rows behind it
    double ninety = 0, nine_hundred_ninety = 0; ///< excess of P90 and P99.9 as parts of that of P99
    double least = 0, most = 0;                 ///< P99 over P50, less one, of the rows
    int rows = 0;
    std::string basis; ///< "19 runs: tensorrt on GPUs with memory of their own"

    /// Percentiles of an inference whose median is `p50_s`.
    RunPercentiles at(double p50_s) const;
    /// The time below which a part `u` of the inferences stays, u in [0, 1): straight lines between the
    /// percentiles. What is quicker than the median counts as the median, and what is slower than P99.9 as
    /// P99.9.
    double quantile(double p50_s, double u) const;
};

/// The spread of the narrowest class with four rows at least: stack, family and whether the device shares its
/// host's memory; then without the stack; then whether it shares memory alone; then all.
LatencySpread latency_spread(const Device& device, const Runtime& runtime,
                             std::span<const SpreadRow> all = latency_spread_rows());
/// The spread of `rows`; zeros without any. Tails that too few of them publish are those of `all`.
LatencySpread fit_spread(std::span<const SpreadRow> rows,
                         std::span<const SpreadRow> all = latency_spread_rows());

} // namespace archsim
