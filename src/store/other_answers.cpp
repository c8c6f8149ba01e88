#include "archsim/store/other_answers.hpp"

#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace archsim {

namespace {

std::optional<Measure> not_of_an_estimate(const Result&, const CostOptions&) {
    return std::nullopt;
}

Metric time_metric(const char* key, const char* title) {
    return {.key = key,
            .title = title,
            .unit = "s",
            .better = Better::lower,
            .measure = not_of_an_estimate,
            .quantity = QuantityKind::time,
            .field = fmt::format("{}_s", key),
            .scale = 1e3,
            .column_unit = "ms",
            .recommend = false};
}

Metric rate_metric(const char* key, const char* title) {
    return {.key = key,
            .title = title,
            .unit = "1/s",
            .better = Better::higher,
            .measure = not_of_an_estimate,
            .quantity = QuantityKind::rate,
            .field = fmt::format("{}_per_s", key),
            .recommend = false};
}

Metric plain_metric(const char* key, const char* title) {
    return {.key = key,
            .title = title,
            .better = Better::lower,
            .measure = not_of_an_estimate,
            .recommend = false};
}

std::string sizes_text(const nlohmann::json& sizes) {
    return sizes.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// "Jetson-Orin-Nano@15W" as its two parts.
void name_device(const std::string& asked, CellKey& key) {
    const std::size_t at = asked.find('@');
    key.hardware = asked.substr(0, at);
    if (at != std::string::npos)
        key.power_mode = asked.substr(at + 1);
}

Measure point_measure(double value) {
    return {value, {value, value}};
}

} // namespace

const MetricTable& saved_metrics() {
    static const MetricTable table = MetricTable::standard()
                                         .with(time_metric("ttft_p50", "Time to first token, P50"))
                                         .with(time_metric("ttft_p99", "Time to first token, P99"))
                                         .with(time_metric("tpot_p50", "Time per output token, P50"))
                                         .with(time_metric("tpot_p99", "Time per output token, P99"))
                                         .with(time_metric("answer_p99", "Time of an answer, P99"))
                                         .with(rate_metric("served_requests", "Requests served"))
                                         .with(rate_metric("served_tokens", "Tokens answered"))
                                         .with(rate_metric("serving_capacity", "Requests at most"))
                                         .with(plain_metric("measured", "Measured value"))
                                         .with(plain_metric("error", "Error of the prediction"));
    return table;
}

SavedResult saved_row(const ServingResult& result, const ServingRequest& request) {
    SavedResult row;
    row.key.model = result.model;
    nlohmann::json load = {{"parallel", to_string(result.parallelism)}};
    if (request.load.rate_per_s > 0) // as asked: a rate that was searched is an answer
        load["rate_per_s"] = request.load.rate_per_s;
    if (result.in_flight > 0)
        load["in_flight"] = result.in_flight;
    row.key.dims = sizes_text(load);
    name_device(result.hardware, row.key);
    row.key.runtime = result.runtime;
    row.key.precision = row.executed_precision = result.precision;
    row.key.scenario = "served";
    row.key.scope = "end_to_end";
    row.key.prompt_tokens = std::llround(request.load.prompt_tokens);
    row.key.generate_tokens = std::llround(request.load.output_tokens);
    row.key.devices = static_cast<double>(result.parallelism.devices());
    row.status = result.ok ? "ok" : "failed";
    row.reason = result.reason;
    if (!result.ok)
        return row;
    const ServingSummary& s = result.summary;
    const auto wait = [](const Percentiles& value, const PercentileBounds& bounds,
                         double Percentiles::*which) {
        return Measure{value.*which, {bounds.low.*which, bounds.high.*which}};
    };
    const WaitBounds& b = result.bounds;
    row.metrics["ttft_p50"] = wait(s.time_to_first_s, b.time_to_first_s, &Percentiles::p50);
    row.metrics["ttft_p99"] = wait(s.time_to_first_s, b.time_to_first_s, &Percentiles::p99);
    row.metrics["tpot_p50"] = wait(s.time_per_token_s, b.time_per_token_s, &Percentiles::p50);
    row.metrics["tpot_p99"] = wait(s.time_per_token_s, b.time_per_token_s, &Percentiles::p99);
    row.metrics["answer_p99"] = wait(s.end_to_end_s, b.end_to_end_s, &Percentiles::p99);
    row.metrics["served_requests"] = point_measure(s.requests_per_s);
    row.metrics["served_tokens"] = point_measure(s.output_tokens_per_s);
    if (result.capacity_per_s > 0)
        row.metrics["serving_capacity"] = point_measure(result.capacity_per_s);
    row.metrics[metric::power.key] = point_measure(s.watts);
    return row;
}

SavedResult saved_row(const SweepRow& point, const SweepRequest& request) {
    SavedResult row;
    row.key.model = point.model;
    nlohmann::json factors = nlohmann::json::object();
    for (const auto& [name, size] : request.sizes.dims)
        factors[name] = size;
    for (std::size_t i = 0; i < request.axes.size() && i < point.factors.size(); ++i)
        factors[request.axes[i].name] = point.factors[i];
    row.key.dims = sizes_text(factors);
    name_device(point.hardware, row.key);
    row.key.runtime = point.runtime;
    row.key.precision = point.precision;
    row.executed_precision = point.executed;
    row.key.batch_size = point.batch;
    row.key.scenario = name_of(request.conditions.scenario);
    row.key.scope = name_of(request.conditions.scope);
    row.key.devices = request.conditions.devices;
    row.status = name_of(point.status);
    row.reason = point.reason;
    const auto metrics = point.metrics->rows();
    for (std::size_t i = 0; i < metrics.size() && i < point.measures.size(); ++i)
        if (point.measures[i])
            row.metrics[metrics[i]->key] = *point.measures[i];
    return row;
}

SavedResult saved_row(const ValidatedRow& validated) {
    const MeasuredRow& m = validated.measured;
    const Prediction& p = validated.prediction;
    SavedResult row;
    row.key.model = m.model;
    row.key.dims = sizes_text({{"row", m.id}});
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
    row.metrics["measured"] = point_measure(m.value * unit);
    if (!p.ok())
        return row;
    const Metric& of = m.metric == MeasuredMetric::latency_ms         ? metric::latency
                       : m.metric == MeasuredMetric::throughput_per_s ? metric::throughput
                       : m.metric == MeasuredMetric::power_w          ? metric::power
                                                                      : metric::energy;
    row.metrics[of.key] = {p.predicted * unit, {p.low * unit, p.high * unit}};
    row.metrics["error"] = point_measure(std::abs(validated.error()));
    return row;
}

} // namespace archsim
