#include "answers/compare/duty_cycle.hpp"

#include "core/lists.hpp"
#include "report/blocks/columns.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/result_text.hpp"
#include "report/blocks/verdict.hpp"
#include "result/ranking.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace archsim {

constexpr double kMilli = 1e-3, kMega = 1e6;

/// The result of the network of that index on a slice of the device; null: it was not asked.
static const Result* on_slice(std::span<const Result> slices, const Result& whole, const std::string& slice,
                              std::size_t network) {
    const auto found = std::ranges::find_if(slices, [&](const Result& part) {
        return part.model->name == whole.model->name && part.hardware == whole.hardware + "@" + slice &&
               part.conditions.stack == whole.conditions.stack && part.devices() == whole.devices();
    });
    return found == slices.end() ? nullptr : network == 0 ? &*found : found->beside[network - 1].get();
}

/// The least slice for each network, the first as much of the rest as there is where it has no rate of its
/// own; none at all where they are more than the device has.
static void choose_slices(std::span<const Result> slices, DutyCycle& duty) {
    const std::vector<DeviceSlice>& all = duty.result->device->slices;
    if (all.empty() || slices.empty())
        return;
    double compute = all.back().compute, memory = all.back().memory;
    for (std::size_t k = duty.networks.size(); k-- > 0;) {
        SharedNetwork& n = duty.networks[k];
        const bool rest = k == 0 && duty.result->conditions.duty.every_s <= 0;
        const DeviceSlice* chosen = nullptr;
        for (const DeviceSlice& slice : all) {
            const Result* const own = on_slice(slices, *duty.result, slice.name, k);
            if (own != nullptr && own->ok() && slice.compute <= compute && slice.memory <= memory &&
                (rest || (chosen == nullptr && own->estimate.throughput_per_s * n.every_s >= 1)))
                chosen = &slice;
        }
        if (chosen == nullptr) {
            for (SharedNetwork& network : duty.networks)
                network.slice.clear();
            return;
        }
        n.slice = chosen->name;
        compute -= chosen->compute;
        memory -= chosen->memory;
    }
}

/// "46.8 mW", with its unit: devices that sleep draw thousands of times less than others.
static Cell power_cell(std::optional<double> watts) {
    return watts ? worded_cell(format_power(*watts), *watts) : Cell{};
}

static std::vector<ColumnOf<DutyCycle>> duty_columns(bool battery, bool shared) {
    using D = DutyCycle;
    std::vector<ColumnOf<D>> columns = {
        {{"Hardware", "", "hardware"}, [](const D& d) { return hardware_label(*d.result); }},
        {least_best("At work", "%", "active_share"),
         [](const D& d) { return percent_cell(d.active_share); }}};
    if (shared)
        columns.push_back({least_best("Memory", "MB", "memory_bytes"), kMega, &D::memory_bytes});
    append(
        columns,
        {{least_best("Inference", "mJ", "inference_energy_j"), kMilli, &D::inference_j},
         {least_best("Working", "", "work_power_w"), [](const D& d) { return power_cell(d.work_w); }},
         {least_best("Idle", "", "idle_power_w"), [](const D& d) { return power_cell(d.idle_w); }},
         {{"State", "", "idle_state"},
          [](const D& d) { return !d.idle_w  ? ""
                                  : d.sleeps ? "asleep"
                                             : "awake"; }},
         {least_best("Work alone", "", "active_power_w"),
          [](const D& d) { return d.holds() ? power_cell(d.active_w) : Cell{}; }},
         {least_best("Average", "", "average_power_w"), [](const D& d) { return power_cell(d.average_w); }},
         {least_best("Charge", "mAh/day", "charge_mah_per_day"), 1, &D::mah_per_day}});
    if (battery)
        columns.push_back({most_best("Battery", "", "battery_hours"), [](const D& d) {
                               return d.battery_hours
                                          ? worded_cell(format_lasting(*d.battery_hours), *d.battery_hours)
                                          : Cell{};
                           }});
    return columns;
}

static std::vector<ColumnOf<SharedNetwork>> network_columns() {
    using N = SharedNetwork;
    return {{{"Hardware", "", "hardware"}, [](const N& n) { return hardware_label(*n.device); }},
            {{"Network", "", "model"}, [](const N& n) { return n.result->model->name; }},
            {most_best("Rate", "1/s", "rate_per_s"), 1, [](const N& n) { return 1 / n.every_s; }},
            {least_best("Latency", "ms", "latency_s"), kMilli, &N::latency_s},
            {least_best("At worst", "ms", "worst_latency_s"), kMilli, &N::worst_s},
            {least_best("Time", "%", "time_share"), [](const N& n) { return percent_cell(n.share); }},
            {least_best("Memory", "MB", "memory_bytes"), kMega,
             [](const N& n) { return n.result->estimate.memory.peak_bytes; }},
            {{"Slice", "", "slice"}, [](const N& n) { return n.slice; }}};
}

/// "with midas at 5/s".
static std::string company_text(const Result& r) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < r.beside.size(); ++i)
        names.push_back(fmt::format("{} at {}/s", r.beside[i]->model->name,
                                    format_number(1 / r.conditions.duty.with[i].every_s)));
    return "with " + fmt::format("{}", fmt::join(names, ", "));
}

static Table duty_table(std::span<const DutyCycle> cycles, PowerBoundary boundary) {
    using D = DutyCycle;
    const Result& first = *cycles.front().result;
    const Duty& asked = first.conditions.duty;
    const std::string often = asked.every_s > 0 ? "One inference every " + format_time(asked.every_s)
                                                : "Inferences in the time that is left";
    Table table =
        table_of(fmt::format("{}{}, power at the {}", often,
                             asked.with.empty() ? "" : " " + company_text(first), name_of(boundary)),
                 duty_columns(asked.battery_wh > 0, !asked.with.empty()), cycles);
    table.notes.push_back(fmt::format(
        "Average: of all the time; that is the power, energy and cost of the "
        "ranking. Charge: of a cell of {:g} V, without losses of its converter and what it loses by itself.",
        asked.cell_volts));
    std::vector<std::string> late, small, awake;
    for (const D& d : cycles) {
        if (d.active_share > 1)
            late.push_back(hardware_label(*d.result));
        else if (d.idle_w && !d.sleeps)
            awake.push_back(hardware_label(*d.result));
        if (!d.fits())
            small.push_back(hardware_label(*d.result));
    }
    for (const auto& [names, what] :
         {std::pair(&late, "cannot keep up"), std::pair(&small, "out of memory"),
          std::pair(&awake, "no sleep state is known, so that the average lies between that of the work "
                            "alone and this one, with clocks up; --idle-power states one")})
        if (!names->empty())
            table.notes.push_back(fmt::format("{}: {}.", fmt::join(*names, ", "), what));
    return table;
}

static Table network_table(std::span<const DutyCycle> cycles) {
    std::vector<SharedNetwork> networks;
    for (const DutyCycle& duty : cycles)
        append(networks, duty.networks);
    auto columns = network_columns();
    const bool sliced = std::ranges::any_of(networks, [](const auto& n) { return !n.slice.empty(); });
    if (!sliced)
        columns.pop_back();
    Table table = table_of("Networks that share a device", columns, networks);
    table.notes.emplace_back("One inference at a time; at worst it waits for one of each other network. "
                             "Weights that a chip keeps come anew where it cannot keep those of all.");
    for (const SharedNetwork& n : networks)
        if (!n.result->ok())
            table.notes.push_back(fmt::format("{} on {}: {}.", n.result->model->name,
                                              hardware_label(*n.device), n.result->estimate.reason));
    if (sliced)
        table.notes.emplace_back(
            "Slice: the least that keeps up with the network, with nothing to wait for.");
    return table;
}

std::vector<Result> on_slices(const Session& session, const ModelComparison& c) {
    std::vector<Result> slices;
    const std::size_t per_model = c.results.size() / std::max<std::size_t>(1, c.request.models.size());
    for (std::size_t i = 0; i < c.results.size(); ++i) {
        const Result& r = c.results[i];
        if (!r.ok() || r.beside.empty() || !r.power_mode.empty() || r.device->slices.empty())
            continue;
        Workload whole = *r.workload;
        whole.model = session.load(c.request.models[i / per_model]); // a result keeps none
        for (const DeviceSlice& slice : r.device->slices)
            if (on_slice(slices, r, slice.name, 0) == nullptr)
                slices.push_back(session.estimate(whole, r.hardware + "@" + slice.name, r.conditions));
    }
    return slices;
}

std::vector<DutyCycle> duty_cycles(std::span<const Result> results, std::span<const Result> slices,
                                   std::optional<PowerBoundary> boundary) {
    std::vector<DutyCycle> cycles;
    for (const Result& r : results)
        if (auto duty = stated_duty(r, boundary)) {
            choose_slices(slices, *duty);
            cycles.push_back(std::move(*duty));
        }
    std::ranges::stable_sort(cycles, {},
                             [](const DutyCycle& duty) { return duty.average_w.value_or(INFINITY); });
    return cycles;
}

/// The one that holds and may lead, draws least, or does most in the time that is left.
static const DutyCycle& best_of(std::span<const DutyCycle> cycles, std::span<const Result> results,
                                const Decision& decision) {
    const bool rest = cycles.front().result->conditions.duty.every_s <= 0;
    const auto key = [&](const DutyCycle& d) {
        return std::tuple(!decision.qualifies[static_cast<std::size_t>(d.result - results.data())],
                          !d.holds(), !may_lead(d.result->estimate), rest ? d.networks.front().every_s : 0);
    };
    const DutyCycle* best = &cycles.front();
    for (const DutyCycle& d : cycles)
        if (key(d) < key(*best))
            best = &d;
    return *best;
}

std::string may_sleep_text(std::span<const DutyCycle> cycles, std::span<const Result> results,
                           const Decision& decision) {
    if (cycles.empty() || cycles.front().result->conditions.duty.every_s <= 0)
        return {};
    const DutyCycle& best = best_of(cycles, results, decision);
    std::vector<std::string> names;
    double least_w = INFINITY;
    for (const DutyCycle& d : cycles)
        if (&d != &best && best.holds() && d.average_w && best.average_w && !d.sleeps &&
            d.active_w < *best.average_w) {
            names.push_back(hardware_label(*d.result));
            least_w = std::min(least_w, d.active_w);
        }
    return names.empty() ? std::string()
                         : fmt::format("{} may draw less asleep, from {}, which is not known: --idle-power "
                                       "states it.",
                                       names_text(names), format_power(least_w));
}

std::string in_words(std::span<const DutyCycle> cycles, std::span<const Result> results,
                     const Decision& decision) {
    const Duty& asked = cycles.front().result->conditions.duty;
    const bool shared = !asked.with.empty(), rest = asked.every_s <= 0;
    const DutyCycle* const best = &best_of(cycles, results, decision);
    const std::string who = cycles.size() > 1
                                ? hardware_label(*best->result) + standing_note(best->result->estimate) + ", "
                                : std::string();
    const std::string company = shared ? company_text(*best->result) : std::string();
    std::string text = rest ? "W" + company.substr(1) + ": "
                            : fmt::format("One inference every {}{}: ", format_time(asked.every_s),
                                          shared ? ", " + company : std::string());
    const double room = best->result->estimate.memory.capacity_bytes;
    if (!best->holds())
        return text + who +
               (!best->fits()
                    ? std::string("too much for the memory.")
                    : fmt::format("too much, {:.0f} % of the time{}.", 100 * best->active_share,
                                  best->most_per_s() > 0
                                      ? fmt::format("; {}/s would fit", format_number(best->most_per_s()))
                                      : ""));
    if (rest)
        text += fmt::format("{}{} inferences/s in the time that is left", who,
                            format_number(1 / best->networks.front().every_s));
    else if (shared)
        text += fmt::format("{}{:.0f} % of the time, {:.0f} % left", who, 100 * best->active_share,
                            100 * (1 - best->active_share));
    if (shared)
        text += fmt::format(", memory {}{}, ", format_bytes(best->memory_bytes),
                            room > 0 ? " of " + format_bytes(room) : std::string());
    text += !best->average_w ? "idle power not known"
            : shared || who.empty()
                ? "average power " + format_power(*best->average_w)
                : fmt::format("least average power {}{}", who, format_power(*best->average_w));
    if (best->average_w && !best->sleeps && best->left_w() > *best->average_w / 2)
        text += " awake"; // its idle power is no sleep state and most of its average
    if (best->battery_hours)
        text += fmt::format(", {} on the battery", format_lasting(*best->battery_hours));
    return text + ".";
}

std::vector<Block> duty_blocks(std::span<const DutyCycle> cycles, PowerBoundary boundary) {
    if (cycles.empty())
        return {};
    std::vector<Block> blocks = {duty_table(cycles, boundary)};
    if (!cycles.front().result->beside.empty())
        blocks.insert(blocks.begin(), network_table(cycles));
    return blocks;
}

Members<DutyCycle> duty_members() {
    return members_of(duty_columns(true, true))
        .with({{"networks", "that share the device, the compared one first", &DutyCycle::networks,
                members_of(network_columns())}});
}

} // namespace archsim
