// Measurements of the user's own, held against their estimates.

#include "session/given.hpp"
#include "archsim/core/finding.hpp"
#include "archsim/run/session.hpp"
#include "estimate/intervals.hpp"
#include "session/price_tables.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace archsim {

void no_estimate(const MeasuredRow& row, const std::string& reason) {
    throw InputError(fmt::format("measured {} on {}: no estimate to hold it against: {}", row.model,
                                 row.hardware, reason));
}

/// A measured row beside its estimate: its machine and its error.
GivenRow given_row(const Machine& machine, SpreadOf metric, const LaneShares& lanes, double log_ratio) {
    GivenRow given{.family = std::string(name_of(machine.device->family)),
                   .device = machine.device->id,
                   .runtime = machine.runtime->id,
                   .metric = metric,
                   .lanes = lanes};
    constexpr double kMost = 50; // beyond it an estimate that follows is none: add_intervals() says so
    given.log_ratio = std::clamp(log_ratio, -kMost, kMost);
    given.parts = machine.uncertainty->parts(metric, *machine.device, *machine.runtime);
    return given;
}

void Session::given(const std::vector<MeasuredRow>& rows) {
    prices_ = prices_->given({});
    std::vector<GivenRow> known;
    for (const MeasuredRow& row : rows) {
        if (row.metric == MeasuredMetric::power_w || row.metric == MeasuredMetric::energy_mj)
            throw InputError(fmt::format("measured {} on {}: give a time or a rate; power and energy are not "
                                         "learnt from",
                                         row.model, row.hardware));
        const bool rate = row.metric == MeasuredMetric::throughput_per_s;
        constexpr double kMilli = 1e3;
        const std::string hardware =
            row.power_mode.empty() ? row.hardware : row.hardware + '@' + row.power_mode;
        Conditions conditions{.stack = row.runtime};
        if (!row.precision.empty()) // else what is usual: language models' is another than networks'
            conditions.precision = PrecisionConfig::parse(row.precision).value_or(PrecisionConfig{});
        if (!row.phase.empty()) {
            known.push_back(given_language_row(*this, row, hardware, conditions));
            continue;
        }
        conditions.scenario = row.scope == "offline" ? Scenario::throughput : Scenario::latency;
        conditions.scope = row.scope == "end_to_end" ? Scope::end_to_end : Scope::kernel;
        const Workload workload{
            .model = load(row.model), .batch = row.batch.value_or(1), .single_pass = true};
        const Result result = estimate(workload, hardware, conditions);
        if (!result.ok())
            no_estimate(row, result.estimate.reason);
        const Estimate& e = result.estimate;
        known.push_back(given_row(
            *result.machine,
            conditions.scenario == Scenario::throughput ? SpreadOf::throughput : SpreadOf::latency,
            lane_shares(e),
            rate ? std::log(e.throughput_per_s / row.value) : std::log(row.value / (kMilli * e.latency_s))));
    }
    prices_ = prices_->given(std::move(known));
}

} // namespace archsim
