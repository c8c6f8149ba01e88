// What if, and how sure: the same comparison with something changed.

#include "answers/architectures/architectures.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/number_format.hpp"
#include "result/ranking.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace archsim {

namespace {

constexpr std::size_t kMostInputs = 10; ///< rows of the sensitivity table

Cell before_after(const Metric& metric, const std::optional<double>& before,
                  const std::optional<double>& after) {
    if (!after)
        return {};
    if (!before)
        return {format_value(metric, *after), *after};
    return {fmt::format("{} -> {} ({})", format_value(metric, *before), format_value(metric, *after),
                        format_ratio(*after / *before)),
            *after};
}

} // namespace

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
        if (!w.results[i].ok())
            table.notes.push_back(fmt::format("{}: {}", c.labels[i], w.results[i].estimate.reason));
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
    if (bullets.items.empty())
        bullets.items.emplace_back("No recommendation changes.");
    report.blocks.push_back(std::move(bullets));
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
    const auto changing = std::count_if(
        s.rows.begin(), s.rows.end(), [](const SensitivityRow& row) { return row.other_winner.has_value(); });
    Table table = table_of<SensitivityRow>(
        {},
        {{{"Architecture", "", "architecture"},
          [&](const SensitivityRow& row) { return c.labels[row.architecture]; }},
         {{"Assumed input", "", "input"}, &SensitivityRow::input},
         {{"Down", noun, "effect_down", Align::right, 0, best}, effect(&SensitivityRow::effect_down)},
         {{"Up", noun, "effect_up", Align::right, 0, best}, effect(&SensitivityRow::effect_up)},
         {{"Winner then", "", "other_winner"},
          [&](const SensitivityRow& row) {
              return !row.other_winner
                         ? std::string("the same")
                         : c.labels[*row.other_winner] + standing_note(c.results[*row.other_winner].estimate);
          }}},
        std::span(s.rows).first(std::min(kMostInputs, s.rows.size())));
    const auto winner = find_winner(c.results, *c.request.metric, c.request.decision.cost);
    if (!winner)
        return;
    report.blocks.push_back(Paragraph{
        changing == 0 ? fmt::format("{}{} stays best whichever of the {} assumed inputs is off by {}.",
                                    c.labels[winner->best], standing_note(c.results[winner->best].estimate),
                                    s.varied, format_percent(s.variation))
                      : fmt::format("{} of {} assumed inputs decide whether {} is best.", changing, s.varied,
                                    c.labels[winner->best])});
    if (!table.rows.empty())
        report.blocks.push_back(std::move(table));
}

} // namespace archsim
