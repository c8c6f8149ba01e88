// Measurements of the user's own, held against their estimates.

#include "archsim/core/finding.hpp"
#include "archsim/run/session.hpp"
#include "run/session/price_tables.hpp"

#include <cmath>
#include <fmt/format.h>

namespace archsim {

void Session::given(const std::vector<MeasuredRow>& rows) {
    prices_ = prices_->given({});
    std::vector<GivenRow> known;
    for (const MeasuredRow& row : rows) {
        if (row.metric == MeasuredMetric::power_w || row.metric == MeasuredMetric::energy_mj)
            throw InputError(fmt::format("measured {} on {}: give a time or a rate; power and energy are not "
                                         "learnt from",
                                         row.model, row.hardware));
        const bool rate = row.metric == MeasuredMetric::throughput_per_s;
        Conditions conditions;
        conditions.stack = row.runtime;
        conditions.precision = PrecisionConfig::parse(row.precision).value_or(PrecisionConfig{});
        conditions.scenario = row.scope == "offline" ? Scenario::throughput : Scenario::latency;
        conditions.scope = row.scope == "end_to_end" ? Scope::end_to_end : Scope::kernel;
        const Workload workload{.model = load(row.model), .batch = row.batch.value_or(1)};
        const Result result =
            estimate(workload, row.power_mode.empty() ? row.hardware : row.hardware + '@' + row.power_mode,
                     conditions);
        if (!result.ok())
            throw InputError(fmt::format("measured {} on {}: no estimate to hold it against: {}", row.model,
                                         row.hardware, result.estimate.reason));
        const Estimate& e = result.estimate;
        GivenRow given;
        given.family = name_of(result.device->family);
        given.device = result.device->id;
        given.runtime = result.runtime->id;
        given.metric = conditions.scenario == Scenario::throughput ? SpreadOf::throughput : SpreadOf::latency;
        if (const double all = e.compute_bound + e.memory_bound + e.overhead_bound; all > 0)
            given.lanes = {e.compute_bound / all, e.memory_bound / all, e.overhead_bound / all};
        constexpr double kMilli = 1e3;
        given.log_ratio =
            rate ? std::log(e.throughput_per_s / row.value) : std::log(row.value / (kMilli * e.latency_s));
        given.parts = result.machine->uncertainty->parts(given.metric, *result.device, *result.runtime);
        known.push_back(std::move(given));
    }
    prices_ = prices_->given(std::move(known));
}

} // namespace archsim
