#include "answers/batch/batch.hpp"

#include "hardware/energy_table.hpp"
#include "report/blocks/decision_report.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/result_row.hpp"
#include "report/blocks/result_text.hpp"
#include "report/blocks/row_marks.hpp"
#include "report/render/answer_document.hpp"
#include "result/generation_metrics.hpp"
#include "session/every_mode.hpp"
#include "session/usual_question.hpp"

#include <algorithm>
#include <cmath>

namespace archsim {

std::vector<Result> results_of(const BatchSeries& series) {
    std::vector<Result> results;
    for (const BatchPoint& point : series.points)
        results.push_back(point.result);
    return results;
}

BatchMetrics batch_metrics(const BatchSeries& series) {
    return compares_generation(results_of(series))
               ? BatchMetrics{&metric::total_token_rate, &metric::token_time, &metric::token_energy}
               : BatchMetrics{&metric::throughput, &metric::latency, &metric::energy};
}

BestBatches best_batches(const BatchSeries& series) {
    BestBatches best;
    const BatchMetrics by = batch_metrics(series);
    const auto& points = series.points;
    const auto qualifies = [&](std::size_t i) { return series.decision.qualifies[i]; };
    const auto value = [&](std::size_t i, const Metric& metric) {
        return value_or_nan(points[i].result, metric);
    };
    const auto improve = [&](std::optional<std::size_t>& at, const Metric& metric, std::size_t i) {
        if (std::isnan(value(i, metric)))
            return;
        if (!at || better(metric, value(i, metric), value(*at, metric)))
            at = i;
    };
    for (std::size_t i = 0; i < points.size(); ++i)
        if (qualifies(i)) {
            improve(best.throughput, *by.rate, i);
            improve(best.latency, *by.time, i);
            improve(best.energy, *by.energy, i);
        }
    for (std::size_t i = 0; best.throughput && i < points.size() && !best.knee; ++i)
        if (qualifies(i) && value(i, *by.rate) >= kNearlyBest * value(*best.throughput, *by.rate))
            best.knee = i;
    return best;
}

BatchAnalysis analyze_batches(const Session& session, const BatchRequest& request) {
    BatchAnalysis sweep;
    sweep.batches = request.batches;
    sweep.limits = request.limits;
    std::sort(sweep.batches.begin(), sweep.batches.end());
    sweep.batches.erase(std::unique(sweep.batches.begin(), sweep.batches.end()), sweep.batches.end());
    if (sweep.batches.empty() || sweep.batches.front() < 1)
        throw UsageError("batch sizes: give at least one, each 1 or more");
    for (const std::string& hardware : with_every_mode(session.hardware(), request.hardware)) {
        session.hardware().device(hardware); // unknown names stop here, before any work
        sweep.series.insert(sweep.series.end(), std::max<std::size_t>(1, request.device_counts.size()),
                            {hardware, {}, {}});
    }
    std::size_t done = 0;
    Workload workload = request.workload;
    Conditions conditions = request.conditions;
    if (!request.model.empty())
        workload.model = session.load(request.model);
    workload = usual_question(std::move(workload));
    for (const std::int64_t batch : sweep.batches) {
        workload.batch = batch;
        for (std::size_t i = 0; i < sweep.series.size(); ++i) {
            BatchSeries& series = sweep.series[i];
            if (!request.device_counts.empty())
                conditions.devices = request.device_counts[i % request.device_counts.size()];
            series.points.push_back({batch, session.estimate(workload, series.hardware, conditions)});
            if (request.progress)
                request.progress(++done, sweep.batches.size() * sweep.series.size());
        }
    }
    for (BatchSeries& series : sweep.series)
        series.decision = decide(results_of(series), sweep.limits);
    return sweep;
}

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

std::string without_best(const BatchSeries& series) {
    for (const BatchPoint& point : series.points)
        if (point.result.ok())
            return "no batch keeps the limits";
    return fmt::format("no estimate of any batch; batch {}: {}", series.points.front().batch,
                       series.points.front().result.estimate.reason);
}

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

struct BatchRow {
    const BatchSeries* series;
    std::size_t index;
    BestBatches best;

    const BatchPoint& point() const { return series->points[index]; }
    const Result& result() const { return point().result; }
};
using BatchColumns = std::vector<ColumnOf<BatchRow>>;

bool estimated(const BatchRow& row) {
    return row.result().ok();
}

/// The interval of the latency and its share of one item stand beside it.
BatchColumns metric_columns(const BatchAnalysis& sweep, const Metric& m) {
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
                                 return measure(row)->value / static_cast<double>(row.point().batch);
                             });
    }
    return columns;
}

BatchColumns batch_columns(const BatchAnalysis& sweep) {
    BatchColumns columns = {
        {{"Hardware", "", "hardware"},
         [](const BatchRow& row) {
             return Cell{marked(hardware_label(row.result()), MarkedCell::hardware, row.result())};
         }},
        {{"Batch", "", "batch_size", Align::right},
         [](const BatchRow& row) { return count_cell(true, static_cast<double>(row.point().batch)); }}};
    const std::vector<Result> all = [&] {
        std::vector<Result> list;
        for (const BatchSeries& series : sweep.series)
            for (const BatchPoint& point : series.points)
                list.push_back(point.result);
        return list;
    }();
    for (const Metric* m : shown_metrics(all, {sweep.metrics, {}}).metrics->rows())
        if (any_value(all, *m, sweep.limits.cost))
            append_columns(columns, where(estimated, metric_columns(sweep, *m)));
    columns.push_back(
        {{"Best", "", "best"}, [](const BatchRow& row) {
             return row.result().ok()
                        ? Cell{marks_of(row.best, row.index), {}, Tone::good, {}, CellKind::text}
                        : toned_cell(status_words(row.result().estimate), Tone::bad);
         }});
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
std::string failure_note(const BatchSeries& series) {
    std::string text;
    std::size_t more = 0;
    for (const BatchPoint& point : series.points) {
        const Result& r = point.result;
        if (!r.ok() && text.empty())
            text = fmt::format("{} at batch {}: {}", hardware_label(r), point.batch, r.estimate.reason);
        else
            more += r.ok() ? 0U : 1U;
    }
    return more == 0 ? text : fmt::format("{}; {} more batch{} likewise", text, more, more == 1 ? "" : "es");
}

Table batch_table(const BatchAnalysis& sweep) {
    std::vector<BatchRow> rows;
    std::vector<std::string> notes;
    for (const BatchSeries& series : sweep.series) {
        const BestBatches best = best_batches(series);
        for (std::size_t i = 0; i < series.points.size(); ++i)
            rows.push_back({&series, i, best});
        if (std::string why = failure_note(series); !why.empty())
            notes.push_back(std::move(why));
    }
    Table table = table_of("Batch sizes", batch_columns(sweep), rows);
    table.notes.push_back(
        fmt::format("knee: smallest batch with {:.0f} % of the best throughput", kNearlyBest * 100));
    table.notes.insert(table.notes.end(), notes.begin(), notes.end());
    return table;
}

std::vector<std::string> device_labels(const BatchAnalysis& sweep) {
    std::vector<std::string> labels;
    for (const BatchSeries& series : sweep.series)
        labels.push_back(hardware_label(series.points.front().result));
    return labels;
}

/// "batch 8", one per point.
std::vector<std::string> labels_of(const BatchSeries& series) {
    std::vector<std::string> labels;
    for (const BatchPoint& point : series.points)
        labels.push_back(fmt::format("{}, batch {}", hardware_label(point.result), point.batch));
    return labels;
}

AnswerDocument<BatchAnalysis> batch_document(const MetricView& view) {
    using A = BatchAnalysis;
    const Members<A> request =
        request_members()
            .of<A>(first_result)
            .with({{"hardware", "devices, with the power modes they run in", device_labels}});
    return {"analyze_batch",
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

Chart batch_chart(const BatchAnalysis& sweep, const Metric& metric) {
    Chart chart{ChartKind::line,
                fmt::format("{} against batch", metric.title),
                "batch",
                fmt::format("{} ({})", metric.noun, axis_unit_of(metric)),
                true,
                false,
                {}};
    for (const BatchSeries& series : sweep.series) {
        ChartSeries line{hardware_label(series.points.front().result), {}};
        for (const BatchPoint& point : series.points) {
            const auto measure = measure_of(point.result, metric, sweep.limits.cost);
            if (!measure)
                continue;
            ChartPoint mark;
            mark.label = fmt::format("{}", point.batch);
            mark.x = static_cast<double>(point.batch);
            mark.y = measure->value * metric.scale;
            mark.y_low = measure->interval.low * metric.scale;
            mark.y_high = measure->interval.high * metric.scale;
            mark.hover =
                fmt::format("{}, batch {}: {}", line.name, point.batch, format_value(metric, measure->value));
            line.points.push_back(std::move(mark));
        }
        chart.series.push_back(std::move(line));
    }
    return chart;
}

Report describe(const BatchAnalysis& sweep, PlainView, Format format) {
    const Result& first = first_result(sweep);
    Report report{fmt::format("Batch sizes of {}", first.model->title), {}};
    if (format == Format::csv)
        return {report.title, {batch_table(sweep)}};
    report.blocks.push_back(Heading{1, fmt::format("BATCH ANALYSIS: {}", first.model->title)});
    std::vector<std::string> lines = batch_lines(sweep, device_labels(sweep));
    for (const BatchSeries& series : sweep.series)
        for (std::string& warning : device_warnings(results_of(series)))
            lines.push_back(std::move(warning));
    add_blocks(report, Takeaway{std::move(lines)}, batch_table(sweep), Heading{2, best_batch_heading(sweep)},
               best_batch_facts(sweep, device_labels(sweep)));
    if (sweep.limits.active())
        for (const BatchSeries& series : sweep.series)
            add_blocks(report, decision_blocks(series.decision, results_of(series), labels_of(series)));
    report.blocks.push_back(Heading{2, "Charts"});
    const BatchSeries& shown = sweep.series.front();
    for (const Metric* m : shown_metrics(results_of(shown), {sweep.metrics, {}}).metrics->rows())
        if (format == Format::html ? m->recommend : *m == *batch_metrics(shown).rate)
            report.blocks.push_back(batch_chart(sweep, *m));
    return report;
}

nlohmann::ordered_json analyze_batch_schema() {
    return batch_document({}).schema();
}

std::string to_json(const BatchAnalysis& sweep, PlainView) {
    return batch_document({sweep.metrics, sweep.limits.cost}).text(sweep);
}

} // namespace archsim
