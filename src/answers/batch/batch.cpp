#include "answers/batch/batch.hpp"

#include "core/lists.hpp"
#include "core/text.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/ranking_table.hpp"
#include "report/blocks/result_row.hpp"
#include "report/blocks/result_text.hpp"
#include "result/format_parts.hpp"
#include "result/generation_metrics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace archsim {

static BatchMetrics batch_metrics(const BatchSeries& series) {
    return compares_generation(series.results)
               ? BatchMetrics{&metric::total_token_rate, &metric::token_time, &metric::token_energy}
               : BatchMetrics{&metric::throughput, &metric::latency, &metric::energy};
}

BestBatches best_batches(const BatchSeries& series) {
    BestBatches best;
    const BatchMetrics by = batch_metrics(series);
    const auto value = [&](std::size_t i, const Metric& metric) {
        return value_or_nan(series.results[i], metric);
    };
    const auto improve = [&](std::optional<std::size_t>& at, const Metric& metric, std::size_t i) {
        if (!std::isnan(value(i, metric)) && (!at || better(metric, value(i, metric), value(*at, metric))))
            at = i;
    };
    std::vector<bool> qualifies = series.decision.qualifies;
    const auto may = [](const Result& r) { return r.ok() && may_lead(r.estimate); };
    if (std::ranges::any_of(series.results, may)) // an incomplete total wins nothing
        for (std::size_t i = 0; i < qualifies.size(); ++i)
            qualifies[i] = qualifies[i] && may(series.results[i]);
    for (std::size_t i = 0; i < series.results.size(); ++i)
        if (qualifies[i]) {
            improve(best.throughput, *by.rate, i);
            improve(best.latency, *by.time, i);
            improve(best.energy, *by.energy, i);
        }
    for (std::size_t i = 0; best.throughput && i < series.results.size() && !best.knee; ++i)
        if (qualifies[i] && value(i, *by.rate) >= kNearlyBest * value(*best.throughput, *by.rate))
            best.knee = i;
    return best;
}

/// Whether the largest batch keeps the limits on some device and does more than nearly what the one before
/// does: a larger one may do more still.
static bool gains_at_last(const BatchAnalysis& sweep) {
    return !sweep.limits.constraints.empty() && std::ranges::any_of(sweep.series, [&](BatchSeries series) {
        series.decision = decide(series.results, sweep.limits);
        const BestBatches best = best_batches(series);
        return best.knee == series.results.size() - 1;
    });
}

BatchAnalysis analyze_batches(const Session& session, BatchRequest request) {
    BatchAnalysis sweep;
    sweep.batches = request.batches;
    std::ranges::sort(sweep.batches);
    sweep.batches.erase(std::unique(sweep.batches.begin(), sweep.batches.end()), sweep.batches.end());
    if (sweep.batches.empty() || sweep.batches.front() < 1)
        throw UsageError("batch sizes: give at least one, each 1 or more");
    request.conditions.keep_subgraphs = false;
    sweep.limits = std::exchange(request.decision, {}); // limits are of all batches together
    request.decision.cost = sweep.limits.cost;
    const auto estimate_at = [&](std::int64_t batch) {
        request.workload.batch = batch;
        ModelComparison at = compare_models(session, request);
        const std::size_t rows = at.results.size() / at.request.hardware.size(); // of a device
        if (sweep.series.empty())
            for (std::size_t i = 0; i < at.results.size(); ++i)
                sweep.series.push_back({at.request.hardware[i / rows]});
        for (std::size_t i = 0; i < at.results.size(); ++i) {
            sweep.series[i].batches.push_back(batch);
            sweep.series[i].results.push_back(std::move(at.results[i]));
        }
        sweep.limits.cost = at.request.decision.cost;
        if (request.progress)
            request.progress(sweep.series.front().results.size(), sweep.batches.size());
    };
    for (const std::int64_t batch : sweep.batches)
        estimate_at(batch);
    while (2 * sweep.batches.back() <= request.largest && gains_at_last(sweep)) {
        sweep.batches.push_back(2 * sweep.batches.back());
        estimate_at(sweep.batches.back());
    }
    for (BatchSeries& series : sweep.series)
        series.decision = decide(series.results, sweep.limits);
    return sweep;
}

/// The batch that does most, the one that is good enough, the one that answers first: judged by the time of a
/// batch or of a token.
static std::string best_words(const BatchSeries& series, const BestBatches& best) {
    const BatchMetrics by = batch_metrics(series);
    const bool tokens = *by.rate != metric::throughput;
    const std::size_t most = *best.throughput, knee = *best.knee, first = *best.latency;
    const auto value = [&](std::size_t i, const Metric& m) { return value_or_nan(series.results[i], m); };
    const auto time = [&](std::size_t i) {
        return fmt::format("{} {}{}", tokens ? "at" : "in", format_value(*by.time, value(i, *by.time)),
                           tokens ? " per token" : "");
    };
    const auto rate_and_time = [&](std::size_t i) {
        return format_value(*by.rate, value(i, *by.rate)) + " " + time(i);
    };
    std::string line = fmt::format("batch {} has the most throughput{}, {}", series.batches[most],
                                   series.decision.request.constraints.empty() ? "" : " within the limits",
                                   rate_and_time(most));
    if (knee != most)
        line += fmt::format("; batch {} reaches {:.0f} % of it, {}", series.batches[knee],
                            100 * value(knee, *by.rate) / value(most, *by.rate), rate_and_time(knee));
    if (first == most)
        return line;
    return line + (first == knee
                       ? std::string(" and answers first")
                       : fmt::format("; batch {} answers first, {}", series.batches[first], time(first)));
}

static std::string without_best(const BatchSeries& series) {
    if (std::ranges::any_of(series.results, &Result::ok))
        return "no batch keeps the limits";
    return fmt::format("no estimate of any batch; batch {}: {}", series.batches.front(),
                       series.results.front().estimate.reason);
}

static Members<BatchSeries> best_batch_members() {
    const auto batch = [](std::optional<std::size_t> BestBatches::*which) {
        return [which](const BatchSeries& series) {
            const auto index = best_batches(series).*which;
            return index ? std::optional(series.batches[*index]) : std::nullopt;
        };
    };
    return {{"throughput", "most", batch(&BestBatches::throughput)},
            {"latency", "answers first", batch(&BestBatches::latency)},
            {"energy", "least per item", batch(&BestBatches::energy)},
            {"knee", "smallest with nearly the best throughput", batch(&BestBatches::knee)}};
}

static const Result& first_result(const BatchAnalysis& sweep) {
    return sweep.series.front().results.front();
}

struct BatchRow {
    const BatchSeries* series;
    std::size_t index;
    BestBatches best;

    const Result& result() const { return series->results[index]; }
    std::int64_t batch() const { return series->batches[index]; }
    /// The metrics in which it is best.
    std::string marks() const {
        return joined(std::array{std::pair{best.latency, "latency"}, std::pair{best.throughput, "throughput"},
                                 std::pair{best.energy, "energy"}, std::pair{best.knee, "knee"}},
                      [&](const auto& one) { return one.first == index ? one.second : ""; });
    }
};
using BatchColumns = std::vector<ColumnOf<BatchRow>>;

/// The interval of the latency and its share of one item stand beside it.
static BatchColumns metric_columns(const BatchAnalysis& sweep, const Metric& m) {
    const auto measure = [&m, conditions = sweep.limits.cost](const BatchRow& row) {
        return measure_of(row.result(), m, conditions);
    };
    Column column = column_of(m);
    if (m == metric::token_rate) // the time per token beside it says the same
        column.priority = 1;
    BatchColumns columns = {
        {std::move(column), [&m, measure](const BatchRow& row) { return cell_of(m, measure(row)); }}};
    if (m == metric::latency) {
        columns.push_back(interval_column_of<BatchRow>(m, 3, measure));
        columns.emplace_back(least_best("Per item", m.column_unit, "latency_per_item_s", 2), 1 / m.scale,
                             [measure](const BatchRow& row) {
                                 return measure(row)->value / static_cast<double>(row.batch());
                             });
    }
    return columns;
}

static BatchColumns batch_columns(const BatchAnalysis& sweep) {
    BatchColumns columns = {{{"Hardware", "", "hardware"},
                             [](const BatchRow& row) {
                                 return marked(hardware_label(row.result()), MarkedCell::hardware,
                                               row.result());
                             }},
                            {{"Batch", "", "batch_size", Align::right}, 1, &BatchRow::batch}};
    std::vector<Result> all;
    for (const BatchSeries& series : sweep.series)
        append(all, series.results);
    for (const Metric* m : shown_metrics(all, {sweep.metrics, {}}).metrics->rows())
        if (any_value(all, *m, sweep.limits.cost))
            append(columns,
                   where([](const BatchRow& row) { return row.result().ok(); }, metric_columns(sweep, *m)));
    columns.push_back({{"Best", "", "best"}, [](const BatchRow& row) {
                           return row.result().ok()
                                      ? Cell{row.marks(), {}, Tone::good, {}, CellKind::text}
                                      : toned_cell(status_words(row.result().estimate), Tone::bad);
                       }});
    columns.push_back(
        evidence_column<BatchRow>([](const BatchRow& row) { return evidence_of(row.result()); }));
    if (!sweep.limits.constraints.empty())
        columns.push_back({{"Limits", "", "keeps_limits"}, [](const BatchRow& row) {
                               const bool kept = row.series->decision.qualifies[row.index];
                               return Cell{kept ? "kept" : "missed",
                                           kept ? 1.0 : 0.0,
                                           kept ? Tone::good : Tone::bad,
                                           {},
                                           CellKind::flag};
                           }});
    return columns;
}

/// "L4 at batch 16: needs 30.1 GB, ...; 2 more batches likewise": the first that fails tells the story.
static std::string failure_note(const BatchSeries& series) {
    std::string text;
    std::size_t more = 0;
    for (std::size_t i = 0; i < series.results.size(); ++i)
        if (const Result& r = series.results[i]; !r.ok() && text.empty())
            text = fmt::format("{} at batch {}: {}", hardware_label(r), series.batches[i], r.estimate.reason);
        else
            more += r.ok() ? 0U : 1U;
    return more == 0 ? text : fmt::format("{}; {} more batch{} likewise", text, more, more == 1 ? "" : "es");
}

static Table batch_table(const BatchAnalysis& sweep) {
    std::vector<BatchRow> rows;
    std::vector<std::string> notes;
    for (const BatchSeries& series : sweep.series) {
        const BestBatches best = best_batches(series);
        for (std::size_t i = 0; i < series.results.size(); ++i)
            rows.push_back({&series, i, best});
        if (std::string why = failure_note(series); !why.empty())
            notes.push_back(std::move(why));
    }
    Table table = table_of("Batch sizes", batch_columns(sweep), rows);
    table.notes.push_back(
        fmt::format("knee: smallest batch with {:.0f} % of the best throughput", kNearlyBest * 100));
    append(table.notes, notes);
    return table;
}

static std::vector<std::string> device_labels(const BatchAnalysis& sweep) {
    return mapped(sweep.series,
                  [](const BatchSeries& series) { return hardware_label(series.results.front()); });
}

/// "A100, batch 8", one per result.
static std::vector<std::string> labels_of(const BatchSeries& series) {
    return mapped(indices(series.results.size()), [&](std::size_t i) {
        return fmt::format("{}, batch {}", hardware_label(series.results[i]), series.batches[i]);
    });
}

std::vector<std::string> batch_lines(const BatchAnalysis& analysis, const std::vector<std::string>& labels) {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < analysis.series.size(); ++i) {
        const BatchSeries& series = analysis.series[i];
        const BestBatches best = best_batches(series);
        const bool any = best.throughput && best.knee && best.latency;
        const Result* const most = best.throughput ? &series.results[*best.throughput] : nullptr;
        lines.push_back(fmt::format("{}{}: {}.", labels[i],
                                    most ? " in " + multiplied_format(*most) + standing_note(most->estimate)
                                         : std::string(),
                                    any ? best_words(series, best) : without_best(series)));
    }
    return lines;
}

Members<BatchSeries> batch_series_members(const MetricView& view, const std::string& points) {
    return {{"best_batch", "null: no batch keeps the limits", std::identity{}, best_batch_members()},
            {points, "the batch sizes, one by one",
             [](const BatchSeries& series) {
                 return mapped(indices(series.results.size()), [&](std::size_t i) {
                     return RankedResult{&series.results[i], static_cast<double>(series.batches[i]), 0};
                 });
             },
             result_members(view).with(
                 {{"latency_per_item_s", "latency over the batch", [](const RankedResult& r) {
                       return known(r.result->ok(), r.result->estimate.latency_s / r.batch_size);
                   }}})}};
}

Chart batch_chart(const BatchAnalysis& sweep, const Metric& metric) {
    Chart chart{ChartKind::line,
                fmt::format("{} against batch", metric.title),
                "batch",
                fmt::format("{} ({})", metric.noun, axis_unit_of(metric)),
                true,
                false,
                {}};
    for (const BatchSeries& series : sweep.series) {
        ChartSeries line{hardware_label(series.results.front()), {}};
        for (std::size_t i = 0; i < series.results.size(); ++i) {
            const auto measure = measure_of(series.results[i], metric, sweep.limits.cost);
            if (!measure)
                continue;
            ChartPoint mark;
            mark.label = fmt::format("{}", series.batches[i]);
            mark.x = static_cast<double>(series.batches[i]);
            mark.y = measure->value * metric.scale;
            mark.y_low = measure->interval.low * metric.scale;
            mark.y_high = measure->interval.high * metric.scale;
            mark.hover =
                fmt::format("{}, batch {}: {}", line.name, mark.label, format_value(metric, measure->value));
            line.points.push_back(std::move(mark));
        }
        chart.series.push_back(std::move(line));
    }
    return chart;
}

Report describe(const BatchAnalysis& sweep, PlainView, Format format) {
    const std::string& title = first_result(sweep).model->title;
    Report report{fmt::format("Batch sizes of {}", title), {}};
    if (format == Format::csv)
        return {report.title, {batch_table(sweep)}};
    const std::vector<std::string> labels = device_labels(sweep);
    Takeaway takeaway{batch_lines(sweep, labels)};
    for (const BatchSeries& series : sweep.series)
        for (const auto& lines : {doubt_lines(series.results), device_warnings(series.results)})
            append(takeaway.lines, lines);
    add_blocks(report, Heading{1, fmt::format("BATCH ANALYSIS: {}", title)}, std::move(takeaway),
               batch_table(sweep));
    if (sweep.limits.active())
        for (const BatchSeries& series : sweep.series)
            add_blocks(report, decision_blocks(series.decision, series.results, labels_of(series)));
    report.blocks.push_back(Heading{2, "Charts"});
    const BatchSeries& shown = sweep.series.front();
    for (const Metric* m : shown_metrics(shown.results, {sweep.metrics, {}}).metrics->rows())
        if (format == Format::html ? m->recommend : *m == *batch_metrics(shown).rate)
            report.blocks.push_back(batch_chart(sweep, *m));
    return report;
}

AnswerDocument document_of(const BatchAnalysis& sweep, PlainView) {
    const MetricView view{sweep.metrics, sweep.limits.cost};
    using A = BatchAnalysis;
    const Members<A> request =
        request_members()
            .of<A>(first_result)
            .under([](const std::string& key) { return key == "batch_size" ? "" : key; })
            .with({{"hardware", "devices, with the power modes they run in", device_labels},
                   {"batch_sizes", "ascending", &A::batches}})
            .with(limit_members().of<A>([](const A& a) { return a.limits; }));
    return {sweep,
            "analyze_batch",
            "one model over batch sizes",
            {{"request", "what was asked", std::identity{}, request},
             {"model", "",
              [](const A& a) {
                  return KnownModel{first_result(a).model.get(), nullptr};
              },
              model_members()},
             {"verdict", "the answer", [](const A& a) { return batch_lines(a, device_labels(a)); },
              lines_members()},
             {"batch_sizes", "ascending", &A::batches},
             {"series", "", &A::series,
              Members<BatchSeries>{{"hardware", "as asked", &BatchSeries::hardware}}.with(
                  batch_series_members(view, "points"))}}};
}

} // namespace archsim
