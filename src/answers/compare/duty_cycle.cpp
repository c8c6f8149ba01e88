#include "answers/compare/duty_cycle.hpp"

#include "archsim/core/finding.hpp"
#include "core/lists.hpp"
#include "core/parse_number.hpp"
#include "estimate/wall_power.hpp"
#include "map/on_chip.hpp"
#include "report/blocks/columns.hpp"
#include "report/blocks/explanations.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/result_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace archsim {

namespace {

constexpr double kCellVolts = 3.7; ///< nominal, of a lithium-ion cell (IEC 61960-3)
constexpr double kMilli = 1e-3, kMega = 1e6, kHoursPerDay = 24;

double per_item_s(const Result& r) {
    return r.estimate.latency_s / std::max(1.0, r.estimate.batch);
}

/// Seconds until weights are back on a chip that keeps them between inferences, and cannot keep `all` bytes.
/// Nothing where every inference loads them anyway.
double reload_s(const Result& r, double all) {
    const Machine& m = *r.machine;
    const double kept = std::max(weight_memory_bytes(m), managed_memory_bytes(m));
    const double own = r.estimate.memory.weight_bytes;
    const bool loads = r.estimate.energy.joules[static_cast<std::size_t>(Event::configuration_byte)] > 0;
    if (m.param(Parameter::weight_residency, 0) <= 0 || all <= kept || loads || !(own > 0))
        return 0;
    return cold_start_of(r)->upload_s * std::min(1.0, kept / own);
}

/// What a network does on the device of a result, or on a slice of that; null: it was not asked.
const Result* find_other(const DutyRequest& request, const std::string& model, const Result& on,
                         const std::string& slice = {}) {
    const std::string hardware = slice.empty() ? on.hardware : on.hardware + "@" + slice;
    const auto found = std::ranges::find_if(request.others, [&](const Result& other) {
        return other.model && other.model->name == model && other.hardware == hardware &&
               other.conditions.stack == on.conditions.stack && other.devices() == on.devices();
    });
    return found == request.others.end() ? nullptr : &*found;
}

/// The least slice for each network, the first as much of the rest as there is where it has no rate of its
/// own; none at all where they are more than the device has.
void choose_slices(const DutyRequest& request, DutyCycle& duty) {
    const std::vector<DeviceSlice>& all = duty.result->device->slices;
    if (all.empty() || request.others.empty())
        return;
    double compute = all.back().compute, memory = all.back().memory;
    for (auto n = duty.networks.rbegin(); n != duty.networks.rend(); ++n) {
        const bool rest = n->result == duty.result && request.every_s <= 0;
        const DeviceSlice* chosen = nullptr;
        for (const DeviceSlice& slice : all) {
            const Result* const own = find_other(request, n->result->model->name, *duty.result, slice.name);
            if (own != nullptr && own->ok() && slice.compute <= compute && slice.memory <= memory &&
                (rest || (chosen == nullptr && per_item_s(*own) <= n->every_s)))
                chosen = &slice;
        }
        if (chosen == nullptr) {
            for (SharedNetwork& network : duty.networks)
                network.slice.clear();
            return;
        }
        n->slice = chosen->name;
        compute -= chosen->compute;
        memory -= chosen->memory;
    }
}

/// The networks of a device, with their parts of its time; others than the first, which has what they leave
/// where it has no rate of its own.
void share_time(const Result& r, const DutyRequest& request, DutyCycle& duty) {
    duty.networks.push_back({&r, &r, request.every_s});
    for (const Companion& other : request.with)
        if (const Result* const own = find_other(request, other.model, r))
            duty.networks.push_back({&r, own, other.every_s});
    double weights = 0, all_s = 0, others = 0;
    for (const SharedNetwork& n : duty.networks) {
        weights += n.result->estimate.memory.weight_bytes;
        duty.memory_bytes += n.result->estimate.memory.peak_bytes;
    }
    for (SharedNetwork& n : duty.networks)
        if (n.result->ok()) {
            n.latency_s =
                per_item_s(*n.result) + (duty.networks.size() > 1 ? reload_s(*n.result, weights) : 0);
            all_s += n.latency_s;
            n.share = n.every_s > 0 ? n.latency_s / n.every_s : 0;
            others += n.share;
        }
    SharedNetwork& first = duty.networks.front();
    if (first.every_s <= 0) {
        first.share = std::max(0.0, 1 - others);
        first.every_s = first.latency_s / first.share;
    }
    duty.active_share = others + (request.every_s > 0 ? 0 : first.share);
    for (SharedNetwork& n : duty.networks)
        n.worst_s = n.latency_s > 0 ? all_s : 0;
    choose_slices(request, duty);
}

DutyCycle cycle_of(const Result& r, const DutyRequest& request, std::optional<PowerBoundary> boundary) {
    DutyCycle duty;
    duty.result = &r;
    share_time(r, request, duty);
    double active_w = 0;
    for (const SharedNetwork& n : duty.networks)
        if (n.latency_s > 0) {
            const double chip_j = n.result->estimate.energy_per_inference_j;
            const double joules = joules_at(*r.machine, chip_j, n.latency_s, boundary);
            active_w += joules / n.every_s;
            duty.inference_j = n.result == &r ? joules : duty.inference_j;
        }
    const Fact& idle = r.device->idle.known() ? r.device->idle : r.device->active_idle;
    if (!idle.known() || duty.active_share > 1)
        return duty;
    duty.idle_w = joules_at(*r.machine, idle.value * r.machine->devices, 1, boundary);
    duty.average_w = active_w + *duty.idle_w * (1 - duty.active_share);
    duty.mah_per_day = *duty.average_w * kHoursPerDay / kCellVolts / kMilli;
    if (request.battery_wh > 0)
        duty.battery_hours = request.battery_wh / *duty.average_w;
    return duty;
}

std::vector<ColumnOf<DutyCycle>> duty_columns(bool battery, bool shared) {
    using D = DutyCycle;
    std::vector<ColumnOf<D>> columns = {
        {{"Hardware", "", "hardware"}, [](const D& d) { return hardware_label(*d.result); }},
        {least_best("At work", "%", "active_share"),
         [](const D& d) { return percent_cell(d.active_share); }}};
    if (shared)
        columns.push_back({least_best("Memory", "MB", "memory_bytes"), kMega, &D::memory_bytes});
    append(columns, {{least_best("Inference", "mJ", "inference_energy_j"), kMilli, &D::inference_j},
                     {least_best("Idle", "W", "idle_power_w"), 1, &D::idle_w},
                     {least_best("Average", "W", "average_power_w"), 1, &D::average_w},
                     {least_best("Charge", "mAh/day", "charge_mah_per_day"), 1, &D::mah_per_day}});
    if (battery)
        columns.push_back({most_best("Battery", "h", "battery_hours"), 1, &D::battery_hours});
    return columns;
}

std::vector<ColumnOf<SharedNetwork>> network_columns() {
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
std::string company_text(const DutyRequest& request) {
    return "with " + joined(request.with, [](const Companion& c) {
               return fmt::format("{} at {}/s", c.model, format_number(1 / c.every_s));
           });
}

Table duty_table(std::span<const DutyCycle> cycles, const DutyRequest& request, PowerBoundary boundary) {
    using D = DutyCycle;
    const std::string often = request.every_s > 0 ? "One inference every " + format_time(request.every_s)
                                                  : "Inferences in the time that is left";
    Table table =
        table_of(fmt::format("{}{}, power at the {}", often,
                             request.with.empty() ? "" : " " + company_text(request), name_of(boundary)),
                 duty_columns(request.battery_wh > 0, !request.with.empty()), cycles);
    table.notes.push_back(
        fmt::format("Charge: of a lithium-ion cell of {:g} V, without losses of its converter.", kCellVolts));
    std::vector<std::string> late, small, awake;
    for (const D& d : cycles) {
        if (d.active_share > 1)
            late.push_back(hardware_label(*d.result));
        else if (d.idle_w && !d.result->device->idle.known())
            awake.push_back(hardware_label(*d.result));
        if (!d.fits())
            small.push_back(hardware_label(*d.result));
    }
    for (const auto& [names, what] :
         {std::pair(&late, "cannot keep up"), std::pair(&small, "out of memory"),
          std::pair(&awake, "idle with clocks up; deeper sleep is not published")})
        if (!names->empty())
            table.notes.push_back(fmt::format("{}: {}.", fmt::join(*names, ", "), what));
    return table;
}

Table network_table(std::span<const DutyCycle> cycles) {
    std::vector<SharedNetwork> networks;
    for (const DutyCycle& duty : cycles)
        append(networks, duty.networks);
    auto columns = network_columns();
    const bool sliced = std::ranges::any_of(networks, [](const auto& n) { return !n.slice.empty(); });
    if (!sliced)
        columns.pop_back();
    Table table = table_of("Networks that share a device", columns, networks);
    table.notes.emplace_back(
        "One inference at a time; at worst it waits for one of each other network. Weights "
        "that a chip keeps come anew where it cannot keep those of all.");
    for (const SharedNetwork& n : networks)
        if (!n.result->ok())
            table.notes.push_back(fmt::format("{} on {}: {}.", n.result->model->name,
                                              hardware_label(*n.device), n.result->estimate.reason));
    if (sliced)
        table.notes.emplace_back(
            "Slice: the least that keeps up with the network, with nothing to wait for.");
    return table;
}

} // namespace

bool DutyCycle::fits() const {
    const double room = result->estimate.memory.capacity_bytes;
    return (room <= 0 || memory_bytes <= room) && // of chips whose memory is not known, anything
           std::ranges::all_of(networks, [](const SharedNetwork& n) { return n.result->ok(); });
}

Companion parse_companion(std::string_view text) {
    const std::size_t at = text.rfind('@');
    std::string_view rest = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
    const bool fps = rest.ends_with("fps");
    const double number = fps ? plain_number<double>(rest.substr(0, rest.size() - 3)).value_or(0)
                              : parse_seconds(rest).value_or(0);
    if (at == 0 || !(number > 0) || !std::isfinite(number))
        throw UsageError(fmt::format(
            "--with: expected a model and how often it runs (yolov8n@10fps, whisper-tiny@30s), got \"{}\"",
            text));
    return {std::string(text.substr(0, at)), fps ? 1 / number : number};
}

DutyRequest with_companions(const Session& session, const ModelComparison& c, DutyRequest request) {
    std::vector<Model> models;
    for (Companion& other : request.with) {
        models.push_back(session.load(other.model));
        other.model = models.back().name();
    }
    const auto ask = [&](const Workload& workload, const std::string& hardware, const Result& beside) {
        Conditions conditions = c.request.conditions;
        conditions.stack = beside.conditions.stack;
        conditions.devices = beside.conditions.devices;
        request.others.push_back(session.estimate(workload, hardware, conditions));
    };
    for (const Result& r : c.results) {
        if (!r.ok() || models.empty() || find_other(request, request.with.front().model, r) != nullptr)
            continue;
        for (const Model& model : models)
            ask({.model = model}, r.hardware, r);
        for (const DeviceSlice& slice :
             r.power_mode.empty() ? r.device->slices : std::vector<DeviceSlice>()) {
            const std::string part = r.hardware + "@" + slice.name;
            Workload compared = c.request.workload;
            compared.model = session.load(c.request.models.front());
            ask(compared, part, r);
            for (const Model& model : models)
                ask({.model = model}, part, r);
        }
    }
    return request;
}

std::vector<DutyCycle> duty_cycles(std::span<const Result> results, const DutyRequest& request,
                                   std::optional<PowerBoundary> boundary) {
    std::vector<DutyCycle> cycles;
    for (const Result& r : results)
        if (r.ok() && r.device && r.machine)
            cycles.push_back(cycle_of(r, request, boundary));
    std::ranges::stable_sort(cycles, [](const DutyCycle& a, const DutyCycle& b) {
        return a.average_w.value_or(INFINITY) < b.average_w.value_or(INFINITY);
    });
    return cycles;
}

std::string in_words(std::span<const DutyCycle> cycles, const DutyRequest& request) {
    const bool shared = !request.with.empty(), rest = request.every_s <= 0;
    const auto key = [&](const DutyCycle& d) { // what may lead and holds; draws least, or does most
        return std::tuple(!may_lead(d.result->estimate), !d.holds(), rest ? d.networks.front().every_s : 0);
    };
    const DutyCycle* best = &cycles.front();
    for (const DutyCycle& d : cycles)
        if (key(d) < key(*best))
            best = &d;
    const std::string who = cycles.size() > 1 ? hardware_label(*best->result) + ", " : std::string();
    std::string text = rest ? "W" + company_text(request).substr(1) + ": "
                            : fmt::format("One inference every {}{}: ", format_time(request.every_s),
                                          shared ? ", " + company_text(request) : std::string());
    const double room = best->result->estimate.memory.capacity_bytes;
    if (!best->holds())
        return text + who +
               (best->fits() ? fmt::format("too much, {:.0f} % of the time.", 100 * best->active_share)
                             : "too much for the memory.");
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
    if (best->battery_hours)
        text += fmt::format(", {} h on the battery", format_number(*best->battery_hours));
    return text + ".";
}

std::vector<Block> duty_blocks(std::span<const Result> results, const DutyRequest& request,
                               std::optional<PowerBoundary> boundary) {
    const std::vector<DutyCycle> cycles = duty_cycles(results, request, boundary);
    std::vector<Block> blocks = {duty_table(cycles, request, boundary.value_or(PowerBoundary::chip))};
    if (!request.with.empty())
        blocks.insert(blocks.begin(), network_table(cycles));
    return blocks;
}

Members<DutyCycle> duty_members() {
    return members_of(duty_columns(true, true))
        .with({{"networks", "that share the device, the compared one first", &DutyCycle::networks,
                members_of(network_columns())}});
}

double parse_battery(std::string_view text) {
    const double number = take_number<double>(text).value_or(0);
    while (text.starts_with(' '))
        text.remove_prefix(1);
    if (number > 0 && text == "Wh")
        return number;
    if (number > 0 && text == "mAh")
        return number * kMilli * kCellVolts;
    throw UsageError("--battery: expected a capacity with its unit (10Wh, 5000mAh)");
}

} // namespace archsim
