#include "answers/batch/batch_blocks.hpp"

#include "hardware/energy_table.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/result_row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace archsim {

namespace {

std::string point_text(const BatchSeries& series, std::size_t index) {
    const BatchPoint& point = series.points[index];
    const BatchMetrics by = batch_metrics(series);
    const auto text = [&](const Metric& m) { return format_value(m, value_or_nan(point.result, m)); };
    const bool tokens = *by.rate != metric::throughput;
    return fmt::format("batch {}: {}, {} per {}, {} per {}, {}", point.batch, text(*by.rate), text(*by.time),
                       tokens ? "token" : "batch", text(*by.energy), tokens ? "token" : "item",
                       text(metric::memory));
}

/// A line for each batch that is best in something: "Most throughput, knee: batch 64: ...".
void add_points(const BatchSeries& series, const BestBatches& best, Facts& facts) {
    std::vector<std::pair<std::size_t, std::string>> points;
    const auto add = [&points](const std::optional<std::size_t>& at, const char* what, const char* further) {
        if (!at)
            return;
        const auto known =
            std::find_if(points.begin(), points.end(), [&](const auto& p) { return p.first == *at; });
        if (known != points.end())
            known->second += std::string(", ") + further;
        else
            points.emplace_back(*at, what);
    };
    add(best.throughput, "Most throughput", "most throughput");
    add(best.knee, "Knee", "knee");
    add(best.latency, "Least latency", "least latency");
    add(best.energy, "Least energy", "least energy");
    for (auto& [at, what] : points)
        facts.items.push_back({std::move(what), point_text(series, at), 1});
}

/// Why no batch is best.
std::string without_best(const BatchSeries& series) {
    for (const BatchPoint& point : series.points)
        if (point.result.ok())
            return "no batch keeps the limits";
    return fmt::format("no estimate of any batch; batch {}: {}", series.points.front().batch,
                       series.points.front().result.estimate.reason);
}

} // namespace

Facts best_batch_facts(const BatchAnalysis& analysis, const std::vector<std::string>& labels) {
    Facts facts;
    for (std::size_t i = 0; i < analysis.series.size(); ++i) {
        const BatchSeries& series = analysis.series[i];
        const BestBatches best = best_batches(series);
        facts.items.push_back({labels[i], ""});
        if (!best.throughput) {
            facts.items.push_back({"None", without_best(series), 1});
            continue;
        }
        add_points(series, best, facts);
    }
    return facts;
}

std::vector<std::string> batch_lines(const BatchAnalysis& analysis, const std::vector<std::string>& labels) {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < analysis.series.size(); ++i) {
        const BatchSeries& series = analysis.series[i];
        const BestBatches best = best_batches(series);
        if (!best.throughput || !best.knee || !best.latency) {
            lines.push_back(fmt::format("{}: {}.", labels[i], without_best(series)));
            continue;
        }
        const auto text = [&](std::size_t at, const Metric& m) {
            return format_value(m, value_or_nan(series.points[at].result, m));
        };
        const auto batch = [&](std::size_t at) { return series.points[at].batch; };
        const BatchMetrics by = batch_metrics(series);
        const bool tokens = *by.rate != metric::throughput;
        const auto point = [&](std::size_t at) {
            return fmt::format("{} {} {}", text(at, *by.rate), tokens ? "at" : "in", text(at, *by.time)) +
                   (tokens ? " per token" : "");
        };
        std::string line = fmt::format("{}: batch {} has the most throughput, {}", labels[i],
                                       batch(*best.throughput), point(*best.throughput));
        if (*best.knee != *best.throughput)
            line += fmt::format("; batch {} reaches {:.0f} % of it, {}", batch(*best.knee),
                                100 * value_or_nan(series.points[*best.knee].result, *by.rate) /
                                    value_or_nan(series.points[*best.throughput].result, *by.rate),
                                point(*best.knee));
        if (*best.latency != *best.throughput)
            line +=
                fmt::format("; batch {} answers first, {} {}{}", batch(*best.latency), tokens ? "at" : "in",
                            text(*best.latency, *by.time), tokens ? " per token" : "");
        lines.push_back(line + ".");
    }
    return lines;
}

namespace {

Members<BatchSeries> best_batch_members() {
    const auto batch = [](std::optional<std::size_t> BestBatches::*which) {
        return [which](const BatchSeries& series) {
            const auto index = best_batches(series).*which;
            return index ? std::optional(series.points[*index].batch) : std::nullopt;
        };
    };
    return {{"throughput", "most", batch(&BestBatches::throughput)},
            {"latency", "answers first", batch(&BestBatches::latency)},
            {"energy", "least per item", batch(&BestBatches::energy)},
            {"knee", "smallest with nearly the best throughput", batch(&BestBatches::knee)}};
}

} // namespace

Members<BatchSeries> batch_series_members(const MetricView& view, const std::string& points) {
    return {{"best_batch", "null: no batch keeps the limits", std::identity{}, best_batch_members()},
            {points, "the batch sizes, one by one", &BatchSeries::points,
             result_members(view)
                 .of<BatchPoint>([](const BatchPoint& point) {
                     return RankedResult{&point.result, static_cast<double>(point.batch), 0};
                 })
                 .with({{"latency_per_item_s", "latency over the batch", [](const BatchPoint& point) {
                             return known(point.result.ok(),
                                          point.result.estimate.latency_s / static_cast<double>(point.batch));
                         }}})}};
}

std::string best_batch_heading(const BatchAnalysis& analysis) {
    return analysis.limits.constraints.empty() ? "Best batch" : "Best batch that keeps the limits";
}

} // namespace archsim
