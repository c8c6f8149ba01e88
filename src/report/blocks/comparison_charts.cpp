#include "report/blocks/ranking_table.hpp"

#include "core/lists.hpp"
#include "report/blocks/energy_report.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/result_text.hpp"
#include "result/common_regions.hpp"
#include "result/generation_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace archsim {

Chart tradeoff_chart(std::span<const Result> results, const Metric& x, const Metric& y,
                     const CostOptions& conditions) {
    std::string other = y.key;
    std::ranges::replace(other, '_', ' ');
    Chart chart{ChartKind::scatter,
                fmt::format("{} and {}, with 90 % intervals", x.title, other),
                fmt::format("{} ({})", x.noun, axis_unit_of(x)),
                fmt::format("{} ({})", y.noun, axis_unit_of(y)),
                true,
                true};
    const std::vector<Result> estimates = kept(results, [&](const Result& result) {
        return measure_of(result, x, conditions) && measure_of(result, y, conditions);
    });
    const auto text = [](const Metric& metric, const Measure& m) {
        return fmt::format("{} ({} to {})", format_value(metric, m.value),
                           format_value(metric, m.interval.low), format_value(metric, m.interval.high));
    };
    DecisionRequest request;
    request.pareto = {&x, &y};
    request.cost = conditions;
    const Decision decision = decide(estimates, request);
    const std::vector<std::string> labels = hardware_labels(estimates);
    std::map<std::string, ChartSeries> families;
    ChartSeries front{"Pareto front", {}, true};
    for (std::size_t i = 0; i < estimates.size(); ++i) {
        const Result& result = estimates[i];
        const Measure across = *measure_of(result, x, conditions), up = *measure_of(result, y, conditions);
        ChartPoint point{.label = labels[i], .x = across.value * x.scale, .y = up.value * y.scale};
        if (decision.on_front[i])
            front.points.push_back(point);
        point.x_low = across.interval.low * x.scale;
        point.x_high = across.interval.high * x.scale;
        point.y_low = up.interval.low * y.scale;
        point.y_high = up.interval.high * y.scale;
        point.hover =
            fmt::format("{}: {}, {}, {}", labels[i], text(x, across), text(y, up), precision_label(result));
        families[family_label(result)].points.push_back(std::move(point));
    }
    for (auto& [family, series] : families) {
        series.name = family;
        chart.series.push_back(std::move(series));
    }
    std::ranges::stable_sort(front.points, {}, &ChartPoint::x);
    chart.series.push_back(std::move(front));
    return chart;
}

Chart energy_chart(std::span<const Result> results) {
    const Metric& unit = readable(metric::energy, results, {});
    const char* each = compares_generation(results) ? "answer" : "inference";
    Chart chart{ChartKind::stacked_bar, fmt::format("Energy per {} by event", each), "device",
                fmt::format("{} per {}", axis_unit_of(unit), each)};
    std::map<std::string, std::size_t> layers;
    const std::vector<std::string> labels = hardware_labels(results);
    for (std::size_t i = 0; i < results.size(); ++i) {
        const Result& result = results[i];
        if (!result.ok())
            continue;
        const double batch = result.estimate.batch;
        for (const EnergyItem& item : energy_items(result)) {
            const auto [at, fresh] = layers.try_emplace(item.event, chart.series.size());
            if (fresh)
                chart.series.push_back({item.name, {}});
            chart.series[at->second].points.push_back(
                {.label = labels[i],
                 .y = item.joules / batch * unit.scale,
                 .hover = fmt::format("{}, {}: {} ({})", labels[i], item.name,
                                      format_energy(item.joules / batch), item.source)});
        }
    }
    return chart;
}

Chart region_heat_map(std::span<const Result> results) {
    Chart chart{ChartKind::heat_map,
                "Time of every part of the network on every device",
                "device",
                "µs",
                false,
                true};
    std::vector<const Result*> estimates;
    std::vector<std::string> labels = hardware_labels(results);
    for (std::size_t i = 0; i < results.size(); ++i)
        if (results[i].ok() && !results[i].estimate.subgraphs.empty() && results[i].work) {
            std::swap(labels[estimates.size()], labels[i]);
            estimates.push_back(&results[i]);
        }
    if (estimates.empty())
        return chart;
    for (const CommonRegion& region : common_regions(estimates)) {
        ChartSeries row{region.name, {}};
        for (std::size_t i = 0; i < estimates.size(); ++i) {
            const RegionCost cost = cost_of(region, i, *estimates[i]);
            row.points.push_back({.label = labels[i],
                                  .x = static_cast<double>(i),
                                  .y = cost.latency_s * 1e6,
                                  .hover = fmt::format("{} on {}: {}, {}, {} bound", region.name, labels[i],
                                                       format_time(cost.latency_s),
                                                       format_energy(cost.energy_j), name_of(cost.bound))});
        }
        chart.series.push_back(std::move(row));
    }
    return chart;
}

std::vector<Block> comparison_charts(std::span<const Result> results) {
    std::vector<Block> blocks;
    const std::vector<Result> estimates = kept(results, &Result::ok);
    if (estimates.empty())
        return blocks;
    blocks.emplace_back(compares_generation(estimates)
                            ? tradeoff_chart(estimates, metric::token_time, metric::token_energy)
                            : tradeoff_chart(estimates));
    blocks.emplace_back(energy_chart(estimates));
    const bool one_graph = std::ranges::all_of(
        estimates, [](const Result& r) { return r.work && !r.estimate.subgraphs.empty(); });
    if (one_graph && !estimates.front().generation) {
        blocks.emplace_back(roofline_chart(estimates));
        blocks.emplace_back(region_heat_map(estimates));
        blocks.emplace_back(memory_chart(estimates.front()));
    }
    return blocks;
}

} // namespace archsim
