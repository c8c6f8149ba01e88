#include "estimate/price.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace archsim {

double combine(double x, double y, double z, double p) {
    if (p == 1)
        return x + y + z;
    const double top = std::max({x, y, z});
    if (top <= 0 || std::isinf(p))
        return top;
    const double a = x / top, b = y / top, c = z / top;
    if (p == 2)
        return top * std::sqrt(a * a + b * b + c * c);
    if (p == 4)
        return top * std::sqrt(std::sqrt(a * a * a * a + b * b * b * b + c * c * c * c));
    return top * std::pow(std::pow(a, p) + std::pow(b, p) + std::pow(c, p), 1 / p);
}

namespace {

bool scales_with_clock(Resource r) {
    switch (r) {
    case Resource::matrix_cycles:
    case Resource::vector_cycles:
    case Resource::special_cycles:
    case Resource::overhead_cycles:
    case Resource::l1_bytes:
    case Resource::l2_bytes: return true;
    default: return false;
    }
}

} // namespace

LaneTimes price_time(const Mapping& mapping, const Machine& machine, double clock_ratio, bool prefetch_weights) {
    LaneTimes result;
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
            continue;
        }
        result.lanes[static_cast<std::size_t>(demand.lane)] += time;
        if (time > largest) {
            largest = time;
            result.binding = demand.resource;
        }
    }
    const auto lane = [&](Lane l) { return result.lanes[static_cast<std::size_t>(l)]; };
    result.total = combine(lane(Lane::compute), lane(Lane::on_chip), lane(Lane::memory), machine.combine_exponent) +
                   lane(Lane::overhead);
    return result;
}

EnergyBreakdown price_energy(const EventCounts& events, const Machine& machine, double clock_ratio) {
    EnergyBreakdown energy;
    if (!machine.energy)
        return energy;
    const EnergyTable& table = *machine.energy;
    const double voltage = clock_ratio == 1 ? 1.0 : std::pow(clock_ratio, table.clock_exponent.value_or(1) - 1);
    for (std::size_t p = 0; p < kPrecisionCount; ++p)
        if (events.macs[p] > 0)
            energy[Event::mac] += events.macs[p] * table.mac[p].value_or(0) * voltage;
    for (std::size_t e = 0; e < kEventCount; ++e)
        if (events.counts[e] > 0) {
            // DRAM and links have supplies of their own.
            const auto event = static_cast<Event>(e);
            const bool own_supply = event == Event::dram_byte || event == Event::host_link_byte ||
                                    event == Event::host_busy_second;
            energy[event] += events.counts[e] * table.event[e].value_or(0) * (own_supply ? 1.0 : voltage);
        }
    return energy;
}

} // namespace archsim
