#include "fit/report/saved_row.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

namespace archsim {

SavedResult saved_row(const ValidatedRow& validated) {
    const MeasuredRow& m = validated.measured;
    const Prediction& p = validated.prediction;
    SavedResult row;
    row.key.model = m.model;
    row.key.dims =
        nlohmann::json({{"row", m.id}}).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    row.key.hardware = m.hardware;
    row.key.power_mode = m.power_mode;
    row.key.runtime = p.runtime.empty() ? m.runtime : p.runtime;
    row.key.precision = m.precision;
    row.key.batch_size = m.batch.value_or(0);
    row.key.scenario = "measured";
    row.key.scope = m.scope;
    row.key.devices = m.devices;
    row.family = p.family;
    row.status = p.status;
    row.reason = p.reason;
    constexpr double kMilli = 1e-3;
    const bool milli = m.metric == MeasuredMetric::latency_ms || m.metric == MeasuredMetric::energy_mj;
    const double unit = milli ? kMilli : 1;
    row.metrics["measured"] = {m.value * unit, {m.value * unit, m.value * unit}};
    if (!p.ok())
        return row;
    const Metric& of = m.metric == MeasuredMetric::latency_ms         ? metric::latency
                       : m.metric == MeasuredMetric::throughput_per_s ? metric::throughput
                       : m.metric == MeasuredMetric::power_w          ? metric::power
                                                                      : metric::energy;
    row.metrics[of.key] = {p.predicted * unit, {p.low * unit, p.high * unit}};
    const double error = std::abs(validated.error());
    row.metrics["error"] = {error, {error, error}};
    return row;
}

} // namespace archsim
