// Charts of one network on devices: roofline and memory timeline.

#include "report/blocks/mapping_charts.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/result_text.hpp"
#include "report/blocks/subgraph_table.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace archsim {

namespace {

/// Roof of one device between two intensities: memory bandwidth up to the ridge, then the peak.
ChartSeries roof_of(const Result& result, const std::string& label, double from, double to) {
    const double bandwidth = result.machine->rate(Resource::dram_bytes);
    const double peak = result.machine->peak_ops(result.estimate.executed.compute);
    const double ridge = peak / bandwidth;
    ChartSeries roof{
        fmt::format("{} roof, {}", label, precision_name(result.estimate.executed)), {}, true, label};
    const auto add = [&](double x) {
        ChartPoint point;
        point.x = x;
        point.y = std::min(peak, x * bandwidth);
        point.hover = fmt::format("{}/s from memory, ridge at {} operations per byte, peak {}op/s",
                                  format_bytes(bandwidth), format_number(ridge), format_count(peak));
        roof.points.push_back(std::move(point));
    };
    add(std::min(from, ridge));
    add(ridge);
    add(std::max(to, ridge));
    return roof;
}

/// Memory traffic inside a subgraph's own time: weights that the stack fetches ahead over the whole network
/// are not.
double own_bytes(const Result& result, const SubgraphEstimate& s) {
    const bool ahead = result.runtime->weight_prefetch == WeightPrefetch::network;
    double bytes = 0;
    for (const Demand& demand : s.mapping.all())
        if (demand.resource == Resource::dram_bytes || (demand.resource == Resource::weight_bytes && !ahead))
            bytes += demand.amount;
    return bytes * result.partition->subgraphs[s.index].repeat;
}

/// The whole network as one point: all operations and all memory traffic in the latency.
ChartPoint network_point(const Result& result) {
    const Estimate& e = result.estimate;
    double operations = 0, bytes = 0;
    for (const SubgraphEstimate& s : e.subgraphs) {
        const SubgraphWork& work = result.work->subgraphs[s.index];
        operations += work.operations() * work.repeat;
        bytes += s.dram_bytes;
    }
    ChartPoint point;
    point.label = "whole network";
    point.x = bytes > 0 ? operations / bytes : 0;
    point.y = operations / e.latency_s;
    point.hover = fmt::format("whole network: {}, {} operations, {} from memory", format_time(e.latency_s),
                              format_count(operations), format_bytes(bytes));
    return point;
}

/// Subgraphs without memory traffic of their own have no place on the intensity axis.
ChartSeries points_of(const Result& result, const std::string& label) {
    ChartSeries series{label, {}, false, label};
    for (const SubgraphEstimate& s : result.estimate.subgraphs) {
        const SubgraphWork& work = result.work->subgraphs[s.index];
        const double operations = work.operations() * work.repeat;
        const double bytes = own_bytes(result, s);
        if (!(operations > 0 && bytes > 0 && s.latency_s > 0))
            continue;
        ChartPoint point;
        point.label = result.partition->subgraphs[s.index].name;
        point.x = operations / bytes;
        point.y = operations / s.latency_s;
        point.hover = fmt::format("{} {}: {}, {} operations, {} from memory, bound by {}", name_of(work.kind),
                                  point.label, format_time(s.latency_s), format_count(operations),
                                  format_bytes(bytes), bound_label(s.bound, s.binding));
        series.points.push_back(std::move(point));
    }
    if (ChartPoint whole = network_point(result); whole.x > 0)
        series.points.push_back(std::move(whole));
    return series;
}

} // namespace

Chart roofline_chart(std::span<const Result> results) {
    Chart chart{ChartKind::roofline,
                "Roofline: every subgraph under its device's roofs",
                "operations per byte of memory traffic",
                "operations per second",
                true,
                true,
                {}};
    double from = std::numeric_limits<double>::infinity(), to = 0;
    const std::vector<std::string> labels = hardware_labels(results);
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (!results[i].ok() || !results[i].work)
            continue;
        ChartSeries points = points_of(results[i], labels[i]);
        for (const ChartPoint& point : points.points) {
            from = std::min(from, point.x);
            to = std::max(to, point.x);
        }
        chart.series.push_back(std::move(points));
    }
    for (std::size_t i = 0; i < results.size(); ++i)
        if (const Result& r = results[i];
            r.ok() && r.work && to > 0 && r.machine->rate(Resource::dram_bytes) > 0)
            chart.series.push_back(roof_of(r, labels[i], from, to));
    return chart;
}

Chart memory_chart(const Result& result) {
    Chart chart{ChartKind::step,
                fmt::format("Memory on {}: live activations at every step", hardware_label(result)),
                "step (subgraph)",
                "MB",
                false,
                false,
                {}};
    const MemoryPlan& plan = result.work->memory;
    ChartSeries live{"live activations", {}};
    for (std::size_t i = 0; i < plan.timeline.size(); ++i) {
        ChartPoint point;
        point.label = i < result.partition->subgraphs.size() ? result.partition->subgraphs[i].name : "";
        point.x = static_cast<double>(i);
        point.y = plan.timeline[i] * 1e-6;
        point.hover = fmt::format("{}: {} alive", point.label, format_bytes(plan.timeline[i]));
        live.points.push_back(std::move(point));
    }
    ChartSeries arena{"arena after offset planning", {}, true};
    for (const double x : {0.0, static_cast<double>(plan.timeline.size() - 1)})
        arena.points.push_back({"", x, plan.arena_bytes * 1e-6});
    chart.series = {std::move(live), std::move(arena)};
    return chart;
}

} // namespace archsim
