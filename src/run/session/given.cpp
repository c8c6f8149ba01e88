// Measurements of the user's own, held against their estimates.

#include "archsim/core/finding.hpp"
#include "archsim/run/session.hpp"
#include "archsim/run/validate.hpp"
#include "run/session/price_tables.hpp"

#include <cmath>
#include <fmt/format.h>

namespace archsim {

namespace {

SpreadOf metric_of_row(const MeasuredRow& row) {
    return row.phase == "prefill" ? SpreadOf::prefill
           : !row.phase.empty()   ? SpreadOf::decode
           : row.metric == MeasuredMetric::throughput_per_s && row.scope == "offline" ? SpreadOf::throughput
                                                                                      : SpreadOf::latency;
}

} // namespace

void Session::given(const std::vector<MeasuredRow>& rows) {
    const auto plain = prices_->given({});
    prices_ = plain;
    std::vector<GivenRow> known;
    const RowEstimator estimator(*this);
    for (const MeasuredRow& row : rows) {
        const Prediction p = estimator(row);
        if (!p.ok())
            throw InputError(
                fmt::format("measured {} on {}: no estimate to hold it against: {}", row.model, row.hardware, p.reason));
        if (row.metric == MeasuredMetric::power_w || row.metric == MeasuredMetric::energy_mj)
            throw InputError(fmt::format("measured {} on {}: give a time or a rate; power and energy are not learnt from",
                                         row.model, row.hardware));
        const auto device = hardware_->device(row.hardware).device;
        const auto runtime = hardware_->runtime_for(*device, estimator.stack_of(row));
        const UncertaintyTable& table = *plain->uncertainty();
        GivenRow given;
        given.family = name_of(device->family);
        given.device = device->id;
        given.runtime = runtime->id;
        given.metric = metric_of_row(row);
        given.lanes = p.regime == "memory" ? LaneShares{0, 1, 0} : p.regime == "overhead" ? LaneShares{0, 0, 1} : LaneShares{1, 0, 0};
        given.log_ratio =
            std::log(row.value / p.predicted) * (row.metric == MeasuredMetric::throughput_per_s ? -1 : 1);
        given.parts = table.parts(given.metric, *device, *runtime);
        given.unseen = table.evidence(*device, *runtime, given.metric) != Evidence::device;
        known.push_back(std::move(given));
    }
    prices_ = plain->given(std::move(known));
}

} // namespace archsim
