// Best batch of each architecture, crossovers, and throughput over batch as a chart.

#include "report/answers/architectures.hpp"
#include "report/blocks/number_format.hpp"

#include <fmt/format.h>

namespace archsim {

namespace {

Table values_table(const ArchitectureComparison& c, const BatchSweep& s, const Metric& metric) {
    Table table;
    table.title = fmt::format("{} by batch", metric.title);
    table.columns = {{"Batch", "", "batch_size", Align::right}};
    for (const std::string& label : c.labels)
        table.columns.push_back({label, "", label, Align::right});
    table.columns.push_back({"Best", "", "best"});
    for (std::size_t b = 0; b < s.batches.size(); ++b) {
        std::vector<Cell> row{{fmt::format("{}", s.batches[b]), static_cast<double>(s.batches[b])}};
        std::vector<Result> here;
        for (const auto& results : s.results)
            here.push_back(results[b]);
        const auto winner = find_winner(here, metric, c.request.decision.cost);
        for (std::size_t i = 0; i < here.size(); ++i) {
            const auto value = value_of(here[i], metric, c.request.decision.cost);
            row.push_back(value ? Cell{format_value(metric, *value), *value,
                                       winner && winner->best == i ? Tone::good : Tone::plain}
                                : Cell{std::string(name_of(here[i].estimate.status))});
        }
        row.push_back({winner ? c.labels[winner->best] : "-"});
        table.rows.push_back(std::move(row));
    }
    return table;
}

Facts best_batches(const ArchitectureComparison& c, const BatchSweep& s) {
    Facts facts;
    for (std::size_t i = 0; i < c.labels.size(); ++i) {
        const BestBatch& best = s.best[i];
        if (!best.throughput) {
            facts.items.push_back({c.labels[i], "no batch qualifies"});
            continue;
        }
        const Result &t = s.results[i][*best.throughput], &e = s.results[i][*best.energy];
        const auto text = [](const Result& r, const Metric& m) {
            return format_value(m, value_or_nan(r, m));
        };
        facts.items.push_back(
            {c.labels[i],
             fmt::format("{} for throughput ({}, {}), {} for energy ({}, {})", s.batches[*best.throughput],
                         text(t, metric::throughput), text(t, metric::latency), s.batches[*best.energy],
                         text(e, metric::energy), text(e, metric::latency))});
    }
    return facts;
}

Chart throughput_chart(const ArchitectureComparison& c, const BatchSweep& s) {
    Chart chart;
    chart.kind = ChartKind::line;
    chart.title = "Throughput over batch";
    chart.x_title = "batch";
    chart.y_title = "inferences/s";
    chart.x_log = chart.y_log = true;
    for (std::size_t i = 0; i < c.labels.size(); ++i) {
        ChartSeries series{c.labels[i], {}};
        for (std::size_t b = 0; b < s.batches.size(); ++b)
            if (const auto value = value_of(s.results[i][b], metric::throughput))
                series.points.push_back(
                    {fmt::format("{}", s.batches[b]), static_cast<double>(s.batches[b]), *value});
        chart.series.push_back(std::move(series));
    }
    return chart;
}

} // namespace

void add_batch_sweep(const ArchitectureComparison& c, Report& report) {
    const BatchSweep& s = *c.batch_sweep;
    report.blocks.push_back(Heading{2, fmt::format("Batch sweep: {}", c.model->title)});
    report.blocks.push_back(
        Heading{3, s.latency_bound_s ? fmt::format("Best batch within {}:", format_time(*s.latency_bound_s))
                                     : std::string("Best batch:")});
    report.blocks.push_back(best_batches(c, s));
    Bullets bullets;
    for (const Crossover& x : s.crossovers)
        bullets.items.push_back(fmt::format("{} passes {} in {} at batch {}", c.labels[x.winner],
                                            c.labels[x.loser], x.metric->noun, x.batch));
    if (bullets.items.empty())
        bullets.items.emplace_back("No architecture passes another one within these batches.");
    report.blocks.push_back(Heading{3, "Crossovers:"});
    report.blocks.push_back(std::move(bullets));
    report.blocks.push_back(values_table(c, s, metric::throughput));
    report.blocks.push_back(values_table(c, s, metric::energy));
    report.blocks.push_back(values_table(c, s, metric::latency));
    report.blocks.push_back(throughput_chart(c, s));
}

} // namespace archsim
