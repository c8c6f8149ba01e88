#include "answers/comprehensive/comprehensive.hpp"

#include "answers/compare/compare_models_report.hpp"
#include "answers/mapping/graph_mapping.hpp"
#include "core/lists.hpp"
#include "report/blocks/finding_text.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/ranking_table.hpp"
#include "report/blocks/result_row.hpp"
#include "report/blocks/result_text.hpp"
#include "report/blocks/subgraph_table.hpp"
#include "report/blocks/verdict.hpp"
#include "result/generation_metrics.hpp"

#include <algorithm>
#include <fmt/ranges.h>
#include <map>
#include <utility>
#include <variant>

namespace archsim {

ComprehensiveAnalysis analyze_comprehensive(const Session& session, const BatchRequest& request) {
    return {compare_models(session, request),
            request.batches.empty() ? BatchAnalysis{} : analyze_batches(session, request)};
}

std::vector<KindShare> breakdown_by_kind(const Result& result) {
    if (!result.ok() || !result.work || result.estimate.subgraphs.empty())
        return {};
    std::map<OpKind, KindShare> kinds;
    for (const SubgraphEstimate& s : result.estimate.subgraphs) {
        const SubgraphWork& work = result.work->subgraphs[s.index];
        KindShare& share = kinds[work.kind];
        share.kind = work.kind;
        share.subgraphs += 1;
        share.operations += work.operations() * work.repeat;
        share.memory_bytes += s.dram_bytes;
        share.latency_s += s.latency_s;
        share.energy_j += s.energy.total();
        share.compute_bound += s.bound == Bound::compute;
        share.memory_bound += s.bound == Bound::memory;
        share.overhead_bound += s.bound == Bound::overhead;
    }
    if (const auto outside = outside_subgraphs(result)) {
        kinds[OpKind::free].latency_s += outside->latency_s;
        kinds[OpKind::free].energy_j += outside->energy_j;
    }
    auto shares = mapped(kinds, [](const auto& kind) { return kind.second; });
    for (KindShare& share : shares)
        share.latency_share = share.latency_s / shown_pass(result).latency_s;
    std::ranges::stable_sort(shares, std::ranges::greater{}, &KindShare::latency_s);
    return shares;
}

constexpr std::size_t kLongestGroups = 3; ///< rows of the brief table of subgraphs

static std::string kind_title(OpKind kind) {
    return kind == OpKind::free ? std::string("outside subgraphs") : std::string(name_of(kind));
}

static std::vector<ColumnOf<KindShare>> kind_columns() {
    using K = KindShare;
    const auto count = [](auto of) { return [of](const K& k) { return count_cell(true, k.*of); }; };
    return {{{"Kind", "", "kind"}, [](const K& k) { return kind_title(k.kind); }},
            {most_best("Subgraphs", "", "subgraphs"), count(&K::subgraphs), CellType::count},
            {least_best("Time", "µs", "latency_s"), 1e-6, &K::latency_s},
            {least_best("Share", "%", "latency_share"),
             [](const K& k) { return percent_cell(k.latency_share); }, CellType::number},
            {least_best("Energy", "mJ", "energy_j"), 1e-3, &K::energy_j},
            {least_best("Operations", "", "operations", 1),
             [](const K& k) { return amount_cell(k.operations); }, CellType::number, "useful operations"},
            {least_best("Memory", "MB", "memory_bytes", 1), 1e6, &K::memory_bytes},
            {least_best("Bound by", "compute", "compute_bound", 2), count(&K::compute_bound), CellType::count,
             "subgraphs"},
            {least_best("Bound by", "memory", "memory_bound", 2), count(&K::memory_bound), CellType::count,
             "subgraphs"},
            {least_best("Bound by", "fixed", "overhead_bound", 2), count(&K::overhead_bound), CellType::count,
             "subgraphs"}};
}

static Chart time_chart(const std::vector<KindShare>& kinds) {
    Chart chart{ChartKind::bar, "Time by kind of work", "kind", "µs", false, false, {{"time", {}}}};
    for (const KindShare& share : kinds) {
        ChartPoint point{.label = kind_title(share.kind), .y = share.latency_s * 1e6};
        point.hover = fmt::format("{}: {} in {:.0f} subgraphs", point.label, format_time(share.latency_s),
                                  share.subgraphs);
        chart.series.front().points.push_back(std::move(point));
    }
    return chart;
}

/// Power, its draw at the wall, and the prices of inferences, a line each.
static Facts power_and_cost(const Result& result, const CostOptions& options) {
    Facts facts;
    if (result.machine && result.machine->energy)
        for (NamedValue& item : energy_conditions(result).items)
            if (item.name == "Power" || item.name == "At the wall")
                facts.items.push_back(std::move(item));
    const Cost cost = cost_of(result, options);
    std::vector<std::string> prices;
    for (const auto& [what, usd] :
         {std::pair("rented", cost.cloud), {"owned", cost.owned()}, {"electricity alone", cost.electricity}})
        if (usd)
            prices.push_back(fmt::format("{} {} USD", what, format_number(*usd * 1e6)));
    if (!prices.empty())
        facts.add("Cost", fmt::format("{} per million {}", fmt::join(prices, ", "),
                                      result.generation ? "answers" : "inferences"));
    if (cost.carbon_g)
        facts.add("Carbon", fmt::format("{} g CO2e per thousand", format_number(*cost.carbon_g * 1e3)));
    return facts;
}

/// Behind the facts of the device: its kinds of work, its longest subgraphs, its batches; in brief a line of
/// what has a section of its own where everything is shown.
static std::vector<Block> details_of(const ComprehensiveAnalysis& a, const ComprehensiveView& view,
                                     Format format, bool all) {
    const Result& r = a.result();
    const std::span one(&r, 1);
    Report report;
    const auto kinds = breakdown_by_kind(r);
    if (!kinds.empty()) {
        if (all)
            report.blocks.push_back(Heading{2, "Time"});
        add_blocks(report, table_of(with_pass("Time and energy by kind of work", r), kind_columns(), kinds),
                   all ? Block(time_chart(kinds)) : Block(grouped_subgraph_table(r, kLongestGroups)));
        if (all || view.described)
            add_slowest_subgraphs(r, view.top, report);
        if (all && format != Format::html) // a page has the charts of comparisons
            add_blocks(report, Heading{2, "Roofline"}, roofline_chart(one));
    }
    if (!all && r.machine && r.machine->energy && value_of(r, metric::energy)) {
        const std::vector<std::string> energy = rollup_lines(r);
        add_blocks(report, Heading{3, "Energy: " + energy.front()}, Paragraph{energy.back()});
    }
    if (!all)
        report.blocks.push_back(power_and_cost(r, a.comparison.request.decision.cost));
    if (!a.batches.series.empty()) {
        report.blocks.push_back(Heading{2, "Batch"});
        for (Block& block : describe(a.batches).blocks)
            if (!std::holds_alternative<Heading>(block))
                report.blocks.push_back(std::move(block));
    }
    Bullets found;
    for (FindingLine& line : finding_lines(r.estimate.findings))
        found.items.push_back(std::move(line.text));
    if (!found.items.empty())
        report.blocks.push_back(std::move(found));
    if (all && !kinds.empty())
        add_blocks(report, Heading{2, "Inputs and sources"}, sources_table(r));
    if (all)
        report.blocks.push_back(Heading{2, "Energy, memory and money"});
    if (all && format != Format::html)
        report.blocks.push_back(energy_chart(one));
    return std::move(report.blocks);
}

Report describe(const ComprehensiveAnalysis& a, const ComprehensiveView& view, Format format) {
    const Result& r = a.result();
    const std::string what = fmt::format("{} on {}", r.model->title, hardware_label(r));
    if (format == Format::csv && r.ok())
        return {what, {subgraph_table(r)}};
    const bool all = view.verbose || format == Format::html;
    CompareModelsView shown;
    shown.verbose = shown.explanations.energy = shown.explanations.memory = shown.explanations.cost = all;
    shown.explanations.conditions = a.comparison.request.decision.cost;
    if (r.ok())
        shown.details = details_of(a, view, format, all);
    Report report = describe(a.comparison, shown, format);
    report.title = what + ": everything";
    std::get<Heading>(report.blocks.front()).text = "COMPREHENSIVE ANALYSIS: " + what;
    if (r.ok() && !all)
        report.blocks.push_back(
            Paragraph{"--verbose: every subgraph, event, tensor and source, with charts.", Tone::muted});
    return report;
}

struct DecidedResult {
    Decision decision;
    std::vector<std::string> labels;
};

AnswerDocument document_of(const ComprehensiveAnalysis& analysis, const ComprehensiveView&) {
    using A = ComprehensiveAnalysis;
    const MetricView view{analysis.batches.metrics, analysis.comparison.request.decision.cost};
    const auto decided = [](const A& a) {
        return DecidedResult{decide(a.comparison.results, a.comparison.request.decision),
                             hardware_labels(a.comparison.results)};
    };
    return {analysis, "analyze_comprehensive", "everything about one model on one device",
            one_result_members(view)
                .with({subgraphs_member(),
                       {"energy_events", "largest first; they add up to the energy of the batch",
                        [](const Result& r) { return r.ok() ? energy_items(r) : std::vector<EnergyItem>{}; },
                        energy_event_members()},
                       memory_plan_member()})
                .of<A>(std::mem_fn(&A::result))
                .with({{"verdict", "the answer in a few lines",
                        [=](const A& a) {
                            const ModelComparison& c = a.comparison;
                            const DecidedResult d = decided(a);
                            return verdict_record({c.results, d.labels,
                                                   usual_order(c.results, a.result().conditions),
                                                   c.request.decision.cost, &d.decision, of_model(c.modes, 0),
                                                   of_model(c.tried, 0), of_model(c.too_large, 0)});
                        },
                        verdict_members()},
                       {"decision", "null: no limit was asked for",
                        [=](const A& a) {
                            return a.comparison.request.decision.active() ? std::optional(decided(a))
                                                                          : std::nullopt;
                        },
                        decision_members().of<DecidedResult>([](const DecidedResult& d) {
                            return LabelledDecision{&d.decision, d.labels};
                        })},
                       {"kinds", "operators by kind, largest time first",
                        [](const A& a) { return breakdown_by_kind(a.result()); },
                        members_of(kind_columns())
                            .with({{"kind", "of operators; network: fixed costs of none",
                                    [](const KindShare& k) {
                                        return k.kind == OpKind::free ? "network" : name_of(k.kind);
                                    }}})},
                       {"batches", "null: not asked for",
                        [](const A& a) { return a.batches.series.empty() ? nullptr : &a.batches.series; },
                        Members<BatchSeries>{{"hardware", "as asked", &BatchSeries::hardware}}.with(
                            batch_series_members(view, "points"))},
                       {"cost", "",
                        [](const A& a) {
                            Explanations asked;
                            asked.conditions = a.comparison.request.decision.cost;
                            return Explained{a.comparison.results, asked};
                        },
                        cost_members()}})};
}

} // namespace archsim
