// Scenarios and certainty: the same comparison with something changed.

#include "answers/architectures/architectures.hpp"

#include "core/lists.hpp"
#include "core/text.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/result_text.hpp"
#include "result/ranking.hpp"

#include <algorithm>
#include <array>
#include <fmt/ranges.h>

namespace archsim {

constexpr std::size_t kMostInputs = 10; ///< rows of the sensitivity table

static Cell before_after(const Metric& metric, const std::optional<double>& before,
                         const std::optional<double>& after) {
    if (!after)
        return {};
    if (!before)
        return value_cell(metric, after);
    return {fmt::format("{} -> {} ({})", format_value(metric, *before), format_value(metric, *after),
                        format_ratio(*after / *before)),
            *after};
}

static Table values_table(const ArchitectureComparison& c, const Metric& metric) {
    const BatchAnalysis& a = c.batch_sweep->analysis;
    struct Row {
        std::int64_t batch;
        std::vector<Result> results;
        std::optional<Winner> winner;
    };
    const auto rows = mapped(indices(a.batches.size()), [&](std::size_t b) {
        const auto here = mapped(a.series, [&](const BatchSeries& series) { return series.results[b]; });
        return Row{a.batches[b], here, find_winner(here, metric, a.limits.cost)};
    });
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

/// "GPU passes TPU (projected) in throughput at batch 11".
static std::string crossover_text(const ArchitectureComparison& c, const Crossover& x) {
    return fmt::format("{} passes {} in {} at batch {}", marked_label(c, x.winner), marked_label(c, x.loser),
                       x.metric->noun, x.batch);
}

/// "GPU: conv1 to layer3.1 (17 subgraphs)" for each stretch of regions on one device.
static Facts stretches(const ArchitectureComparison& c, const HybridPair& h) {
    Facts facts;
    const HybridSplit& s = h.split;
    for (std::size_t begin = 0; begin < s.regions.size();) {
        std::size_t end = begin;
        while (end + 1 < s.regions.size() && s.on_b[end + 1] == s.on_b[begin])
            ++end;
        facts.add(c.labels[s.on_b[begin] ? h.b : h.a],
                  begin == end ? s.regions[begin].name
                               : fmt::format("{} to {} ({} subgraphs)", s.regions[begin].name,
                                             s.regions[end].name, end - begin + 1));
        begin = end + 1;
    }
    return facts;
}

static std::string transfers_text(const HybridSplit& s) {
    HybridTransfer all;
    for (const HybridTransfer& t : s.transfers) {
        all.bytes += t.bytes;
        all.seconds += t.seconds;
        all.joules += t.joules;
    }
    return fmt::format("{} of {} in all, {}, {}", plural(s.transfers.size(), "transfer"),
                       format_bytes(all.bytes), format_time(all.seconds), format_energy(all.joules));
}

void add_what_if(const ArchitectureComparison& c, Report& report) {
    const WhatIf& w = *c.what_if;
    static constexpr std::array kShown = {&metric::latency, &metric::energy, &metric::throughput,
                                          &metric::power};
    report.blocks.push_back(Heading{2, fmt::format("What if: {}", fmt::join(w.asked, ", "))});
    using Index = std::size_t;
    std::vector<ColumnOf<Index>> columns = {
        {{"Architecture", "", "architecture"}, [&](Index i) { return c.labels[i]; }}};
    int priority = 0;
    for (const Metric* metric : kShown) {
        Column column = column_of(*metric);
        columns.emplace_back(
            Column{metric->title, "now -> then", column.key, Align::right, priority++, column.best},
            [&c, &w, metric](Index i) {
                return before_after(*metric, value_of(c.results[i], *metric, c.request.decision.cost),
                                    value_of(w.results[i], *metric, c.request.decision.cost));
            });
    }
    Table table = table_of({}, columns, indices(w.results.size()));
    for (Index i = 0; i < w.results.size(); ++i)
        if (const Result& r = w.results[i]; !r.ok() || !r.estimate.precision_note.empty())
            table.notes.push_back(
                fmt::format("{}: {}", c.labels[i], r.ok() ? r.estimate.precision_note : r.estimate.reason));
    report.blocks.push_back(std::move(table));
    Bullets bullets;
    for (const Metric* metric : c.request.metrics->rows()) {
        const auto before = find_winner(c.results, *metric, c.request.decision.cost);
        const auto after = find_winner(w.results, *metric, c.request.decision.cost);
        if (before && after && after->leads && before->best != after->best)
            bullets.items.push_back(
                fmt::format("Best {}: {}{} instead of {}.", metric->noun, c.labels[after->best],
                            standing_note(w.results[after->best].estimate), c.labels[before->best]));
    }
    if (bullets.items.empty() && c.results.size() > 1)
        bullets.items.emplace_back("No recommendation changes.");
    report.blocks.push_back(std::move(bullets));
}

void add_what_if_lines(const ArchitectureComparison& c, std::vector<std::string>& lines) {
    constexpr std::size_t kNamed = 3;
    const WhatIf& w = *c.what_if;
    const Metric& by = *c.request.metric;
    std::vector<std::string> own;
    for (std::size_t i = 0; i < w.results.size(); ++i) {
        const auto now = value_of(c.results[i], by, c.request.decision.cost),
                   then = value_of(w.results[i], by, c.request.decision.cost);
        if (now != then || !w.results[i].ok())
            own.push_back(fmt::format("{}: {}", marked_label(c, i),
                                      then ? by.noun + " " + before_after(by, now, then).text
                                           : w.results[i].estimate.reason));
    }
    lines.insert(lines.begin(),
                 fmt::format("With {}, {}.", fmt::join(w.asked, ", "),
                             own.empty() ? by.noun + " is the same" : names_text(own, kNamed)));
}

void add_sensitivity(const ArchitectureComparison& c, Report& report) {
    const Sensitivity& s = *c.sensitivity;
    const std::string& noun = c.request.metric->noun;
    report.blocks.push_back(
        Heading{2, fmt::format("Assumed inputs, {} down and up ({})", format_percent(s.variation), noun)});
    const auto effect = [](double SensitivityRow::*of) {
        return [of](const SensitivityRow& row) { return Cell{signed_percent(row.*of), row.*of}; };
    };
    const BestIs best = column_of(*c.request.metric).best;
    const auto changing =
        std::ranges::count_if(s.rows, [](const SensitivityRow& row) { return row.other_winner.has_value(); });
    Table table = table_of<SensitivityRow>(
        {},
        {{{"Architecture", "", "architecture"},
          [&](const SensitivityRow& row) { return c.labels[row.architecture]; }},
         {{"Assumed input", "", "input"}, &SensitivityRow::input},
         {{"Down", noun, "effect_down", Align::right, 0, best}, effect(&SensitivityRow::effect_down)},
         {{"Up", noun, "effect_up", Align::right, 0, best}, effect(&SensitivityRow::effect_up)},
         {{"Winner then", "", "other_winner"},
          [&](const SensitivityRow& row) {
              return !row.other_winner ? std::string("the same") : marked_label(c, *row.other_winner);
          }}},
        std::span(s.rows).first(std::min(kMostInputs, s.rows.size())));
    const auto winner = find_winner(c.results, *c.request.metric, c.request.decision.cost);
    if (!winner)
        return;
    report.blocks.push_back(Paragraph{
        changing == 0 ? fmt::format("{} stays best whichever of the {} assumed inputs is off by {}.",
                                    marked_label(c, winner->best), s.varied, format_percent(s.variation))
                      : fmt::format("{} of {} assumed inputs decide whether {} is best.", changing, s.varied,
                                    c.labels[winner->best])});
    if (!table.rows.empty())
        report.blocks.push_back(std::move(table));
}

void add_sweep_lines(const ArchitectureComparison& c, std::vector<std::string>& lines) {
    constexpr std::size_t kNamed = 3;
    const BatchSweep& s = *c.batch_sweep;
    auto crossovers = mapped(s.crossovers, [&](const Crossover& x) { return crossover_text(c, x); });
    std::vector<std::string> own = batch_lines(s.analysis, c.labels);
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
    Bullets bullets;
    for (const Crossover& x : s.crossovers)
        bullets.items.push_back(crossover_text(c, x));
    if (bullets.items.empty())
        bullets.items.emplace_back("No architecture passes another one within these batches.");
    add_blocks(report, Heading{3, "Crossovers:"}, std::move(bullets));
    for (const Metric* metric : {&metric::throughput, &metric::energy, &metric::latency})
        report.blocks.push_back(values_table(c, *metric));
    report.blocks.push_back(batch_chart(s.analysis, metric::throughput));
}

void add_hybrids(const ArchitectureComparison& c, Report& report) {
    if (c.hybrids.empty())
        return;
    const Metric& shown = regional(*c.request.metric);
    const auto best = std::ranges::find_if(c.hybrids, [&](const HybridPair& h) {
        return h.split.wins() && may_lead(c.results[h.a].estimate) && may_lead(c.results[h.b].estimate);
    });
    report.blocks.push_back(Heading{3, "Split over two devices:"});
    const std::size_t single = find_winner(c.results, shown)->best;
    const Estimate& whole = c.results[single].estimate; // of a batch, as the values of splits are
    const double least = shown == metric::latency ? whole.latency_s : whole.energy.total();
    if (best == c.hybrids.end()) {
        const HybridPair& h = c.hybrids.front();
        report.blocks.push_back(Paragraph{fmt::format(
            "No split beats the better one of its devices alone. The best, {} with {}, takes {} against {}: "
            "{}.",
            marked_label(c, h.a), marked_label(c, h.b), format_value(shown, h.split.value),
            format_value(shown, std::min(h.split.a_value, h.split.b_value)), transfers_text(h.split))});
        return;
    }
    const double alone = std::min(best->split.a_value, best->split.b_value);
    if (best->split.value >= least)
        report.blocks.push_back(Paragraph{fmt::format(
            "No split beats {} alone ({}). Where only these two are at hand:", marked_label(c, single),
            format_value(shown, least))});
    add_blocks(report,
               Paragraph{fmt::format(
                   "{} with {} takes {}, {} less than the better one of them alone ({}), with {}.",
                   marked_label(c, best->a), marked_label(c, best->b), format_value(shown, best->split.value),
                   format_percent(1 - best->split.value / alone), format_value(shown, alone),
                   transfers_text(best->split))},
               stretches(c, *best));
}

} // namespace archsim
