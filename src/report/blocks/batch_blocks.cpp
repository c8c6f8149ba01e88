#include "report/blocks/batch_blocks.hpp"

#include "report/blocks/metric_text.hpp"
#include "report/blocks/result_row.hpp"

#include <fmt/format.h>

namespace archsim {

namespace {

using Json = nlohmann::ordered_json;

std::string point_text(const BatchSeries& series, std::size_t index) {
    const BatchPoint& point = series.points[index];
    const auto text = [&](const Metric& m) { return format_value(m, value_or_nan(point.result, m)); };
    return fmt::format("batch {}: {}, {} per batch, {} per item, {}", point.batch, text(metric::throughput),
                       text(metric::latency), text(metric::energy), text(metric::memory));
}

} // namespace

Facts best_batch_facts(const BatchAnalysis& analysis, const std::vector<std::string>& labels) {
    Facts facts;
    for (std::size_t i = 0; i < analysis.series.size(); ++i) {
        const BatchSeries& series = analysis.series[i];
        const BestBatches best = best_batches(series);
        facts.items.push_back({labels[i], ""});
        if (!best.throughput) {
            facts.items.push_back({"None", "no batch has an estimate that keeps the limits", 1});
            continue;
        }
        facts.items.push_back({"Most throughput", point_text(series, *best.throughput), 1});
        facts.items.push_back({"Knee", point_text(series, *best.knee), 1});
        facts.items.push_back({"Least latency", point_text(series, *best.latency), 1});
        if (best.energy)
            facts.items.push_back({"Least energy", point_text(series, *best.energy), 1});
    }
    return facts;
}

std::vector<std::string> batch_lines(const BatchAnalysis& analysis, const std::vector<std::string>& labels) {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < analysis.series.size(); ++i) {
        const BatchSeries& series = analysis.series[i];
        const BestBatches best = best_batches(series);
        if (!best.throughput || !best.knee || !best.latency) {
            lines.push_back(fmt::format("{}: no batch has an estimate that keeps the limits.", labels[i]));
            continue;
        }
        const auto text = [&](std::size_t at, const Metric& m) {
            return format_value(m, value_or_nan(series.points[at].result, m));
        };
        const auto batch = [&](std::size_t at) { return series.points[at].batch; };
        lines.push_back(fmt::format(
            "{}: batch {} reaches {:.0f} % of the most throughput, {} in {}; batch {} the most, {}; batch {} "
            "answers first, in {}.",
            labels[i], batch(*best.knee),
            100 * value_or_nan(series.points[*best.knee].result, metric::throughput) /
                value_or_nan(series.points[*best.throughput].result, metric::throughput),
            text(*best.knee, metric::throughput), text(*best.knee, metric::latency), batch(*best.throughput),
            text(*best.throughput, metric::throughput), batch(*best.latency),
            text(*best.latency, metric::latency)));
    }
    return lines;
}

nlohmann::ordered_json best_batch_json(const BatchSeries& series) {
    const BestBatches best = best_batches(series);
    const auto batch = [&](const std::optional<std::size_t>& index) {
        return index ? Json(series.points[*index].batch) : Json(nullptr);
    };
    return {{"throughput", batch(best.throughput)},
            {"latency", batch(best.latency)},
            {"energy", batch(best.energy)},
            {"knee", batch(best.knee)}};
}

Json batch_points_json(const BatchAnalysis& analysis, const BatchSeries& series) {
    Json points = Json::array();
    for (const BatchPoint& point : series.points)
        points.push_back(result_json({&point.result, static_cast<double>(point.batch), 0},
                                     {analysis.metrics, analysis.limits.cost}));
    return points;
}

std::string best_batch_heading(const BatchAnalysis& analysis) {
    return analysis.limits.constraints.empty() ? "Best batch" : "Best batch that keeps the limits";
}

} // namespace archsim
