#include "archsim/report/batch_report.hpp"

#include "archsim/core/version.hpp"
#include "archsim/report/decision_report.hpp"
#include "report/architectures.hpp"
#include "report/decision_json.hpp"
#include "report/number_format.hpp"
#include "report/objective_axis.hpp"
#include "report/result_text.hpp"
#include "report/results_json.hpp"

#include <fmt/format.h>

#include <set>

namespace archsim {

namespace {

using Json = nlohmann::ordered_json;

const Result& first_result(const BatchAnalysis& sweep) {
    return sweep.series.front().points.front().result;
}

std::string marks_of(const BestBatches& best, std::size_t index) {
    std::string text;
    const auto add = [&](const std::optional<std::size_t>& which, const char* word) {
        if (which == index)
            text += (text.empty() ? "" : ", ") + std::string(word);
    };
    add(best.latency, "latency");
    add(best.throughput, "throughput");
    add(best.energy, "energy");
    add(best.knee, "knee");
    return text;
}

Table batch_table(const BatchAnalysis& sweep) {
    Table table;
    table.title = "Batch sizes";
    table.columns = {{"Hardware", "", "hardware"},
                     {"Batch", "", "batch_size", Align::right},
                     {"Latency", "ms", "latency_s", Align::right},
                     {"90 %", "ms", "latency_interval", Align::right, 3},
                     {"Per item", "ms", "latency_per_item_s", Align::right, 2},
                     {"Throughput", "per s", "throughput_per_s", Align::right},
                     {"Energy", "mJ/inf", "energy_per_inference_j", Align::right},
                     {"Power", "W", "power_w", Align::right, 1},
                     {"Memory", "MB", "peak_memory_bytes", Align::right},
                     {"Util", "%", "utilization", Align::right, 2},
                     {"Best", "", "best"}};
    if (!sweep.limits.constraints.empty())
        table.columns.push_back({"Limits", "", "keeps_limits"});
    std::set<std::string> notes;
    for (const BatchSeries& series : sweep.series) {
        const BestBatches best = best_batches(series);
        for (std::size_t i = 0; i < series.points.size(); ++i) {
            const BatchPoint& point = series.points[i];
            const Estimate& e = point.result.estimate;
            const auto batch = static_cast<double>(point.batch);
            std::vector<Cell> row{{hardware_label(point.result)}, {fmt::format("{}", point.batch), batch}};
            if (point.result.ok()) {
                row.push_back({format_number(e.latency_s * 1e3), e.latency_s});
                row.push_back({fmt::format("{}-{}", format_number(e.latency_interval.low * 1e3),
                                           format_number(e.latency_interval.high * 1e3))});
                row.push_back({format_number(e.latency_s / batch * 1e3), e.latency_s / batch});
                row.push_back({format_number(e.throughput_per_s), e.throughput_per_s});
                row.push_back({format_number(e.energy_per_inference_j * 1e3), e.energy_per_inference_j});
                row.push_back({format_number(e.power_w), e.power_w});
                row.push_back({format_number(e.memory.peak_bytes / 1e6), e.memory.peak_bytes});
                row.push_back({fmt::format("{:.1f}", e.utilization * 100), e.utilization});
                row.push_back({marks_of(best, i), {}, Tone::good});
            } else {
                row.push_back({std::string(name_of(e.status)), {}, Tone::bad});
                while (row.size() < 11)
                    row.push_back({"-"});
                notes.insert(
                    fmt::format("{} at batch {}: {}", hardware_label(point.result), point.batch, e.reason));
            }
            if (!sweep.limits.constraints.empty()) {
                const bool kept = series.decision.qualifies[i];
                row.push_back({kept ? "kept" : "missed", kept ? 1.0 : 0.0, kept ? Tone::good : Tone::bad});
            }
            table.rows.push_back(std::move(row));
        }
    }
    table.notes.push_back(
        fmt::format("knee: smallest batch with {:.0f} % of the best throughput", kNearlyBest * 100));
    table.notes.insert(table.notes.end(), notes.begin(), notes.end());
    return table;
}

std::string point_text(const BatchSeries& series, std::size_t index) {
    const BatchPoint& point = series.points[index];
    const Estimate& e = point.result.estimate;
    return fmt::format("batch {}: {} /s, {} per batch, {} per item, {}", point.batch,
                       format_number(e.throughput_per_s), format_time(e.latency_s),
                       format_energy(e.energy_per_inference_j), format_bytes(e.memory.peak_bytes));
}

/// "batch 8", one per point.
std::vector<std::string> labels_of(const BatchSeries& series) {
    std::vector<std::string> labels;
    for (const BatchPoint& point : series.points)
        labels.push_back(fmt::format("{}, batch {}", hardware_label(point.result), point.batch));
    return labels;
}

Facts best_facts(const BatchAnalysis& sweep) {
    Facts facts;
    for (const BatchSeries& series : sweep.series) {
        const BestBatches best = best_batches(series);
        facts.items.push_back({hardware_label(series.points.front().result), ""});
        if (!best.throughput) {
            facts.items.push_back({"None", "no batch has an estimate that keeps the limits", 1});
            continue;
        }
        facts.items.push_back({"Most throughput", point_text(series, *best.throughput), 1});
        facts.items.push_back({"Knee", point_text(series, *best.knee), 1});
        facts.items.push_back({"Least latency", point_text(series, *best.latency), 1});
        facts.items.push_back({"Least energy", point_text(series, *best.energy), 1});
    }
    return facts;
}

nlohmann::ordered_json best_json(const BatchSeries& series) {
    const BestBatches best = best_batches(series);
    const auto batch = [&](const std::optional<std::size_t>& index) {
        return index ? Json(series.points[*index].batch) : Json(nullptr);
    };
    return {{"throughput", batch(best.throughput)},
            {"latency", batch(best.latency)},
            {"energy", batch(best.energy)},
            {"knee", batch(best.knee)}};
}

} // namespace

Chart batch_chart(const BatchAnalysis& sweep, Objective objective) {
    const ObjectiveAxis axis = axis_of(objective);
    Chart chart{ChartKind::line,
                fmt::format("{} against batch", info_of(objective).title),
                "batch",
                fmt::format("{} ({})", info_of(objective).noun, axis.unit),
                true,
                false,
                {}};
    for (const BatchSeries& series : sweep.series) {
        ChartSeries line{hardware_label(series.points.front().result), {}};
        for (const BatchPoint& point : series.points) {
            const auto value = value_of(point.result, objective, sweep.limits.cost);
            if (!value)
                continue;
            const Interval interval = interval_of(point.result, objective, sweep.limits.cost);
            ChartPoint mark;
            mark.label = fmt::format("{}", point.batch);
            mark.x = static_cast<double>(point.batch);
            mark.y = *value * axis.scale;
            mark.y_low = interval.low * axis.scale;
            mark.y_high = interval.high * axis.scale;
            mark.hover =
                fmt::format("{}, batch {}: {}", line.name, point.batch, format_value(objective, *value));
            line.points.push_back(std::move(mark));
        }
        chart.series.push_back(std::move(line));
    }
    return chart;
}

Report describe(const BatchAnalysis& sweep, const BatchView& view) {
    Report report;
    const Result& first = first_result(sweep);
    report.title = fmt::format("Batch sizes of {}", first.model->title);
    if (view.table_only) {
        report.blocks.push_back(batch_table(sweep));
        return report;
    }
    report.blocks.push_back(Heading{1, fmt::format("BATCH ANALYSIS: {}", first.model->title)});
    report.blocks.push_back(batch_table(sweep));
    report.blocks.push_back(
        Heading{2, sweep.limits.constraints.empty() ? "Best batch" : "Best batch that keeps the limits"});
    report.blocks.push_back(best_facts(sweep));
    if (sweep.limits.active())
        for (const BatchSeries& series : sweep.series)
            for (Block& block : decision_blocks(series.decision, results_of(series), labels_of(series)))
                report.blocks.push_back(std::move(block));
    report.blocks.push_back(Heading{2, "Charts"});
    for (const Objective objective :
         {Objective::throughput, Objective::latency, Objective::energy, Objective::memory})
        report.blocks.push_back(batch_chart(sweep, objective));
    return report;
}

std::string to_json(const BatchAnalysis& sweep) {
    Json document = {{"schema", "archsim.analyze_batch/1"},
                     {"version", version()},
                     {"model", model_json(*first_result(sweep).model, nullptr)},
                     {"batch_sizes", sweep.batches},
                     {"series", Json::array()}};
    for (const BatchSeries& series : sweep.series) {
        Json points = Json::array();
        for (const BatchPoint& point : series.points)
            points.push_back(result_json(point.result, static_cast<double>(point.batch), 0));
        document["series"].push_back({{"hardware", series.hardware},
                                      {"best_batch", best_json(series)},
                                      {"points", std::move(points)}});
    }
    return document.dump(2) + "\n";
}

} // namespace archsim
