// Energy of a region: sum over kinds of arithmetic of operations x joules, control, bytes x joules per byte
// by level, transfers and host, static power x time. Power is that over the interval between batches.

#include "compare/factor_terms.hpp"
#include "estimate/price.hpp"

#include <limits>

namespace archsim {

namespace {

/// What one region spends on one device, whole batch.
struct RegionEnergy {
    EventCounts events;
    EnergyBreakdown energy;
    double seconds = 0; ///< busy, for static power
};

RegionEnergy& operator+=(RegionEnergy& sum, const RegionEnergy& other) {
    sum.events += other.events;
    for (std::size_t e = 0; e < kEventCount; ++e)
        sum.energy.joules[e] += other.energy.joules[e];
    sum.seconds += other.seconds;
    return sum;
}

RegionEnergy region_energy(const CommonRegion& region, std::size_t index, const Result& leaf) {
    RegionEnergy sum;
    for (std::uint32_t s : region.subgraphs[index]) {
        const SubgraphEstimate& e = leaf.estimate.subgraphs[s];
        RegionEnergy one;
        one.events = e.mapping.events;
        one.events.scale(leaf.work->subgraphs[s].repeat);
        one.energy = e.energy;
        one.seconds = e.latency_s;
        sum += one;
    }
    return sum;
}

/// Events once per inference.
RegionEnergy network_energy(const Result& leaf) {
    RegionEnergy one;
    one.events = leaf.estimate.network.fixed.events;
    one.energy =
        price_energy(one.events, *leaf.machine, leaf.estimate.clock_ratio, leaf.estimate.energy_scale);
    return one;
}

double count_of(const EventCounts& events, std::initializer_list<Event> list) {
    double sum = 0;
    for (Event e : list) {
        sum += events[e];
        if (e == Event::mac)
            for (double macs : events.macs)
                sum += macs;
    }
    return sum;
}

double joules_of(const EnergyBreakdown& energy, std::initializer_list<Event> list) {
    double sum = 0;
    for (Event e : list)
        sum += energy[e];
    return sum;
}

class EnergySplit {
  public:
    EnergySplit(const Pair& per_second, PartSums& sums) : per_second_(per_second), sums_(sums) {}

    void add(std::size_t id, double repeat, const RegionEnergy& a, const RegionEnergy& b) const {
        const auto priced = [&](Factor count, Factor price, std::initializer_list<Event> events) {
            const Pair counts{count_of(a.events, events), count_of(b.events, events)};
            const double ja = joules_of(a.energy, events), jb = joules_of(b.energy, events);
            constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
            Pair prices{counts.a > 0 ? ja / counts.a : kNone, counts.b > 0 ? jb / counts.b : kNone};
            prices.complete(0);
            product(id, repeat, {{count, counts}, {price, prices}});
        };
        const auto whole = [&](Factor factor, std::initializer_list<Event> events) {
            product(id, repeat, {{factor, {joules_of(a.energy, events), joules_of(b.energy, events)}}});
        };
        for (Event arithmetic : {Event::mac, Event::vector_op, Event::special_op})
            priced(Factor::operations, Factor::operation_energy, {arithmetic});
        whole(Factor::control, {Event::instruction, Event::coherence, Event::scheduling, Event::domain_token,
                                Event::configuration_byte});
        for (Event near : {Event::register_byte, Event::l1_byte, Event::accumulator_byte})
            priced(Factor::near_bytes, Factor::near_energy, {near});
        for (Event far : {Event::l2_byte, Event::llc_byte})
            priced(Factor::far_bytes, Factor::far_energy, {far});
        for (Event fabric :
             {Event::systolic_hop, Event::weight_load_byte, Event::streamer_byte, Event::routing_byte})
            priced(Factor::fabric_bytes, Factor::fabric_energy, {fabric});
        priced(Factor::memory_bytes, Factor::memory_energy, {Event::dram_byte});
        whole(Factor::host, {Event::host_link_byte, Event::host_busy_second});
    }

    void product(std::size_t id, double scale, std::vector<std::pair<Factor, Pair>> factors) const {
        factors.emplace_back(Factor::time, per_second_);
        add_product(id, scale, factors, sums_);
    }

  private:
    const Pair per_second_; ///< 1, or 1 / interval for power
    PartSums& sums_;
};

double whole_interval(const Result& r) {
    double seconds = 0;
    for (const ResultLeaf& leaf : leaves_of(r))
        seconds += leaf.repeat * interval_of_batches(*leaf.result);
    return seconds;
}

/// Of one chip, at the clock it ran at.
double static_w(const Result& r) {
    return static_power_at(*r.machine, r.estimate.clock_ratio);
}

template <class Leaves>
double mean_static_w(const Leaves& leaves) {
    double joules = 0, seconds = 0;
    for (const auto& leaf : leaves) {
        const double time = leaf.repeat * interval_of_batches(*leaf.result);
        joules += time * static_w(*leaf.result);
        seconds += time;
    }
    return joules / seconds;
}

} // namespace

void attribute_energy(const Result& a, const Result& b, const std::vector<CommonRegion>& regions,
                      bool per_second, PartSums& sums) {
    const auto leaves_a = leaves_of(a), leaves_b = leaves_of(b);
    const Pair rate = per_second ? Pair{1 / whole_interval(a), 1 / whole_interval(b)} : Pair{1, 1};
    const EnergySplit split(rate, sums);
    for (std::size_t part = 0; part < leaves_a.size(); ++part) {
        const Result &la = *leaves_a[part].result, &lb = *leaves_b[part].result;
        const double repeat = leaves_a[part].repeat;
        double busy_a = 0, busy_b = 0;
        for (std::size_t r = 0; r < regions.size(); ++r) {
            if (regions[r].part != part)
                continue;
            const RegionEnergy ea = region_energy(regions[r], 0, la), eb = region_energy(regions[r], 1, lb);
            split.add(r, repeat, ea, eb);
            busy_a += ea.seconds;
            busy_b += eb.seconds;
            // Static power is a rate already: over the interval it is itself.
            if (!per_second)
                split.product(r, repeat,
                              {{Factor::static_power, {static_w(la), static_w(lb)}},
                               {Factor::time, {ea.seconds, eb.seconds}}});
        }
        split.add(kNetwork, repeat, network_energy(la), network_energy(lb));
        if (!per_second)
            split.product(
                kNetwork, repeat,
                {{Factor::static_power, {static_w(la), static_w(lb)}},
                 {Factor::time, {interval_of_batches(la) - busy_a, interval_of_batches(lb) - busy_b}}});
    }
    if (per_second) // of one device, whatever part runs
        sums.add(kNetwork, Factor::static_power, mean_static_w(leaves_a) - mean_static_w(leaves_b));
}

} // namespace archsim
