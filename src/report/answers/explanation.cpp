#include "report/answers/explanation_text.hpp"

#include "report/answers/explanation_chart.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/result_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>

namespace archsim {

namespace {

constexpr double kCarried = 0.8;    ///< share of the difference that the listed subgraphs carry
constexpr double kWorthWords = 0.1; ///< parts below this share of the largest get a row, not a sentence
constexpr std::size_t kMostNames = 3;

std::string region_name(const Attribution& attribution, const RegionContribution& r) {
    return r.region ? attribution.regions[*r.region].name : "whole network";
}

Paragraph headline(const ArchitectureComparison& c, const Explanation& e) {
    const Attribution& x = e.attribution;
    const Metric& info = *x.metric;
    if (x.difference == 0)
        return {fmt::format("No difference: {} and {} both have {} of {}.", full_label(c, e.a),
                            full_label(c, e.b), info.noun, format_value(*x.metric, x.a_value))};
    std::string text = fmt::format("{} {} {}: {} against {}, a difference of {}.", full_label(c, e.a),
                                   ratio_text(info, x.a_value / x.b_value), full_label(c, e.b),
                                   format_value(info, x.a_value), format_value(info, x.b_value),
                                   signed_value(info, x.difference));
    if (const auto& parts = x.contributions; parts.size() > 1)
        text += fmt::format(" Largest causes: {} ({} of it), {} ({}).", info_of(parts[0].factor).title,
                            format_percent(parts[0].share), info_of(parts[1].factor).title,
                            format_percent(parts[1].share));
    if (e.overlapping)
        text += " The 90 % intervals overlap: the estimates cannot tell the two apart for certain.";
    return {std::move(text)};
}

std::string source_text(const FactorSource& s) {
    return fmt::format("{} {:.6g} [{}: {}{}]", s.name, s.fact.value, name_of(s.fact.source->kind),
                       s.fact.source->cite,
                       s.fact.fitted_n > 0 ? fmt::format(", n = {}", s.fact.fitted_n) : std::string());
}

Table contribution_table(const ArchitectureComparison& c, const Explanation& e) {
    const Attribution& x = e.attribution;
    const std::string &a = c.labels[e.a], &b = c.labels[e.b];
    Table table;
    table.title = fmt::format("Parts of the difference ({} - {})", a, b);
    table.columns = {{"Cause", "", "factor"},
                     {"Part", "", "value", Align::right},
                     {"Share", "%", "share", Align::right},
                     {a, "", "a_input", Align::right},
                     {b, "", "b_input", Align::right}};
    for (const Contribution& p : x.contributions)
        table.rows.push_back({{std::string(info_of(p.factor).title)},
                              {signed_value(*x.metric, p.value), p.value},
                              {percent_text(p.share), p.share},
                              {input_text(p.factor, p.a.value), p.a.value},
                              {input_text(p.factor, p.b.value), p.b.value}});
    table.rows.push_back({{"sum", {}, Tone::strong},
                          {signed_value(*x.metric, x.difference), x.difference, Tone::strong},
                          {"100.0", 1.0},
                          {format_value(*x.metric, x.a_value), x.a_value},
                          {format_value(*x.metric, x.b_value), x.b_value}});
    table.notes.emplace_back("Each part: what changes when this alone is replaced by the other's, averaged "
                             "over all orders of replacing the causes.");
    return table;
}

Bullets sentences(const ArchitectureComparison& c, const Explanation& e) {
    Bullets bullets;
    const Attribution& x = e.attribution;
    for (const Contribution& p : x.contributions)
        if (std::abs(p.value) >= kWorthWords * std::abs(x.contributions.front().value))
            bullets.items.push_back(contribution_sentence(p, *x.metric, c.labels[e.a], c.labels[e.b]));
    return bullets;
}

/// Where the inputs of the parts that got a sentence come from.
Bullets sources(const ArchitectureComparison& c, const Explanation& e) {
    Bullets bullets;
    const Attribution& x = e.attribution;
    for (const Contribution& p : x.contributions) {
        if (std::abs(p.value) < kWorthWords * std::abs(x.contributions.front().value))
            continue;
        for (const auto& [label, input] : {std::pair(c.labels[e.a], &p.a), std::pair(c.labels[e.b], &p.b)}) {
            std::vector<std::string> texts;
            for (const FactorSource& s : input->sources)
                texts.push_back(source_text(s));
            if (!texts.empty())
                bullets.items.push_back(
                    fmt::format("{}, {}: {}", info_of(p.factor).title, label, fmt::join(texts, "; ")));
        }
    }
    return bullets;
}

Table region_table(const ArchitectureComparison& c, const Explanation& e,
                   const std::vector<const RegionContribution*>& list) {
    const Attribution& x = e.attribution;
    Table table;
    double carried = 0;
    for (const RegionContribution* r : list)
        carried += r->value;
    table.title = fmt::format("Subgraphs that carry {} of the difference ({} of {})",
                              format_percent(carried / x.difference), list.size(), x.regions.size());
    table.columns = {{"Operation", "", "subgraph"},
                     {"Part", "", "value", Align::right},
                     {"Share", "%", "share", Align::right},
                     {"Mainly", "", "main_factor"},
                     {c.labels[e.a], "bound by", "a_bound", Align::left, 1},
                     {c.labels[e.b], "bound by", "b_bound", Align::left, 1}};
    for (const RegionContribution* r : list)
        table.rows.push_back({{region_name(x, *r)},
                              {signed_value(*x.metric, r->value), r->value},
                              {percent_text(r->value / x.difference), r->value / x.difference},
                              {std::string(info_of(r->main).title)},
                              {r->region ? std::string(name_of(r->a_bound)) : "-"},
                              {r->region ? std::string(name_of(r->b_bound)) : "-"}});
    return table;
}

Bullets bottleneck_changes(const ArchitectureComparison& c, const Explanation& e) {
    const Attribution& x = e.attribution;
    std::map<std::pair<Bound, Bound>, std::vector<std::string>> groups;
    for (const RegionContribution& r : x.region_contributions)
        if (r.region && r.a_bound != r.b_bound)
            groups[{r.a_bound, r.b_bound}].push_back(region_name(x, r));
    Bullets bullets;
    for (const auto& [bounds, names] : groups) {
        const std::size_t shown = std::min(names.size(), kMostNames);
        bullets.items.push_back(
            fmt::format("{} {}: {} bound on {}, {} bound on {} ({}{})", names.size(),
                        names.size() == 1 ? "subgraph" : "subgraphs", name_of(bounds.first), c.labels[e.a],
                        name_of(bounds.second), c.labels[e.b],
                        fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                        names.size() > shown ? ", ..." : ""));
    }
    return bullets;
}

void add_flips(const ArchitectureComparison& c, const Explanation& e, Report& report) {
    const Attribution& x = e.attribution;
    const bool a_wins = better(*x.metric, x.a_value, x.b_value);
    const std::string& other = c.labels[a_wins ? e.b : e.a];
    report.blocks.push_back(
        Heading{3, fmt::format("What would make {} the better one ({}):", other, x.metric->noun)});
    Bullets bullets;
    for (const Flip& flip : e.flips)
        bullets.items.push_back(fmt::format("{}: {} {}, {} {}", flip_text(flip), c.labels[e.a],
                                            format_value(*x.metric, flip.a_value), c.labels[e.b],
                                            format_value(*x.metric, flip.b_value)));
    if (e.flips.empty())
        bullets.items.push_back(
            fmt::format("no change of one device's property by up to {}, no batch and no precision tried",
                        format_ratio(e.flip_limit)));
    report.blocks.push_back(std::move(bullets));
}

/// Where a cause is a whole of its own, the command that takes it apart.
void add_next_steps(const ArchitectureComparison& c, const Explanation& e, Report& report) {
    const Metric& shown = *e.attribution.metric;
    if (shown == metric::latency || shown == metric::memory)
        return;
    report.blocks.push_back(Heading{3, "Next steps:"});
    const auto step = [&](const Metric& metric) {
        report.blocks.push_back(
            Command{tool_command(c, fmt::format("--explain-difference {} {} --metric {}", c.labels[e.a],
                                                c.labels[e.b], metric.key))});
    };
    if (shown != metric::throughput)
        step(metric::latency);
    if (shown != metric::energy)
        step(metric::energy);
}

} // namespace

void add_explanation(const ArchitectureComparison& c, const Explanation& e, Report& report) {
    const Attribution& x = e.attribution;
    report.blocks.push_back(Heading{
        2, fmt::format("Why is {} different from {}? ({})", c.labels[e.a], c.labels[e.b], x.metric->noun)});
    report.blocks.push_back(headline(c, e));
    for (std::size_t i : {e.a, e.b})
        if (const Result& r = c.results[i]; !r.estimate.precision_note.empty())
            report.blocks.push_back(Paragraph{fmt::format(
                "{} was asked for {} and runs {}: {}.", c.labels[i], precision_name(r.conditions.precision),
                precision_name(r.estimate.executed), r.estimate.precision_note)});
    if (x.contributions.empty())
        return;
    report.blocks.push_back(sentences(c, e));
    report.blocks.push_back(contribution_table(c, e));
    report.blocks.push_back(explanation_chart(c, e));
    if (const auto list = carrying(x, kCarried); !list.empty())
        report.blocks.push_back(region_table(c, e, list));
    if (Bullets changes = bottleneck_changes(c, e); !changes.items.empty()) {
        report.blocks.push_back(Heading{3, "Where the bottleneck changes:"});
        report.blocks.push_back(std::move(changes));
    }
    if (x.difference != 0)
        add_flips(c, e, report);
    if (Bullets list = sources(c, e); !list.items.empty()) {
        report.blocks.push_back(Heading{3, "Sources of the inputs:"});
        report.blocks.push_back(std::move(list));
    }
    add_next_steps(c, e, report);
}

} // namespace archsim
