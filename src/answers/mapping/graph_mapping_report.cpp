#include "answers/mapping/graph_mapping.hpp"

#include "archsim/hardware/database.hpp"
#include "core/text.hpp"
#include "estimate/resource_times.hpp"
#include "report/blocks/explanations.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/ranking_table.hpp"
#include "report/blocks/result_text.hpp"
#include "report/blocks/shape_text.hpp"
#include "report/blocks/subgraph_table.hpp"
#include "report/blocks/verdict.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace archsim {

static std::string order_text(const tiling::Tiling& t) {
    return joined(std::string_view(t.order),
                  [](char loop) { return loop == 'k'   ? "outputs"
                                         : loop == 'c' ? "inputs"
                                                       : "space"; }) +
           " (innermost): " + std::string(name_of(t.kept));
}

static std::string tile_text(const tiling::Nest& n, const tiling::Tiling& t) {
    return fmt::format(
        "{:g} of {:g} output channels, {:g} of {:g} input channels, {:g} x {:g} of {:g} x {:g} pixels, "
        "{:g} of {:g} images",
        t.outputs, n.outputs, t.inputs, n.inputs, t.rows, t.cols, n.rows, n.cols, t.images, n.images);
}

static std::string others_text(const tiling::Tiling& t) {
    std::string text;
    for (std::size_t i = 0; i < tiling::kStationary; ++i)
        if (const auto kept = static_cast<tiling::Stationary>(i); kept != t.kept)
            text += fmt::format("{}{} {}", text.empty() ? "" : "; ", name_of(kept),
                                std::isfinite(t.best_of[i])
                                    ? fmt::format("would move {} ({})", format_bytes(t.best_of[i]),
                                                  format_ratio(t.best_of[i] / t.bytes))
                                    : "has no order that the machine runs");
    return text;
}

static void add_tiling_facts(const Result& result, const SubgraphEstimate& subgraph, Facts& facts) {
    const auto tiled = tiling_of(result, subgraph);
    if (!tiled)
        return;
    const auto& [nest, limits, t, on_chip] = *tiled;
    if (on_chip) {
        facts.add("Loop order", "any: inputs and results stay on the chip, weights come once");
        return;
    }
    facts.add("Loop order", order_text(t));
    facts.add("Tile", tile_text(nest, t));
    const double room = std::accumulate(limits.own.begin(), limits.own.end(), limits.shared);
    facts.add("Holds", std::isfinite(room) ? fmt::format("{} of {}", format_bytes(t.held), format_bytes(room))
                                           : format_bytes(t.held));
    facts.add("Passes", fmt::format("inputs {}, weights {}, outputs {}", format_ratio(t.passes[0]),
                                    format_ratio(t.passes[1]), format_ratio(t.passes[2])));
    facts.add("Other orders", others_text(t));
}

/// Bytes and joules by level of memory, nearest first.
static Table level_table(const Result& result, const SubgraphEstimate& subgraph) {
    constexpr std::array kLevels = {std::pair{Event::register_byte, "registers"},
                                    std::pair{Event::accumulator_byte, "accumulators"},
                                    std::pair{Event::l1_byte, "L1"},
                                    std::pair{Event::l2_byte, "buffer, L2"},
                                    std::pair{Event::llc_byte, "last level"},
                                    std::pair{Event::dram_byte, "external memory"},
                                    std::pair{Event::host_link_byte, "host link"}};
    const double repeat = result.partition->subgraphs[subgraph.index].repeat;
    struct Row {
        const char* name;
        double bytes, joules;
    };
    std::vector<Row> rows;
    for (const auto& [event, name] : kLevels) {
        const auto e = static_cast<std::size_t>(event);
        if (const double bytes = subgraph.mapping.events.counts[e] * repeat; bytes > 0)
            rows.push_back({name, bytes, subgraph.energy.joules[e]});
    }
    return table_of<Row>("Memory levels",
                         {{{"Level", "", "level"}, &Row::name},
                          {{"Moved", "", "bytes", Align::right},
                           [](const Row& r) {
                               return Cell{format_bytes(r.bytes), r.bytes};
                           }},
                          {{"Energy", "µJ", "energy_j", Align::right}, 1e-6, &Row::joules},
                          {{"Each", "pJ/B", "energy_per_byte_j", Align::right},
                           1e-12,
                           [](const Row& r) { return r.joules / r.bytes; }}},
                         rows);
}

static std::string operators_text(const ShapedGraph& graph, const Subgraph& subgraph) {
    return joined(
        subgraph.members,
        [&](const SubgraphMember& member) {
            const Operator& op = graph.operators[member.op];
            return op.work.kind == OpKind::free
                       ? std::string()
                       : fmt::format("{} {} -> {}", op.type, shapes_text(graph, activations_of(graph, op)),
                                     shapes_text(graph, op.outputs));
        },
        "; ");
}

/// "49 of 54 SM busy on average (90.7 %), 98.4 % of the padded work is useful, ...".
static std::string factors_text(const Mapping& mapping, std::string_view unit) {
    const Allocation& a = mapping.allocation;
    std::string text;
    const auto add = [&](std::string part) { text += (text.empty() ? "" : "; ") + part; };
    if (a.units_total > 0)
        add(fmt::format("{} of {} {} used ({})", format_count(a.units_used), format_count(a.units_total),
                        unit, format_percent(a.units_used / a.units_total)));
    if (a.waves > 0)
        add(fmt::format("{} wave{}, the last one {} full", format_count(a.waves), a.waves == 1 ? "" : "s",
                        format_percent(a.waves - std::ceil(a.waves) + 1)));
    if (a.useful_fraction < 1)
        add(format_percent(a.useful_fraction) + " of the padded work is useful");
    for (const Demand& demand : mapping.all())
        if (demand.efficiency != 1 && demand.reason != Parameter::count_)
            add(fmt::format("{} at {} of its rate ({})", name_of(demand.resource),
                            format_percent(demand.efficiency), info_of(demand.reason).name));
    return text;
}

static std::string amount_text(const ResourceTime& time) {
    const std::string_view unit = unit_of(time.resource);
    return unit == "bytes" ? format_bytes(time.amount)
           : unit == "s"   ? format_time(time.amount)
                           : format_count(time.amount) + " cycles";
}

/// Where a rate comes from: the facts behind it and the parameter that lowers it.
static std::string source_text(const ResourceTime& time, const Machine& machine) {
    std::string text;
    const auto add = [&](const Fact& fact) {
        if (const std::string source = fact_source(fact); !source.empty())
            text += (text.empty() ? "" : "\n") + source;
    };
    for (const Fact* fact : machine.rates[static_cast<std::size_t>(time.resource)].facts)
        if (fact)
            add(*fact);
    if (time.reason != Parameter::count_)
        add(machine.parameters.fact(time.reason));
    return text;
}

static Table resource_table(const Result& result, const SubgraphEstimate& s, double repeat) {
    using T = ResourceTime;
    const Machine& machine = *result.machine;
    const auto rate = [&](const T& time, std::string text, double value) {
        return Cell{std::move(text), value, Tone::plain, source_text(time, machine)};
    };
    return table_of<T>(
        {},
        {{{"Resource", "", "resource"}, [](const T& t) { return name_of(t.resource); }},
         {{"Lane", "", "lane"}, [](const T& t) { return name_of(t.lane); }},
         {least_best("Amount", "", "amount"),
          [](const T& t) {
              return Cell{amount_text(t), t.amount};
          }},
         {most_best("Rate", "per s", "rate", 1),
          [=](const T& t) { return rate(t, format_count(t.rate), t.rate); }},
         {most_best("Reached", "%", "efficiency", 1),
          [=](const T& t) { return rate(t, fmt::format("{:.1f}", t.efficiency * 100), t.efficiency); }},
         {least_best("Time", "µs", "seconds"), 1e-6, &T::seconds},
         {{"Because of", "", "parameter", Align::left, 2},
          [](const T& t) {
              return text_cell(t.reason == Parameter::count_ ? "" : std::string(info_of(t.reason).name));
          }}},
        resource_times(s.mapping, machine, result.estimate.clock_ratio, repeat));
}

static void add_subgraph(const Result& result, const SubgraphGroup& group, Report& report) {
    const SubgraphEstimate& s = result.estimate.subgraphs[group.members.front()];
    const Subgraph& subgraph = result.partition->subgraphs[s.index];
    const SubgraphWork& work = result.work->subgraphs[s.index];
    const std::string_view unit = unit_name(*result.device);
    const std::size_t count = group.members.size();
    report.blocks.push_back(Heading{
        3, fmt::format("{}{} (subgraph {} of {})", count > 1 ? fmt::format("{} x ", count) : std::string(),
                       subgraph.name, s.index, result.partition->subgraphs.size())});
    Facts facts;
    if (count > 1)
        facts.add("All of them",
                  fmt::format("{}, {}; each:", format_time(group.latency_s), format_energy(group.energy_j)));
    facts.add("Operators", operators_text(*result.model->graph, subgraph));
    if (subgraph.repeat != 1)
        facts.add("Executions", format_count(subgraph.repeat));
    facts.add("Work", fmt::format("{} multiply-accumulates, {} operations in {}",
                                  format_count(work.macs * work.repeat),
                                  format_count(work.operations() * work.repeat), name_of(work.precision)));
    facts.add("Tensors",
              fmt::format("{} in, {} weights, {} out; {} unfused",
                          format_bytes(work.input_bytes + work.extra_bytes), format_bytes(work.weight_bytes),
                          format_bytes(work.output_bytes), format_bytes(work.unfused_bytes)));
    facts.add("Allocation", allocation_text(s.mapping.allocation, unit));
    facts.add("Factors", factors_text(s.mapping, unit));
    add_tiling_facts(result, s, facts);
    facts.add("Time",
              fmt::format("{}, {} bound ({}), {} of the peak", format_time(s.latency_s), name_of(s.bound),
                          bound_label(s.bound, s.binding), format_percent(s.utilization)));
    const bool static_known = result.machine->static_power_w > 0 || std::isnan(s.energy.static_joules);
    facts.add("Energy", static_known ? fmt::format("{}, of it {} static", format_energy(s.energy.total()),
                                                   format_energy(s.energy.static_joules))
                                     : fmt::format("{} of counted events; static power is unknown",
                                                   format_energy(s.energy.total())));
    add_blocks(report, std::move(facts), resource_table(result, s, subgraph.repeat), level_table(result, s));
}

/// Those whose name is `name`, else those that hold it. Throws UsageError where there is none.
static void add_named_subgraphs(const Result& result, std::string_view name, Report& report) {
    std::vector<std::string> names;
    std::vector<std::size_t> exact, partial;
    for (std::size_t i = 0; i < result.estimate.subgraphs.size(); ++i) {
        const std::string& own = result.partition->subgraphs[result.estimate.subgraphs[i].index].name;
        names.push_back(own);
        if (own == name)
            exact.push_back(i);
        else if (own.find(name) != std::string::npos)
            partial.push_back(i);
    }
    const std::vector<std::size_t>& found = exact.empty() ? partial : exact;
    if (found.empty()) {
        const std::vector<std::string> near = nearest_names(name, names, 3);
        throw UsageError(fmt::format("--subgraph: no subgraph is called \"{}\"; {}", name,
                                     near.empty() ? "--verbose lists them all"
                                                  : fmt::format("the nearest: {}", fmt::join(near, ", "))));
    }
    for (const std::size_t i : found) {
        const SubgraphEstimate& s = result.estimate.subgraphs[i];
        add_subgraph(result, {{i}, s.latency_s, s.energy.total()}, report);
    }
}

constexpr std::size_t kShownGroups = 7; ///< rows of the table of subgraphs; --verbose has all

static Table partition_table(const Result& result) {
    struct Row {
        std::size_t subgraph;
        const Operator& op;
        std::string_view reason;
    };
    std::vector<Row> rows;
    const auto& subgraphs = result.partition->subgraphs;
    for (std::size_t i = 0; i < subgraphs.size(); ++i)
        for (const SubgraphMember& member : subgraphs[i].members)
            rows.push_back({i, result.model->graph->operators[member.op], describe(member.reason)});
    return table_of<Row>(fmt::format("Partition by {}: why each operator joined its subgraph or was cut off",
                                     result.runtime->id),
                         {{least_best("Subgraph", "", "subgraph"), 1, &Row::subgraph},
                          {{"Operator", "", "operator"}, [](const Row& r) { return r.op.name; }},
                          {{"Type", "", "type"}, [](const Row& r) { return r.op.type; }},
                          {{"Reason", "", "reason"}, &Row::reason}},
                         rows);
}

/// The device, and what its stack is known to do with weights.
static Facts mapped_facts(const Result& result) {
    Facts facts = device_facts(result);
    const auto* machine = result.machine.get();
    if (const Fact* keeps = machine ? &machine->parameters.fact(Parameter::weight_residency) : nullptr;
        keeps != nullptr && keeps->known())
        facts.add("Weights",
                  fmt::format("{} ({})",
                              keeps->value > 0 ? "those that fit stay on chip between inferences"
                                               : "the stack never keeps them on chip",
                              result.conditions.ideal_mapping || !keeps->source ? "as asked"
                                                                                : keeps->source->cite));
    return facts;
}

std::optional<KnowsTiling::Tiled> tiling_of(const Result& result, const SubgraphEstimate& subgraph) {
    const Machine& machine = *result.machine;
    const Mapper& mapper = machine.mapper ? *machine.mapper : mapper_for(machine.device->family);
    const auto* const knows = dynamic_cast<const KnowsTiling*>(&mapper);
    return knows != nullptr ? knows->tiling_of(result.work->subgraphs[subgraph.index], *result.work, machine)
                            : std::nullopt;
}

void add_slowest_subgraphs(const Result& result, int top, Report& report) {
    const std::vector<SubgraphGroup> groups = group_subgraphs(result);
    const std::size_t shown =
        top > 0 ? std::min(groups.size(), static_cast<std::size_t>(top)) : groups.size();
    if (shown == 0)
        return;
    if (shown > 1) // one says in its own heading what it is
        report.blocks.push_back(
            Heading{2, shown < groups.size()
                           ? fmt::format("The {} groups of equal subgraphs that take longest", shown)
                           : std::string("Every group of equal subgraphs, longest first")});
    for (std::size_t i = 0; i < shown; ++i)
        add_subgraph(result, groups[i], report);
}

Report describe(const Result& result, const GraphMappingView& view, Format format) {
    Report report{fmt::format("{} on {}", result.model->title, hardware_label(result)), {}};
    if (format == Format::csv && result.ok())
        return {report.title, {subgraph_table(result)}};
    report.blocks.push_back(
        Heading{1, fmt::format("GRAPH MAPPING: {} on {}", result.model->title, hardware_label(result))});
    const std::vector<std::string> labels = {hardware_label(result)};
    report.blocks.push_back(verdict_block(
        {std::span(&result, 1), labels, usual_order(std::span(&result, 1), result.conditions), {}}));
    if (result.device)
        report.blocks.push_back(mapped_facts(result));
    if (!result.ok())
        return report; // the verdict says why
    const bool all = format == Format::html;
    report.blocks.push_back(performance_facts(result, shown_metrics(std::span(&result, 1)),
                                              all || view.verbose ? Detail::all : Detail::brief));
    if (result.generation && (all || view.verbose))
        report.blocks.push_back(generation_table(std::span(&result, 1)));
    report.blocks.push_back(all || view.verbose ? subgraph_table(result)
                                                : grouped_subgraph_table(result, kShownGroups));
    if (view.subgraph.empty())
        add_slowest_subgraphs(result, view.top, report);
    else
        add_named_subgraphs(result, view.subgraph, report);
    if (view.roofline || all)
        add_blocks(report, Heading{2, "Roofline"}, roofline_chart(std::span(&result, 1)));
    if (view.memory || all)
        add_blocks(report, Heading{2, "Memory"}, memory_blocks(std::span(&result, 1)));
    if (view.partition || all)
        add_blocks(report, Heading{2, "Partition"}, partition_table(result));
    return report;
}

} // namespace archsim
