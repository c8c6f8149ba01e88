// Best batch of each architecture, crossovers, and throughput over batch as a chart.

#include "answers/architectures/architectures.hpp"
#include "answers/batch/batch_blocks.hpp"
#include "answers/batch/batch_report.hpp"
#include "core/text.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/result_text.hpp"
#include "result/ranking.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace archsim {

namespace {

Table values_table(const ArchitectureComparison& c, const Metric& metric) {
    const BatchAnalysis& a = c.batch_sweep->analysis;
    /// A batch on every architecture.
    struct Row {
        std::int64_t batch;
        std::vector<Result> results;
        std::optional<Winner> winner;
    };
    std::vector<Row> rows;
    for (std::size_t b = 0; b < a.batches.size(); ++b) {
        std::vector<Result> here;
        for (const BatchSeries& series : a.series)
            here.push_back(series.points[b].result);
        auto winner = find_winner(here, metric, a.limits.cost);
        rows.push_back({a.batches[b], std::move(here), std::move(winner)});
    }
    std::vector<ColumnOf<Row>> columns = {{most_best("Batch", "", "batch_size"), 1, &Row::batch}};
    for (std::size_t i = 0; i < c.labels.size(); ++i)
        columns.emplace_back(Column{c.labels[i], "", c.labels[i], Align::right, 0, column_of(metric).best},
                             [&, i](const Row& row) {
                                 const auto value = value_of(row.results[i], metric, a.limits.cost);
                                 return value ? Cell{format_value(metric, *value), *value,
                                                     row.winner && row.winner->leads && row.winner->best == i
                                                         ? Tone::good
                                                         : Tone::plain}
                                              : Cell{status_words(row.results[i].estimate)};
                             });
    columns.emplace_back(Column{"Best", "", "best"}, [&](const Row& row) {
        return row.winner && row.winner->leads ? c.labels[row.winner->best] : std::string();
    });
    return table_of(fmt::format("{} by batch", metric.title), columns, rows);
}

/// "TPU (projected)".
std::string marked_label(const ArchitectureComparison& c, std::size_t i) {
    return c.labels[i] + standing_note(c.results[i].estimate);
}

/// "GPU passes TPU (projected) in throughput at batch 11".
std::string crossover_text(const ArchitectureComparison& c, const Crossover& x) {
    return fmt::format("{} passes {} in {} at batch {}", marked_label(c, x.winner), marked_label(c, x.loser),
                       x.metric->noun, x.batch);
}

} // namespace

void add_sweep_lines(const ArchitectureComparison& c, std::vector<std::string>& lines) {
    constexpr std::size_t kNamed = 3;
    const BatchSweep& s = *c.batch_sweep;
    std::vector<std::string> labels, crossovers;
    for (std::size_t i = 0; i < c.labels.size(); ++i)
        labels.push_back(marked_label(c, i));
    for (const Crossover& x : s.crossovers)
        crossovers.push_back(crossover_text(c, x));
    std::vector<std::string> own = batch_lines(s.analysis, labels);
    if (!crossovers.empty())
        own.push_back(names_text(crossovers, kNamed) + ".");
    if (!lines.empty()) { // "Least energy" and "None" are words, "GPU" is a name
        std::string& first = lines.front();
        first = fmt::format("At batch {}, {}", c.request.workload.batch, first_lower(first));
    }
    lines.insert(lines.begin(), own.begin(), own.end());
}

void add_batch_sweep(const ArchitectureComparison& c, Report& report) {
    const BatchSweep& s = *c.batch_sweep;
    report.blocks.push_back(Heading{2, fmt::format("Batch sweep: {}", c.model->title)});
    report.blocks.push_back(Heading{3, best_batch_heading(s.analysis) + ":"});
    report.blocks.push_back(best_batch_facts(s.analysis, c.labels));
    Bullets bullets;
    for (const Crossover& x : s.crossovers)
        bullets.items.push_back(crossover_text(c, x));
    if (bullets.items.empty())
        bullets.items.emplace_back("No architecture passes another one within these batches.");
    report.blocks.push_back(Heading{3, "Crossovers:"});
    report.blocks.push_back(std::move(bullets));
    for (const Metric* metric : {&metric::throughput, &metric::energy, &metric::latency})
        report.blocks.push_back(values_table(c, *metric));
    report.blocks.push_back(batch_chart(s.analysis, metric::throughput));
}

} // namespace archsim
