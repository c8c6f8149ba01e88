#include "archsim/report/comparison_charts.hpp"

#include "archsim/compare/common_regions.hpp"
#include "archsim/compare/decisions.hpp"
#include "archsim/report/energy_report.hpp"
#include "archsim/report/graph_mapping.hpp"
#include "report/number_format.hpp"
#include "report/result_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace archsim {

namespace {

std::vector<Result> estimates_of(std::span<const Result> results) {
    std::vector<Result> estimates;
    for (const Result& result : results)
        if (result.ok())
            estimates.push_back(result);
    return estimates;
}

} // namespace

Chart tradeoff_chart(std::span<const Result> results) {
    Chart chart{ChartKind::scatter,
                "Latency and energy, with 90 % intervals",
                "latency (ms)",
                "energy per inference (mJ)",
                true,
                true,
                {}};
    const std::vector<Result> estimates = estimates_of(results);
    std::map<std::string, ChartSeries> families;
    for (const Result& result : estimates) {
        const Estimate& e = result.estimate;
        ChartPoint point;
        point.label = hardware_label(result);
        point.x = e.latency_s * 1e3;
        point.x_low = e.latency_interval.low * 1e3;
        point.x_high = e.latency_interval.high * 1e3;
        point.y = e.energy_per_inference_j * 1e3;
        point.y_low = e.energy_interval.low * 1e3;
        point.y_high = e.energy_interval.high * 1e3;
        point.hover =
            fmt::format("{}: {} ({} to {}), {} ({} to {}), {}", point.label, format_time(e.latency_s),
                        format_time(e.latency_interval.low), format_time(e.latency_interval.high),
                        format_energy(e.energy_per_inference_j), format_energy(e.energy_interval.low),
                        format_energy(e.energy_interval.high), precision_label(result));
        ChartSeries& series = families[family_label(result)];
        series.name = family_label(result);
        series.points.push_back(std::move(point));
    }
    for (auto& [family, series] : families)
        chart.series.push_back(std::move(series));
    DecisionRequest request;
    request.pareto = {Objective::latency, Objective::energy};
    const Decision decision = decide(estimates, request);
    ChartSeries front{"Pareto front", {}, true};
    for (std::size_t i = 0; i < estimates.size(); ++i)
        if (decision.on_front[i]) {
            ChartPoint point;
            point.label = hardware_label(estimates[i]);
            point.x = estimates[i].estimate.latency_s * 1e3;
            point.y = estimates[i].estimate.energy_per_inference_j * 1e3;
            front.points.push_back(std::move(point));
        }
    std::sort(front.points.begin(), front.points.end(),
              [](const ChartPoint& a, const ChartPoint& b) { return a.x < b.x; });
    chart.series.push_back(std::move(front));
    return chart;
}

Chart energy_chart(std::span<const Result> results) {
    Chart chart{ChartKind::stacked_bar,
                "Energy per inference by event",
                "device",
                "mJ per inference",
                false,
                false,
                {}};
    std::map<std::string, std::size_t> layers;
    for (const Result& result : results) {
        if (!result.ok())
            continue;
        const double batch = result.estimate.batch;
        for (const EnergyItem& item : energy_items(result)) {
            const auto [at, fresh] = layers.try_emplace(item.event, chart.series.size());
            if (fresh)
                chart.series.push_back({item.title, {}});
            ChartPoint point;
            point.label = hardware_label(result);
            point.y = item.joules / batch * 1e3;
            point.hover = fmt::format("{}, {}: {} ({})", point.label, item.title,
                                      format_energy(item.joules / batch), item.source);
            chart.series[at->second].points.push_back(std::move(point));
        }
    }
    return chart;
}

Chart region_heat_map(std::span<const Result> results) {
    Chart chart{ChartKind::heat_map,
                "Time of every part of the network on every device",
                "device",
                "us",
                false,
                true,
                {}};
    std::vector<const Result*> estimates;
    for (const Result& result : results)
        if (result.ok() && !result.estimate.subgraphs.empty() && result.work)
            estimates.push_back(&result);
    if (estimates.empty())
        return chart;
    for (const CommonRegion& region : common_regions(estimates)) {
        ChartSeries row{region.name, {}};
        for (std::size_t i = 0; i < estimates.size(); ++i) {
            const RegionCost cost = cost_of(region, i, *estimates[i]);
            ChartPoint point;
            point.label = hardware_label(*estimates[i]);
            point.x = static_cast<double>(i);
            point.y = cost.latency_s * 1e6;
            point.hover =
                fmt::format("{} on {}: {}, {}, {} bound", region.name, point.label,
                            format_time(cost.latency_s), format_energy(cost.energy_j), name_of(cost.bound));
            row.points.push_back(std::move(point));
        }
        chart.series.push_back(std::move(row));
    }
    return chart;
}

std::vector<Block> comparison_charts(std::span<const Result> results) {
    std::vector<Block> blocks;
    const std::vector<Result> estimates = estimates_of(results);
    if (estimates.empty())
        return blocks;
    blocks.emplace_back(tradeoff_chart(estimates));
    blocks.emplace_back(energy_chart(estimates));
    const bool one_graph = std::all_of(estimates.begin(), estimates.end(), [](const Result& r) {
        return r.work && !r.estimate.subgraphs.empty();
    });
    if (one_graph && !estimates.front().generation) {
        blocks.emplace_back(roofline_chart(estimates));
        blocks.emplace_back(region_heat_map(estimates));
        blocks.emplace_back(memory_chart(estimates.front()));
    }
    return blocks;
}

} // namespace archsim
