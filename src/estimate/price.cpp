#include "estimate/price.hpp"

#include "core/text.hpp"
#include "estimate/resource_times.hpp"
#include "estimate/schedule.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <utility>

namespace archsim {

namespace {

/// Sum of products: even and odd elements apart, so that two run at once, and in this order on every machine.
template <std::size_t N>
double dot(const std::array<double, N>& a, const std::array<double, N>& b) {
    double even = 0, odd = 0;
#pragma GCC unroll 16
    for (std::size_t i = 0; i + 1 < N; i += 2) {
        even += a[i] * b[i];
        odd += a[i + 1] * b[i + 1];
    }
    if constexpr (N % 2 != 0)
        even += a[N - 1] * b[N - 1];
    return even + odd;
}

} // namespace

static constexpr std::uint32_t bit(Resource r) {
    return 1U << static_cast<unsigned>(r);
}
constexpr std::uint32_t kClocked = bit(Resource::matrix_cycles) | bit(Resource::vector_cycles) |
                                   bit(Resource::special_cycles) | bit(Resource::overhead_cycles) |
                                   bit(Resource::l1_bytes) | bit(Resource::l2_bytes);
static_assert(static_cast<unsigned>(Resource::count_) <= 32);

bool scales_with_clock(Resource r) {
    return (kClocked & bit(r)) != 0;
}

void price_time(const Mapping& mapping, const Machine& machine, double clock_ratio, bool prefetch_weights,
                LaneTimes& result) {
    result = {};
    double largest = -1;
    for (const Demand& demand : mapping.all()) {
        double rate = machine.rate(demand.resource) * demand.efficiency;
        if (scales_with_clock(demand.resource))
            rate *= clock_ratio;
        const double time = rate > 0 ? demand.amount / rate : std::numeric_limits<double>::infinity();
        if (demand.resource == Resource::dram_bytes || demand.resource == Resource::weight_bytes)
            result.dram_bytes += demand.amount;
        if (demand.resource == Resource::weight_bytes && prefetch_weights) {
            result.weight_stream += time;
            result.streamed_bytes += demand.amount;
            continue;
        }
        result.lanes[static_cast<std::size_t>(demand.lane)] += time;
        if (demand.lane == Lane::overhead &&
            (demand.resource == Resource::dram_bytes || demand.resource == Resource::l2_bytes))
            result.copies += time;
        if (time > largest) {
            largest = time;
            result.binding = demand.resource;
        }
    }
    const auto lane = [&](Lane l) { return result.lanes[static_cast<std::size_t>(l)]; };
    result.total =
        combine(lane(Lane::compute), lane(Lane::on_chip), lane(Lane::memory), machine.combine_exponent) +
        lane(Lane::overhead);
}

EventPrices::EventPrices(const Machine& machine, double clock_ratio) {
    const EnergyTable* table = machine.energy.get();
    if (!table)
        return;
    const double voltage = table->voltage_factor(machine.rate(Resource::overhead_cycles) * clock_ratio);
    for (std::size_t e = 0; e < kEventCount; ++e)
        joules_[e] = machine.price_scale * event_price(*table, static_cast<Event>(e), voltage);
    for (std::size_t p = 0; p < kPrecisionCount; ++p)
        mac_joules_[p] = machine.price_scale * table->mac[p].value_or(0) * voltage;
}

EventPrices EventPrices::scaled(double factor) const {
    EventPrices out = *this;
    if (factor == 1)
        return out;
    if (factor < 1) // a rating is one of products
        for (double& price : out.joules_)
            price *= factor;
    for (double& price : out.mac_joules_)
        price *= factor;
    return out;
}

EnergyBreakdown EventPrices::of(const EventCounts& events) const {
    EnergyBreakdown energy;
    for (std::size_t e = 0; e < kEventCount; ++e)
        energy.joules[e] = events.counts[e] * joules_[e];
    energy[Event::mac] += dot(events.macs, mac_joules_);
    return energy;
}

double EventPrices::total(const EventCounts& events) const {
    return dot(events.counts, joules_) + dot(events.macs, mac_joules_);
}

EnergyBreakdown price_energy(const EventCounts& events, const Machine& machine, double clock_ratio,
                             double scale) {
    return EventPrices(machine, clock_ratio).scaled(scale).of(events);
}

double static_power_at(const Machine& machine, double clock_ratio) {
    const double all = machine.static_power_w;
    if (clock_ratio == 1 || !machine.energy || !machine.energy->clocked_power.known() ||
        (machine.mode && machine.mode->active_idle.known()))
        return all;
    const EnergyTable& table = *machine.energy;
    const double clock = machine.rate(Resource::overhead_cycles);
    const double falls =
        1 - clock_ratio * table.voltage_factor(clock * clock_ratio) / table.voltage_factor(clock);
    return all - std::min(all, table.clocked_power.value) * falls;
}

double bounded_by_budget(const Machine& machine, double event_joules, double seconds, double clock_ratio) {
    const double room = (machine.power_budget_w - static_power_at(machine, clock_ratio)) * seconds;
    if (machine.power_budget_w <= 0 || event_joules <= room)
        return 1;
    return std::max(0.0, room) / event_joules;
}

double up_to_rating(const Machine& machine, const EventPrices& prices, const EventCounts& events,
                    double seconds) {
    if (!machine.energy || machine.power_limit_w <= 0)
        return 1;
    const double more = dot(events.macs, machine.energy->rated_mac);
    const double products = more > 0 ? prices.of(events)[Event::mac] : 0;
    if (!(products > 0))
        return 1;
    const double rating =
        machine.device->tdp.value_or(0) + granted_power(*machine.energy, machine.static_power_w);
    const double room = (std::max(rating, machine.power_limit_w) - machine.static_power_w) * seconds;
    return 1 + std::clamp(more, 0.0, std::max(0.0, room - prices.total(events))) / products;
}

double event_price(const EnergyTable& table, Event event, double voltage) {
    const double price = table[event].value_or(0);
    switch (event) {
    case Event::host_link_byte:
    case Event::host_busy_second:
        return price; // supplies of their own
    case Event::dram_byte: {
        const double device = std::min(price, table.dram_device.value_or(0));
        return device + (price - device) * voltage;
    }
    default:
        return price * voltage;
    }
}

std::vector<Finding> unpriced_events(const EventCounts& events, const Machine& machine) {
    std::vector<Finding> findings;
    const auto add = [&](std::string message, std::string hint) {
        findings.push_back({.kind = FindingKind::missing_field,
                            .severity = Severity::warning,
                            .message = std::move(message),
                            .file = machine.device->file,
                            .hint = std::move(hint)});
    };
    if (!machine.energy) {
        if (!machine.device->active_idle.known() && !machine.device->tdp.known())
            add("no energy and no power: neither power.active_idle nor power.tdp is known",
                "give one of them with its source");
        return findings;
    }
    const EnergyTable& table = *machine.energy;
    if (!(machine.static_power_w > 0))
        add("energy and power leave out static power, which is unknown",
            "give power.active_idle with its source");
    const auto report = [&](const std::string& what) {
        add("energy and power leave out " + what,
            "give it in the device's \"energy\" block or in energy.json");
    };
    for (Precision p : kPrecisions)
        if (events.macs[static_cast<std::size_t>(p)] > 0 && !table.mac[static_cast<std::size_t>(p)].known())
            report(fmt::format("mac_{}, which has no price", name_of(p)));
    for (std::size_t e = 0; e < kEventCount; ++e)
        if (events.counts[e] > 0 && !table.event[e].known())
            report(fmt::format("{}, which has no price", name_of(static_cast<Event>(e))));
    return findings;
}

std::vector<ResourceTime> resource_times(const Mapping& mapping, const Machine& machine, double clock_ratio,
                                         double repeat) {
    std::vector<ResourceTime> times;
    for (const Demand& demand : mapping.all()) {
        ResourceTime time;
        time.resource = demand.resource;
        time.lane = demand.lane;
        time.amount = demand.amount * repeat;
        time.rate = machine.rate(demand.resource) * (scales_with_clock(demand.resource) ? clock_ratio : 1);
        time.efficiency = demand.efficiency;
        time.reason = demand.reason;
        time.seconds = time.amount / (time.rate * time.efficiency);
        times.push_back(time);
    }
    return times;
}

std::string_view name_of(Lane lane) {
    static constexpr std::string_view kNames[] = {"compute", "on_chip", "memory", "overhead"};
    return name_in(kNames, lane);
}

std::string_view unit_of(Resource resource) {
    static constexpr std::string_view kNames[] = {"cycles", "cycles", "cycles", "bytes", "bytes",  "bytes",
                                                  "bytes",  "bytes",  "bytes",  "bytes", "cycles", "s"};
    return name_in(kNames, resource);
}

const std::vector<LaneTimes>& ScheduleCosts::times(const BatchSchedule& schedule, const Machine& machine,
                                                   double clock_ratio) {
    Times& known = times_.at(clock_ratio);
    if (known.clock_ratio != clock_ratio) {
        const bool prefetch = machine.runtime->weight_prefetch == WeightPrefetch::network;
        known.of_mapping.resize(schedule.mappings.size());
        for (std::size_t k = 0; k < schedule.mappings.size(); ++k)
            price_time(schedule.mappings[k], machine, clock_ratio, prefetch, known.of_mapping[k]);
        known.clock_ratio = clock_ratio;
    }
    return known.of_mapping;
}

const std::vector<double>& ScheduleCosts::joules(const BatchSchedule& schedule, const EventPrices& prices,
                                                 double clock_ratio) {
    Joules& known = joules_.at(clock_ratio);
    if (!known.prices || *known.prices != prices) {
        known.prices = prices;
        known.of_mapping.resize(schedule.mappings.size());
        for (std::size_t k = 0; k < schedule.mappings.size(); ++k)
            known.of_mapping[k] = prices.total(schedule.mappings[k].events);
    }
    return known.of_mapping;
}

void ScheduleCosts::forget_times() {
    times_.full().clock_ratio = times_.lowered().clock_ratio = 0;
}

void ScheduleCosts::restart() {
    forget_times();
    joules_.full().prices.reset();
    joules_.lowered().prices.reset();
}

void add_collectives(const SubgraphWork& work, const Machine& machine, Mapping& out) {
    if (work.collectives <= 0)
        return;
    out.add(Resource::link_bytes, Lane::overhead, work.link_bytes,
            machine.param(Parameter::link_efficiency, 1), Parameter::link_efficiency);
    const double start = machine.param(Parameter::link_latency, 0) +
                         machine.param(Parameter::link_latency_chip, 0) * std::max(0.0, machine.devices - 2);
    out.add(Resource::seconds, Lane::overhead, work.collectives * start, 1, Parameter::link_latency);
    // Links between devices and to the host are serial lanes off the package alike.
    out.events[Event::host_link_byte] += work.link_bytes;
}

} // namespace archsim
