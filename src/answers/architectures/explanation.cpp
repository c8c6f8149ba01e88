#include "answers/architectures/architectures.hpp"
#include "result/cost_terms.hpp"

#include "core/lists.hpp"
#include "report/blocks/columns.hpp"
#include "report/blocks/result_text.hpp"
#include "report/blocks/shape_text.hpp"

#include <algorithm>
#include <fmt/ranges.h>

namespace archsim {

constexpr double kCarried = 0.8; ///< share of the difference that the listed subgraphs carry
constexpr std::size_t kMostNames = 3, kLongestRegion = 40;

static std::string region_name(const Attribution& attribution, const RegionContribution& r) {
    return r.region ? attribution.regions[*r.region].name : "whole network";
}

/// Regions whose names differ in numbers alone, with one cause and one part each.
struct RegionGroup {
    std::vector<std::string> names;
    const RegionContribution* first = nullptr;
    double value = 0;
};

static std::vector<RegionGroup> grouped_regions(const Attribution& x,
                                                const std::vector<const RegionContribution*>& list) {
    std::map<std::string, std::size_t> seen;
    std::vector<RegionGroup> groups;
    for (const RegionContribution* r : list) {
        const std::string name = region_name(x, *r);
        const std::string key =
            fmt::format("{} {} {} {} {:.2g}", name_shape(name), static_cast<int>(r->main),
                        static_cast<int>(r->a_bound), static_cast<int>(r->b_bound), r->value);
        const auto [at, fresh] = seen.try_emplace(key, groups.size());
        if (fresh)
            groups.push_back({{}, r, 0});
        groups[at->second].names.push_back(name);
        groups[at->second].value += r->value;
    }
    std::ranges::stable_sort(groups, [](const RegionGroup& a, const RegionGroup& b) {
        return std::abs(a.value) > std::abs(b.value);
    });
    return groups;
}

static Table region_table(const ArchitectureComparison& c, const Explanation& e,
                          const std::vector<const RegionContribution*>& list) {
    const Attribution& x = e.attribution;
    const double carried = sum_of(list, &RegionContribution::value);
    const auto groups = grouped_regions(x, list);
    using G = RegionGroup;
    const auto bound = [](Bound RegionContribution::*side) {
        return [side](const G& g) { return g.first->region ? name_of(g.first->*side) : std::string_view(); };
    };
    return table_of<G>(
        fmt::format("Subgraphs that carry most of it: {} of {} ({} of {})", signed_value(*x.metric, carried),
                    signed_value(*x.metric, x.difference), list.size(), x.regions.size()),
        {{{"Operation", "", "subgraph"},
          [](const G& g) { return shortened_name(common_name(g.names), kLongestRegion); }},
         {most_best("Count", "", "count"), [](const G& g) { return whole_cell(g.names.size()); }},
         {most_best("Part", "", "value"),
          [&](const G& g) { return worded_cell(signed_value(*x.metric, g.value), g.value); }},
         {bar_column(), [&](const G& g) { return bar_cell(g.value, std::abs(groups.front().value)); }},
         {{"Mainly", "", "main_factor"}, [](const G& g) { return info_of(g.first->main).title; }},
         {{c.labels[e.a], "bound by", "a_bound", Align::left, 1}, bound(&RegionContribution::a_bound)},
         {{c.labels[e.b], "bound by", "b_bound", Align::left, 1}, bound(&RegionContribution::b_bound)}},
        groups);
}

/// Names that differ in numbers alone as one, with their count.
static std::vector<std::string> folded_names(const std::vector<std::string>& names) {
    NamesByText groups;
    for (const std::string& name : names)
        names_under(name_shape(name), groups).push_back(name);
    return mapped(groups, [](const auto& shaped) {
        const std::vector<std::string>& group = shaped.second;
        return group.size() == 1 ? group.front() : fmt::format("{} x {}", group.size(), common_name(group));
    });
}

static Bullets bottleneck_changes(const ArchitectureComparison& c, const Explanation& e) {
    const Attribution& x = e.attribution;
    std::map<std::pair<Bound, Bound>, std::vector<std::string>> groups;
    for (const RegionContribution& r : x.region_contributions)
        if (r.region && r.a_bound != r.b_bound)
            groups[{r.a_bound, r.b_bound}].push_back(region_name(x, r));
    Bullets bullets;
    for (const auto& [bounds, names] : groups)
        bullets.items.push_back(fmt::format("{} {}: {} bound on {}, {} bound on {} ({})", names.size(),
                                            names.size() == 1 ? "subgraph" : "subgraphs",
                                            name_of(bounds.first), c.labels[e.a], name_of(bounds.second),
                                            c.labels[e.b], names_text(folded_names(names), kMostNames)));
    return bullets;
}

static void add_regions_of(const ArchitectureComparison& c, const Explanation& e, Report& report) {
    if (const auto list = carrying(e.attribution, kCarried); !list.empty())
        report.blocks.push_back(region_table(c, e, list));
    if (Bullets changes = bottleneck_changes(c, e); !changes.items.empty())
        add_blocks(report, Heading{3, "Where the bottleneck changes:"}, std::move(changes));
}

constexpr double kWorthWords = 0.1; ///< parts below this share of the largest get a row, not a sentence
constexpr std::size_t kMostSentences = 3;

/// "with 1.40x the memory bandwidth on GPU" ...
static std::string flip_text(const Flip& flip) {
    return flip.change == "batch"       ? fmt::format("at batch {}", flip.batch)
           : flip.change == "precision" ? fmt::format("in {}", fmt::join(flip.precisions, ", "))
                                        : fmt::format("with {} the {} of {}", format_ratio(flip.factor),
                                                      flip.title, flip.architecture);
}

/// The winner or the tie, and the reason; where the reason is time, the reason of that.
static Takeaway headline(const ArchitectureComparison& c, const Explanation& e) {
    const Attribution& x = e.attribution;
    const Metric& m = *x.metric;
    const std::string &a = c.labels[e.a], &b = c.labels[e.b];
    if (x.difference == 0)
        return {{fmt::format("No difference: {} and {} both have {} of {}.", full_label(c, e.a),
                             full_label(c, e.b), m.noun, format_value(m, x.a_value))}};
    const bool a_wins = better(m, x.a_value, x.b_value);
    const double won = a_wins ? x.a_value : x.b_value, lost = a_wins ? x.b_value : x.a_value;
    Takeaway takeaway;
    const bool ranked = may_lead(c.results[e.a].estimate) && may_lead(c.results[e.b].estimate);
    takeaway.lines.push_back(fmt::format(
        "{}{} {} {}: {} against {}{}.",
        !ranked         ? "Not ranked; by the estimates "
        : e.overlapping ? "No clear winner: "
                        : "",
        full_label(c, a_wins ? e.a : e.b), ratio_text(m, won / lost), full_label(c, a_wins ? e.b : e.a),
        format_value(m, won), format_value(m, lost), e.overlapping ? ", by odds of less than 3 to 1" : ""));
    if (const Contribution* cause = main_cause(x)) {
        std::string text = "Mainly because " + cause_text(*cause, a, b);
        if (const Contribution* behind =
                cause->factor == Factor::time && e.time ? main_cause(*e.time) : nullptr)
            text += ", and that because " + cause_text(*behind, a, b);
        takeaway.lines.push_back(text + ".");
    }
    for (const Contribution& p : x.contributions)
        if (p.value * x.difference < 0 && std::abs(p.value) >= kWorthWords * std::abs(x.difference)) {
            takeaway.lines.push_back(fmt::format("Against that: {}.", cause_text(p, a, b)));
            break;
        }
    return takeaway;
}

static Bullets sentences(const ArchitectureComparison& c, const Explanation& e) {
    Bullets bullets;
    const Attribution& x = e.attribution;
    for (const Contribution& p : x.contributions)
        if (bullets.items.size() < kMostSentences &&
            std::abs(p.value) >= kWorthWords * std::abs(x.contributions.front().value))
            bullets.items.push_back(contribution_sentence(p, *x.metric, c.labels[e.a], c.labels[e.b]));
    return bullets;
}

/// "3.26 pJ", "52.4 MB", "1.98 GHz".
static std::string source_value(const FactorSource& s) {
    const double value = s.fact.value;
    if (s.unit == "J")
        return value < 1e-9 ? format_number(value * 1e12) + " pJ" : format_energy(value);
    if (s.unit == "W")
        return format_power(value);
    if (s.unit == "B")
        return format_bytes(value);
    return s.unit == "s" ? format_time(value) : format_count(value) + (s.unit == "Hz" ? "Hz" : "");
}

/// Where the inputs of the parts that got a sentence come from: one bullet per source.
static Bullets sources(const ArchitectureComparison& c, const Explanation& e) {
    NamesByText cited;
    const auto add = [&](const std::string& label, const FactorSource& s) {
        std::vector<std::string>& facts =
            names_under(fmt::format("{}: {}", name_of(s.fact.source->kind), s.fact.source->cite), cited);
        std::string text =
            fmt::format("{} of {} {}{}", s.name, label, source_value(s),
                        s.fact.fitted_n > 0 ? fmt::format(" (n = {})", s.fact.fitted_n) : std::string());
        if (!contains(facts, text))
            facts.push_back(std::move(text));
    };
    const Attribution& x = e.attribution;
    for (const Contribution& p : x.contributions) {
        if (std::abs(p.value) < kWorthWords * std::abs(x.contributions.front().value))
            continue;
        for (const FactorSource& s : p.a.sources)
            add(c.labels[e.a], s);
        for (const FactorSource& s : p.b.sources)
            add(c.labels[e.b], s);
    }
    Bullets bullets;
    for (const auto& [cite, names] : cited)
        bullets.items.push_back(fmt::format("{} [{}]", fmt::join(names, ", "), cite));
    return bullets;
}

/// Improvements of the loser that a new version of it could bring, batches, formats.
static bool within_reach(const Flip& flip, const std::string& loser) {
    const bool lever = flip.batch == 0 && flip.precisions.empty();
    return !lever || (flip.architecture == loser && flip.factor <= kPlausibleFactor &&
                      flip.factor >= 1 / kPlausibleFactor);
}

static void add_flips(const ArchitectureComparison& c, const Explanation& e, Report& report) {
    const Attribution& x = e.attribution;
    const bool a_wins = better(*x.metric, x.a_value, x.b_value);
    const std::string& other = c.labels[a_wins ? e.b : e.a];
    report.blocks.push_back(
        Heading{3, fmt::format("What would make {} the better one ({}):", other, x.metric->noun)});
    Bullets bullets;
    for (const Flip& flip : e.flips)
        if (within_reach(flip, other))
            bullets.items.push_back(fmt::format("{}: {} {}, {} {}", flip_text(flip), c.labels[e.a],
                                                format_value(*x.metric, flip.a_value), c.labels[e.b],
                                                format_value(*x.metric, flip.b_value)));
    if (bullets.items.empty())
        bullets.items.push_back(fmt::format("No single change (one property up to {} better, any batch size, "
                                            "any format that both execute) would reverse this",
                                            format_ratio(kPlausibleFactor)));
    report.blocks.push_back(std::move(bullets));
}

/// Where a cause is a whole of its own, the command that takes it apart.
static void add_next_steps(const ArchitectureComparison& c, const Explanation& e, Report& report) {
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

void add_explanation(const ArchitectureComparison& c, const Explanation& e, Format format, Report& report) {
    const Attribution& x = e.attribution;
    add_blocks(report,
               Heading{2, fmt::format("Why is {} different from {}? ({})", c.labels[e.a], c.labels[e.b],
                                      x.metric->noun)},
               headline(c, e));
    for (std::size_t i : {e.a, e.b})
        if (const std::string doubt = doubt_of(c.results[i].estimate).text(); !doubt.empty())
            report.blocks.push_back(Paragraph{fmt::format("{}: {}.", c.labels[i], doubt)});
    if (*x.metric == metric::cost) {
        const std::array pair = {c.results[e.a], c.results[e.b]};
        report.blocks.push_back(Paragraph{cost_basis(pair, c.request.decision.cost)});
    }
    for (std::size_t i : {e.a, e.b})
        if (const Result& r = c.results[i]; !r.estimate.precision_note.empty())
            report.blocks.push_back(
                Paragraph{fmt::format("{}: {} requested; {}.", c.labels[i],
                                      precision_name(r.conditions.precision), r.estimate.precision_note)});
    if (x.contributions.empty())
        return;
    report.blocks.push_back(sentences(c, e));
    const std::string &a = c.labels[e.a], &b = c.labels[e.b];
    report.blocks.push_back(contribution_table(x, fmt::format("Parts of the difference ({} - {})", a, b),
                                               {{{a, "a_input", true}, {b, "b_input", false}}}, kSmallPart));
    if (format == Format::html) // elsewhere the bars of the table say it
        report.blocks.push_back(contribution_chart(
            x, a, b, [&](const Contribution& part) { return contribution_sentence(part, *x.metric, a, b); }));
    add_regions_of(c, e, report);
    if (x.difference != 0)
        add_flips(c, e, report);
    if (Bullets list = sources(c, e); !list.items.empty())
        add_blocks(report, Heading{3, "Sources of the inputs:"}, std::move(list));
    add_next_steps(c, e, report);
}

} // namespace archsim
