#include "report/blocks/energy_report.hpp"

#include "core/lists.hpp"
#include "estimate/wall_power.hpp"
#include "hardware/energy_table.hpp"
#include "report/blocks/columns.hpp"
#include "report/blocks/explanations.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/result_row.hpp"
#include "report/blocks/result_text.hpp"
#include "report/render/answer_document.hpp"

#include <fmt/format.h>

namespace archsim {

static std::string price_text(const EnergyItem& item) {
    if (item.timed)
        return format_power(item.each_j);
    return fmt::format("{} pJ", format_number(item.each_j * 1e12));
}

static Table account(const Result& result) {
    const std::vector<EnergyItem> items = energy_items(result);
    Table table;
    const double batch = result.estimate.batch;
    table.title =
        fmt::format("Energy of {} on {}: {} per inference{}", result.model->name, hardware_label(result),
                    format_value(metric::energy, value_or_nan(result, metric::energy)),
                    batch > 1 ? fmt::format(", below that of the batch of {:g}", batch) : std::string());
    const double total = result.estimate.energy.total();
    using I = EnergyItem;
    table = table_of<I>(
        std::move(table.title),
        {{{"", "", "model"}, [&](const I&) { return result.model->name; }},
         {{"", "", "hardware"}, [&](const I&) { return hardware_label(result); }},
         {{"Event", "", "event"}, &I::title},
         {least_best("Count", "", "count"),
          [](const I& i) {
              return Cell{i.timed ? format_time(i.count) : format_count(i.count), i.count};
          }},
         {least_best("Each", "", "each_j"),
          [](const I& i) {
              return Cell{price_text(i), i.each_j};
          }},
         {least_best("Energy", "mJ", "energy_j"), 1e-3, &I::joules},
         {least_best("Share", "%", "share"), [=](const I& i) { return percent_cell(i.joules / total); }},
         {{"Source", "", "source_kind"}, &I::source_kind},
         {{"", "", "source"}, &I::source}},
        items);
    std::vector<std::string> cited;
    for (const I& item : items)
        if (!contains(cited, item.source)) {
            cited.push_back(item.source);
            table.notes.push_back(fmt::format("{}: {}", item.title(), item.source));
        }
    table.rows.push_back({{result.model->name},
                          {hardware_label(result)},
                          {"sum", {}, Tone::strong},
                          text_cell(""),
                          text_cell(""),
                          {format_number(total * 1e3), total, Tone::strong},
                          {"100.0", 1.0},
                          text_cell(""),
                          text_cell(batch > 1 ? fmt::format("batch of {:g}", batch) : "")});
    return table;
}

/// "Chip with its memory" or what else the figures were measured at.
static std::string boundary_of(const Result& result) {
    const EnergyTable& table = *result.machine->energy;
    if (table.host_share.known())
        return "the card: chip and its memory, without the server around it";
    return result.device->family.row().is_host ? "the package and its memory"
                                               : "the module: chip, its memory, and what shares its supply";
}

/// The energy that no subgraph holds: events once per inference, and static power outside of subgraphs.
static EnergyBreakdown outside_of_subgraphs(const Estimate& e) {
    EnergyBreakdown rest = e.energy;
    for (const SubgraphEstimate& s : e.subgraphs) {
        for (std::size_t i = 0; i < kEventCount; ++i)
            rest.joules[i] -= s.energy.joules[i];
        rest.static_joules -= s.energy.static_joules;
    }
    return rest;
}

static Table by_subgraph(const Result& result) {
    struct Row {
        std::string name;
        EnergyBreakdown energy;
        double seconds;
    };
    const double total = result.estimate.energy.total();
    std::vector<ColumnOf<Row>> columns = {
        {{"", "", "hardware"}, [&](const Row&) { return hardware_label(result); }},
        {{"Subgraph", "", "subgraph"}, &Row::name},
        {least_best("Energy", "µJ", "energy_j"), 1e-6, [](const Row& r) { return r.energy.total(); }},
        {least_best("Share", "%", "share"),
         [=](const Row& r) { return percent_cell(r.energy.total() / total); }},
        {least_best("Power", "W", "power_w", 1), 1, [](const Row& r) {
             return r.seconds > 0 ? std::optional(r.energy.total() / r.seconds) : std::nullopt;
         }}};
    const EnergyParts all = parts_of(result.estimate.energy);
    for (std::size_t p = 0; p < kEnergyPartCount; ++p)
        columns.emplace_back(
            least_best(std::string(kEnergyPartNames[p]), "%", std::string(kEnergyPartKeys[p]),
                       all[p] > 0 ? 2 : 6),
            [p](const Row& r) {
                const double joules = parts_of(r.energy)[p], whole = r.energy.total();
                return Cell{fmt::format("{:.0f}", whole > 0 ? 100 * joules / whole : 0), joules};
            });
    auto rows = mapped(result.estimate.subgraphs, [&](const SubgraphEstimate& s) {
        return Row{result.partition->subgraphs[s.index].name, s.energy, s.latency_s};
    });
    if (const EnergyBreakdown rest = outside_of_subgraphs(result.estimate); rest.total() > 1e-9 * total)
        rows.push_back({"outside subgraphs", rest, result.estimate.network_s});
    Table table = table_of("Energy by subgraph", columns, rows);
    table.notes.push_back(
        "Control: instructions, tags, scheduling, tokens, configuration. Near memory: registers, L1, "
        "accumulators. Far memory: L2 and beyond. Movement: hops, weight loads, streamers, routing.");
    return table;
}

/// A network of several files: what each of them spends, and its subgraphs.
static void add_parts(const Result& result, const EnergyView& view, Report& report) {
    const double total = result.estimate.energy.total();
    const auto joules = [](const ResultPart& part) {
        return part.result->estimate.energy.total() * part.repeat;
    };
    report.blocks.push_back(
        table_of<ResultPart>("Energy by part",
                             {{{"Part", "", "part"}, &ResultPart::name},
                              {least_best("Runs", "", "repeat"),
                               [](const ResultPart& part) {
                                   return Cell{fmt::format("{:g}", part.repeat), part.repeat};
                               }},
                              {least_best("Energy", "mJ", "energy_j"), 1e-3, joules},
                              {least_best("Share", "%", "share"),
                               [=](const ResultPart& part) { return percent_cell(joules(part) / total); }}},
                             result.parts));
    if (!view.subgraphs)
        return;
    for (const ResultPart& part : result.parts)
        add_blocks(report, Heading{3, part.name}, by_subgraph(*part.result));
}

/// One estimate.
static Members<Result> energy_result_members() {
    using R = Result;
    std::vector<Member<R>> measures;
    for (const MetricField& field : fields_of(MetricTable::standard()))
        if (*field.metric == metric::energy || *field.metric == metric::power)
            measures.emplace_back(field.key(), meaning_of(field),
                                  [field](const R& r) { return field.of(*measure_of(r, *field.metric)); });
    struct Item {
        EnergyItem item;
        double total = 0;
    };
    return Members<R>{{"batch", "items", [](const R& r) { return r.estimate.batch; }}}
        .with(Members<R>(std::move(measures)))
        .with({{"peak_power_w", "", [](const R& r) { return r.estimate.peak_power_w; }},
               {"wall_power_w", "with the losses of its supply",
                [](const R& r) {
                    return wall_power(*r.machine, r.estimate.power_w / r.devices(), r.devices()).total();
                }},
               {"rollup", "the sum by what it is spent on",
                [](const R& r) { return roll_up(r.estimate.energy); },
                Members<EnergyRollup>{{"compute_j", "", &EnergyRollup::compute_j},
                                      {"memory_j", "", &EnergyRollup::memory_j},
                                      {"static_j", "", &EnergyRollup::static_j},
                                      {"control_j", "", &EnergyRollup::control_j}}},
               {"events", "largest first; they add up to the energy of the batch",
                [](const R& r) {
                    return mapped(energy_items(r), [&](EnergyItem& item) {
                        return Item{std::move(item), r.estimate.energy.total()};
                    });
                },
                energy_event_members()
                    .of<Item>(std::mem_fn(&Item::item))
                    .with({{"share", "of the energy",
                            [](const Item& i) { return i.item.joules / i.total; }}})}});
}

/// One subgraph of an estimate.
struct SubgraphEnergy {
    std::string name;
    EnergyBreakdown energy;
};

static Members<SubgraphEnergy> subgraph_energy_members() {
    using S = SubgraphEnergy;
    std::vector<Member<S>> parts;
    for (std::size_t p = 0; p < kEnergyPartCount; ++p)
        parts.emplace_back(std::string(kEnergyPartKeys[p]), "",
                           [p](const S& s) { return parts_of(s.energy)[p]; });
    return Members<S>{{"name", "", &S::name}, {"energy_j", "", [](const S& s) { return s.energy.total(); }}}
        .with(Members<S>(std::move(parts)));
}

static Sometimes<std::vector<SubgraphEnergy>> energy_by_subgraph(const Result& r, bool asked) {
    if (!asked || !r.ok() || !r.partition)
        return {};
    return {mapped(r.estimate.subgraphs, [&](const SubgraphEstimate& s) {
        return SubgraphEnergy{r.partition->subgraphs[s.index].name, s.energy};
    })};
}

Facts energy_conditions(const Result& result) {
    const Estimate& e = result.estimate;
    const Machine& m = *result.machine;
    const EnergyTable& table = *m.energy;
    const double clock = m.rate(Resource::overhead_cycles) * e.clock_ratio;
    Facts facts;
    facts.add("Boundary", boundary_of(result));
    facts.add("Power",
              fmt::format("{} on average, {} in the subgraph that draws most{}", format_power(e.power_w),
                          format_power(e.peak_power_w),
                          m.power_limit_w > 0
                              ? fmt::format("; limit {}{}", format_power(m.power_limit_w * result.devices()),
                                            e.power_limited ? ", which lowers the clock" : "")
                              : std::string()));
    if (const double factor = table.voltage_factor(clock); table.nominal_clock.known())
        facts.add("Clock",
                  fmt::format("{} MHz; dynamic energy x{:.2f} of that at {} MHz", format_number(clock / 1e6),
                              factor, format_number(table.nominal_clock.value / 1e6)));
    const WallPower wall = wall_power(m, e.power_w / result.devices(), result.devices());
    facts.add("At the wall", fmt::format("{}: {} device, {}{} host, {} lost in the supply",
                                         format_power(wall.total()), format_power(wall.accelerators_w),
                                         wall.board_w > 0 ? format_power(wall.board_w) + " board, " : "",
                                         format_power(wall.host_w), format_power(wall.supply_loss_w)));
    facts.add("90 % interval", with_interval(metric::energy, result));
    return facts;
}

Members<EnergyItem> energy_event_members() {
    using I = EnergyItem;
    return {{"event", "", &I::event},
            {"count", "of the batch; seconds of static power", &I::count},
            {"each_j", "at the voltage of the clock; watts of static power", &I::each_j},
            {"energy_j", "", &I::joules},
            {"source", "of the price, and how it was derived", &I::source}};
}

Report describe_energy(std::span<const Result> results, const EnergyView& view) {
    Report report{"Energy, event by event", {}};
    for (const Result& result : results) {
        if (!result.ok() || !result.machine->energy) {
            report.blocks.push_back(
                Paragraph{fmt::format("{}: no energy, {}.", hardware_label(result), result.estimate.reason),
                          Tone::bad});
            continue;
        }
        for (std::string& line : rollup_lines(result))
            report.blocks.push_back(Paragraph{std::move(line)});
        add_blocks(report, account(result), energy_conditions(result));
        if (view.subgraphs && result.partition)
            report.blocks.push_back(by_subgraph(result));
        if (!result.parts.empty())
            add_parts(result, view, report);
    }
    return report;
}

Members<Explained> energy_members() {
    struct Shown {
        const Result* result = nullptr;
        bool subgraphs = false;
    };
    const auto shown = [](const Explained& e) {
        return mapped(e.results, [&](const Result& result) {
            return Shown{&result, e.explanations.subgraphs};
        });
    };
    return {
        {"schema", "", [](const Explained&) { return "archsim.explain_energy/1"; },
         OneOf{{"archsim.explain_energy/1"}}},
        {"results", "", shown,
         Members<Shown>{
             {"model", "", [](const Shown& s) { return s.result->model->name; }},
             {"hardware", "", [](const Shown& s) { return hardware_label(*s.result); }},
             {"status", "", [](const Shown& s) { return status_text(s.result->estimate); }, result_status()},
             {"reason", "where there is no estimate",
              [](const Shown& s) {
                  return Sometimes<std::string>{s.result->ok() ? std::nullopt
                                                               : std::optional(s.result->estimate.reason)};
              }}}
             .with(energy_result_members().of<Shown>(
                 [](const Shown& s) { return s.result->ok() ? s.result : nullptr; }))
             .with({{"subgraphs", "with --verbose",
                     [](const Shown& s) { return energy_by_subgraph(*s.result, s.subgraphs); },
                     subgraph_energy_members()}})}};
}

} // namespace archsim
