// Charts of one network on devices: roofline and memory timeline.

#include "report/blocks/number_format.hpp"
#include "report/blocks/ranking_table.hpp"
#include "report/blocks/result_text.hpp"
#include "report/blocks/subgraph_table.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace archsim {

/// The border that a subgraph's bytes pass: external memory, or the host's link where the chip has none of
/// its own.
static Resource border_of(const Machine& machine) {
    return machine.rate(Resource::dram_bytes) > 0 ? Resource::dram_bytes : Resource::host_link_bytes;
}

/// Roof between two intensities: a level's bandwidth up to the ridge, then the peak.
static ChartSeries roof_of(const Result& result, const std::string& label, std::string_view level,
                           double bandwidth, double from, double to) {
    const double peak = result.machine->peak_ops(result.estimate.executed.compute);
    const double ridge = peak / bandwidth;
    ChartSeries roof{
        fmt::format("{} {}, {}", label, level, precision_name(result.estimate.executed)), {}, true, label};
    const auto add = [&](double x) {
        roof.points.push_back(
            {.x = x,
             .y = std::min(peak, x * bandwidth),
             .hover = fmt::format("{}/s from {}, ridge at {} operations per byte, peak {}op/s",
                                  format_bytes(bandwidth), level, format_number(ridge), format_count(peak))});
    };
    add(std::min(from, ridge));
    add(ridge);
    add(std::max(to, ridge));
    return roof;
}

/// The roof of external memory; where one device is shown, also those of its nearer levels and the peaks of
/// its other formats.
static void add_roofs(const Result& result, const std::string& label, bool alone, double from, double to,
                      Chart& chart) {
    const Machine& machine = *result.machine;
    if (const double border = machine.rate(border_of(machine)); border > 0)
        chart.series.push_back(roof_of(result, label, "roof", border, from, to));
    if (!alone)
        return;
    for (const Resource level : {Resource::llc_bytes, Resource::l2_bytes, Resource::l1_bytes})
        if (machine.rate(level) > 0)
            chart.series.push_back(roof_of(result, label, name_of(level), machine.rate(level), from, to));
    for (const Precision p : kPrecisions)
        if (const double peak = machine.peak_ops(p); peak > 0 && p != result.estimate.executed.compute) {
            ChartSeries ceiling{fmt::format("{} peak, {}", label, name_of(p)), {}, true, label};
            for (const double x : {from, to})
                ceiling.points.push_back({.x = x, .y = peak});
            chart.series.push_back(std::move(ceiling));
        }
}

/// Bytes that a subgraph moves across the chip's border, ahead of time or in its own; where there are none,
/// those of its tensors inside the chip.
static double moved_bytes(const Result& result, const SubgraphEstimate& s) {
    const double repeat = result.partition->subgraphs[s.index].repeat;
    double bytes = 0;
    for (const Demand& demand : s.mapping.all())
        if (demand.resource == Resource::dram_bytes || demand.resource == Resource::weight_bytes ||
            demand.resource == Resource::host_link_bytes)
            bytes += demand.amount;
    const SubgraphWork& work = result.work->subgraphs[s.index];
    return (bytes > 0 ? bytes : work.activation_bytes() + work.weight_bytes) * repeat;
}

/// Those of these bytes that can pass the border in so many seconds: weights beyond them came ahead of time,
/// and other tensors lay on the chip.
static double passed_in(const Machine& machine, double seconds, double bytes) {
    const double rate = machine.rate(border_of(machine));
    return rate > 0 ? std::min(bytes, seconds * rate) : bytes;
}

/// The whole network as one point: all operations and all memory traffic in the latency.
static ChartPoint network_point(const Result& result) {
    const Estimate& e = result.estimate;
    double operations = 0, bytes = 0;
    for (const SubgraphEstimate& s : e.subgraphs) {
        const SubgraphWork& work = result.work->subgraphs[s.index];
        operations += work.operations() * work.repeat;
        bytes += moved_bytes(result, s);
    }
    return {.label = "whole network",
            .x = bytes > 0 ? operations / passed_in(*result.machine, e.latency_s, bytes) : 0,
            .y = operations / e.latency_s,
            .hover = fmt::format("whole network: {}, {} operations, {} from memory", format_time(e.latency_s),
                                 format_count(operations), format_bytes(bytes))};
}

/// One point a subgraph that computes.
static ChartSeries points_of(const Result& result, const std::string& label) {
    ChartSeries series{label, {}, false, label};
    for (const SubgraphEstimate& s : result.estimate.subgraphs) {
        const SubgraphWork& work = result.work->subgraphs[s.index];
        const double operations = work.operations() * work.repeat;
        const double bytes = moved_bytes(result, s);
        if (!(operations > 0 && bytes > 0 && s.latency_s > 0))
            continue;
        const std::string& name = result.partition->subgraphs[s.index].name;
        series.points.push_back(
            {.label = name,
             .x = operations / passed_in(*result.machine, s.latency_s, bytes),
             .y = operations / s.latency_s,
             .hover = fmt::format("{} {}: {}, {} operations, {} from memory, bound by {}", name_of(work.kind),
                                  name, format_time(s.latency_s), format_count(operations),
                                  format_bytes(bytes), bound_label(s.bound, s.binding))});
    }
    if (ChartPoint whole = network_point(result); whole.x > 0)
        series.points.push_back(std::move(whole));
    return series;
}

Chart roofline_chart(std::span<const Result> results) {
    Chart chart{ChartKind::roofline,
                "Roofline: every subgraph under its device's roofs",
                "operations per byte of memory traffic",
                "operations per second",
                true,
                true};
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
        if (const Result& r = results[i]; r.ok() && r.work && to > 0)
            add_roofs(r, labels[i], results.size() == 1, from, to, chart);
    return chart;
}

Chart memory_chart(const Result& result) {
    Chart chart{ChartKind::step,
                fmt::format("Memory on {}: live activations at every step", hardware_label(result)),
                "step (subgraph)", "MB"};
    const MemoryPlan& plan = result.work->memory;
    ChartSeries live{"live activations", {}};
    for (std::size_t i = 0; i < plan.timeline.size(); ++i) {
        const std::string name =
            i < result.partition->subgraphs.size() ? result.partition->subgraphs[i].name : "";
        live.points.push_back({.label = name,
                               .x = static_cast<double>(i),
                               .y = plan.timeline[i] * 1e-6,
                               .hover = fmt::format("{}: {} alive", name, format_bytes(plan.timeline[i]))});
    }
    ChartSeries arena{"arena after offset planning", {}, true};
    for (const double x : {0.0, static_cast<double>(plan.timeline.size() - 1)})
        arena.points.push_back({"", x, plan.arena_bytes * 1e-6});
    chart.series = {std::move(live), std::move(arena)};
    return chart;
}

} // namespace archsim
