#include "fit/report/validation_report.hpp"
#include "report/blocks/number_format.hpp"

#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <utility>

namespace archsim {

namespace {

std::string error_line(std::string_view of, const ValidationGroup& group) {
    const ErrorStatistics& e = group.errors;
    return e.n == 0
               ? std::string()
               : fmt::format("{}: median error {}, 90 % of {} within {}, bias {}; {} lie in their 90 % "
                             "interval.",
                             of, format_percent(e.median_ape), plural(e.n, "measurement"),
                             format_percent(e.p90_ape), signed_percent(e.bias), format_percent(e.coverage));
}

const ValidatedRow* worst_row(const Validation& validation) {
    const ValidatedRow* worst = nullptr;
    const auto distance = [](const ValidatedRow& row) {
        return std::abs(std::log(row.prediction.predicted / row.measured.value));
    };
    for (const ValidatedRow& row : validation.rows)
        if (row.prediction.ok() && (worst == nullptr || distance(row) > distance(*worst)))
            worst = &row;
    return worst;
}

} // namespace

std::vector<std::string> verdict_lines(const ValidationAnswer& answer) {
    const Validation& v = answer.validation;
    std::vector<std::string> lines;
    const auto add = [&](std::string line) {
        if (!line.empty())
            lines.push_back(std::move(line));
    };
    const bool trusted = v.trusted.all.errors.n > 0;
    add(trusted ? error_line(fmt::format("Rows of weight {:g} or more", kTrustedWeight), v.trusted.all)
                : error_line("All rows", v.every.all));
    if (answer.left_out) {
        add(error_line("Networks left out of the fits", answer.left_out->without_model.trusted.all));
        add(error_line("Devices left out of the fits", answer.left_out->without_device.trusted.all));
    }
    const ValidatedRow* worst = worst_row(v);
    if (worst == nullptr)
        return {"None of these measurements could be estimated: the table says why."};
    lines.push_back(fmt::format("Farthest off: {}, {} ({} estimated, {} measured).", worst->measured.id,
                                signed_percent(worst->error()), format_number(worst->prediction.predicted),
                                format_number(worst->measured.value)));
    return lines;
}

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
