#include "answers/comprehensive/comprehensive.hpp"

#include "answers/mapping/graph_mapping.hpp"
#include "core/lists.hpp"
#include "report/blocks/explanations.hpp"
#include "report/blocks/finding_text.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/ranking_table.hpp"
#include "report/blocks/result_row.hpp"
#include "report/blocks/result_text.hpp"
#include "report/blocks/subgraph_table.hpp"
#include "report/blocks/verdict.hpp"
#include "result/generation_metrics.hpp"

#include <algorithm>
#include <map>

namespace archsim {

ComprehensiveAnalysis analyze_comprehensive(const Session& session, const BatchRequest& request) {
    ComprehensiveAnalysis analysis;
    Workload workload = request.workload;
    workload.model = session.load(request.model);
    analysis.result = session.estimate(workload, request.hardware.front(), request.conditions);
    analysis.decision = decide(std::span(&analysis.result, 1), request.limits);
    analysis.kinds = breakdown_by_kind(analysis.result);
    if (!request.batches.empty())
        analysis.batches = analyze_batches(session, request);
    return analysis;
}

std::vector<KindShare> breakdown_by_kind(const Result& result) {
    if (!result.ok() || !result.work || result.estimate.subgraphs.empty())
        return {};
    std::map<OpKind, KindShare> kinds;
    double energy = 0, seconds = 0;
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
        energy += s.energy.total();
        seconds += s.latency_s;
    }
    const ShownPass pass = shown_pass(result);
    const double network_s = pass.part_of_answer ? pass.latency_s - seconds : result.estimate.network_s;
    constexpr double kRounding = 1e-9; // of sums taken in another order
    if (network_s > kRounding * pass.latency_s) {
        KindShare& fixed = kinds[OpKind::free];
        fixed.latency_s += network_s;
        fixed.energy_j += std::max(0.0, pass.energy_j - energy);
    }
    auto shares = mapped(kinds, [](const auto& kind) { return kind.second; });
    std::ranges::stable_sort(shares, std::ranges::greater{}, &KindShare::latency_s);
    return shares;
}

static Members<KindShare> kind_share_members() {
    using K = KindShare;
    return {{"kind", "of operators; network: fixed costs of none",
             [](const K& k) { return k.kind == OpKind::free ? "network" : name_of(k.kind); }},
            {"subgraphs", "", &K::subgraphs},
            {"operations", "useful operations", &K::operations},
            {"memory_bytes", "to and from external memory", &K::memory_bytes},
            {"latency_s", "", &K::latency_s},
            {"energy_j", "", &K::energy_j},
            {"compute_bound", "subgraphs", &K::compute_bound},
            {"memory_bound", "subgraphs", &K::memory_bound},
            {"overhead_bound", "subgraphs", &K::overhead_bound}};
}

constexpr std::size_t kLongestGroups = 3; ///< rows of the brief table of subgraphs

static std::string kind_title(OpKind kind) {
    return kind == OpKind::free ? std::string("outside subgraphs") : std::string(name_of(kind));
}

static Table kind_table(const ComprehensiveAnalysis& a) {
    const double whole = shown_pass(a.result).latency_s;
    using K = KindShare;
    const auto count = [](auto of) { return [of](const K& k) { return count_cell(true, k.*of); }; };
    return table_of<K>(with_pass("Time and energy by kind of work", a.result),
                       {{{"Kind", "", "kind"}, [](const K& k) { return kind_title(k.kind); }},
                        {most_best("Subgraphs", "", "subgraphs"), count(&K::subgraphs)},
                        {least_best("Time", "µs", "latency_s"), 1e-6, &K::latency_s},
                        {least_best("Share", "%", "latency_share"),
                         [=](const K& k) { return percent_cell(k.latency_s / whole); }},
                        {least_best("Energy", "mJ", "energy_j"), 1e-3, &K::energy_j},
                        {least_best("Operations", "", "operations", 1),
                         [](const K& k) { return amount_cell(k.operations); }},
                        {least_best("Memory", "MB", "memory_bytes", 1), 1e6, &K::memory_bytes},
                        {least_best("Bound by", "compute", "compute_bound", 2), count(&K::compute_bound)},
                        {least_best("Bound by", "memory", "memory_bound", 2), count(&K::memory_bound)},
                        {least_best("Bound by", "fixed", "overhead_bound", 2), count(&K::overhead_bound)}},
                       a.kinds);
}

static Chart time_chart(const ComprehensiveAnalysis& a) {
    Chart chart{ChartKind::bar, "Time by kind of work", "kind", "µs", false, false, {{"time", {}}}};
    for (const KindShare& share : a.kinds) {
        ChartPoint point;
        point.label = kind_title(share.kind);
        point.y = share.latency_s * 1e6;
        point.hover = fmt::format("{}: {} in {:.0f} subgraphs", point.label, format_time(share.latency_s),
                                  share.subgraphs);
        chart.series.front().points.push_back(std::move(point));
    }
    return chart;
}

static void append(Report report, Report& to) {
    append(to.blocks, std::move(report.blocks));
}

/// A section with the blocks of another report, whose own title is left out.
static void add_section(const std::string& title, Report part, Report& to) {
    to.blocks.push_back(Heading{2, title});
    for (Block& block : part.blocks) {
        const Heading* heading = std::get_if<Heading>(&block);
        if (!heading || heading->level > 1)
            to.blocks.push_back(std::move(block));
    }
}

static void add_findings(const Result& result, Detail detail, Report& report) {
    Bullets bullets;
    for (FindingLine& found : finding_lines(result.estimate.findings))
        bullets.items.push_back(std::move(found.text));
    if (!result.estimate.precision_note.empty())
        bullets.items.push_back(fmt::format("precision: {}", result.estimate.precision_note));
    if (bullets.items.empty())
        return;
    if (detail == Detail::all)
        report.blocks.push_back(Heading{2, "Findings"});
    report.blocks.push_back(std::move(bullets));
}

static MetricView metrics_of(const ComprehensiveAnalysis& a) {
    return shown_metrics(std::span(&a.result, 1), {a.batches.metrics, a.decision.request.cost});
}

static void add_details(const ComprehensiveAnalysis& a, const ComprehensiveView& view, Report& report) {
    const Result& r = a.result;
    report.blocks.push_back(performance_facts(r, metrics_of(a), Detail::all));
    if (r.generation)
        report.blocks.push_back(
            generation_table(std::span(&r, 1), BesideRanking::no, a.decision.request.cost.power_at));
    if (!r.estimate.interval_basis.empty())
        report.blocks.push_back(Paragraph{fmt::format("90 % interval from {}.", r.estimate.interval_basis)});
    if (!a.kinds.empty()) {
        add_blocks(report, Heading{2, "Time"}, kind_table(a), time_chart(a), subgraph_table(r));
        add_slowest_subgraphs(r, view.top, report);
        add_blocks(report, Heading{2, "Roofline"}, roofline_chart(std::span(&r, 1)));
    }
    add_section("Energy", describe_energy(std::span(&r, 1), {}), report);
    add_blocks(report, energy_chart(std::span(&r, 1)), Heading{2, "Memory"});
    append({"", memory_blocks(std::span(&r, 1))}, report);
    if (!a.batches.series.empty())
        add_section("Batch", describe(a.batches), report);
    report.blocks.push_back(Heading{2, "Money and carbon"});
    append({"", cost_blocks(std::span(&r, 1), a.decision.request.cost)}, report);
    if (!a.kinds.empty())
        add_blocks(report, Heading{2, "Inputs and sources"}, sources_table(r));
}

/// Power, its draw at the wall, and the prices of inferences, a line each.
static Facts power_and_cost(const Result& result, const CostOptions& options) {
    Facts facts;
    if (result.machine && result.machine->energy)
        for (NamedValue& item : energy_conditions(result).items)
            if (item.name == "Power" || item.name == "At the wall")
                facts.items.push_back(std::move(item));
    const Cost cost = cost_of(result, options);
    std::string money;
    const auto add = [&](const char* what, const std::optional<double>& each) {
        if (each)
            money += fmt::format("{}{} {} USD", money.empty() ? "" : ", ", what, format_number(*each * 1e6));
    };
    add("rented", cost.cloud);
    add("owned", cost.owned());
    add("electricity alone", cost.electricity);
    if (!money.empty())
        money += result.generation ? " per million answers" : " per million inferences";
    if (cost.carbon_g)
        money += fmt::format("{}carbon {} g CO2e per thousand", money.empty() ? "" : "; ",
                             format_number(*cost.carbon_g * 1e3));
    if (!money.empty())
        facts.add("Cost", money);
    return facts;
}

/// One screen: what takes the time, where the energy goes, what it costs.
static void add_brief(const ComprehensiveAnalysis& a, const ComprehensiveView& view, Report& report) {
    const Result& r = a.result;
    report.blocks.push_back(performance_facts(r, metrics_of(a), Detail::brief));
    if (!a.kinds.empty()) {
        add_blocks(report, kind_table(a), grouped_subgraph_table(r, kLongestGroups));
        if (view.described)
            add_slowest_subgraphs(r, view.top, report);
    }
    std::vector<std::string> energy;
    if (r.machine && r.machine->energy && value_of(r, metric::energy))
        energy = rollup_lines(r);
    for (std::size_t i = 0; i < energy.size(); ++i)
        report.blocks.push_back(i == 0 ? Block(Heading{3, "Energy: " + energy[i]})
                                       : Block(Paragraph{std::move(energy[i])}));
    report.blocks.push_back(power_and_cost(r, a.decision.request.cost));
    if (!a.batches.series.empty())
        add_section("Batch", describe(a.batches), report);
}

AnswerDocument document_of(const ComprehensiveAnalysis& analysis, const ComprehensiveView&) {
    const MetricView view{analysis.batches.metrics, analysis.decision.request.cost};
    using A = ComprehensiveAnalysis;
    const auto result = [](const A& a) { return a.result; };
    return {
        analysis, "analyze_comprehensive", "everything about one model on one device",
        Members<A>{{"request", "what was asked", result, request_members()},
                   {"verdict", "the answer in a few lines",
                    [](const A& a) {
                        const std::vector<std::string> labels = {hardware_label(a.result)};
                        const std::span<const Result> one(&a.result, 1);
                        return verdict_record({one, labels, usual_order({&a.result, 1}, a.result.conditions),
                                               a.decision.request.cost, &a.decision});
                    },
                    verdict_members()},
                   {"model", "",
                    [](const A& a) {
                        return KnownModel{a.result.model.get(), a.result.partition.get()};
                    },
                    model_members()},
                   {"result", "",
                    [](const A& a) {
                        return RankedResult{&a.result, a.result.estimate.batch, 0};
                    },
                    result_members(view)},
                   {"decision", "null: no limit was asked for",
                    [](const A& a) {
                        return a.decision.request.active()
                                   ? std::optional(LabelledDecision{&a.decision, {hardware_label(a.result)}})
                                   : std::nullopt;
                    },
                    decision_members()},
                   {"kinds", "operators by kind, largest time first", &A::kinds, kind_share_members()}}
            .with(Members<Result>{
                subgraphs_member(),
                {"energy_events", "largest first; they add up to the energy of the batch",
                 [](const Result& r) { return r.ok() ? energy_items(r) : std::vector<EnergyItem>{}; },
                 energy_event_members()},
                memory_plan_member()}
                      .of<A>(std::mem_fn(&A::result)))
            .with({{"batches", "null: not asked for",
                    [](const A& a) { return a.batches.series.empty() ? nullptr : &a.batches.series; },
                    Members<BatchSeries>{{"hardware", "as asked", &BatchSeries::hardware}}.with(
                        batch_series_members(view, "points"))},
                   {"cost", "",
                    [](const A& a) {
                        Explanations asked;
                        asked.conditions = a.decision.request.cost;
                        return Explained{std::span(&a.result, 1), asked};
                    },
                    cost_members()}})};
}

Report describe(const ComprehensiveAnalysis& a, const ComprehensiveView& view, Format format) {
    const Result& r = a.result;
    Report report{fmt::format("{} on {}: everything", r.model->title, hardware_label(r)), {}};
    if (format == Format::csv && r.ok())
        return {report.title, {subgraph_table(r)}};
    report.blocks.push_back(
        Heading{1, fmt::format("COMPREHENSIVE ANALYSIS: {} on {}", r.model->title, hardware_label(r))});
    const std::vector<std::string> labels = {hardware_label(r)};
    report.blocks.push_back(
        verdict_block({std::span(&r, 1), labels, usual_order(std::span(&r, 1), r.conditions),
                       a.decision.request.cost, &a.decision}));
    if (a.decision.request.active())
        append({"", decision_blocks(a.decision, std::span(&r, 1), labels)}, report);
    add_blocks(report, Heading{3, "Model"}, model_facts(*r.model, std::span(&r, 1)));
    if (r.device)
        add_blocks(report, Heading{3, r.device->name}, device_facts(r));
    const bool all = view.verbose || format == Format::html;
    if (r.ok() && all)
        add_details(a, view, report);
    else if (r.ok())
        add_brief(a, view, report);
    add_findings(r, all ? Detail::all : Detail::brief, report);
    if (r.ok() && !all)
        report.blocks.push_back(
            Paragraph{"--verbose: every subgraph, event, tensor and source, with charts.", Tone::muted});
    return report;
}

} // namespace archsim
