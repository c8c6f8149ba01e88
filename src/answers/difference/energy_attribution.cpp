// Energy of a region: sum over kinds of arithmetic of operations x joules, control, bytes x joules per byte
// by level, transfers and host, static power x time. Power is that over the interval between batches.

#include "answers/difference/factor_terms.hpp"
#include "estimate/price.hpp"

#include <limits>

namespace archsim {

namespace {

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

void add(const KernelRecord& kernel, RegionEnergy& sum) {
    sum += {kernel.events, kernel.energy, kernel.latency_s};
}

/// Per inference of the model: executions of the graph over items of the batch.
RegionEnergy scaled(RegionEnergy energy, double scale) {
    energy.events.scale(scale);
    energy.energy.scale(scale);
    energy.seconds *= scale;
    return energy;
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

    void add(std::size_t id, const RegionEnergy& a, const RegionEnergy& b) const {
        const auto priced = [&](Factor count, Factor price, std::initializer_list<Event> events) {
            const Pair counts{count_of(a.events, events), count_of(b.events, events)};
            const double ja = joules_of(a.energy, events), jb = joules_of(b.energy, events);
            constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
            Pair prices{counts.a > 0 ? ja / counts.a : kNone, counts.b > 0 ? jb / counts.b : kNone};
            prices.complete(0);
            product(id, {{count, counts}, {price, prices}});
        };
        const auto whole = [&](Factor factor, std::initializer_list<Event> events) {
            product(id, {{factor, {joules_of(a.energy, events), joules_of(b.energy, events)}}});
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

    void product(std::size_t id, std::vector<std::pair<Factor, Pair>> factors) const {
        factors.emplace_back(Factor::time, per_second_);
        add_product(id, 1, factors, sums_);
    }

  private:
    const Pair per_second_; ///< 1, or 1 / interval for power
    PartSums& sums_;
};

/// Seconds between finished inferences.
double interval_of(const EstimateRecord& r) {
    double seconds = 0;
    for (const GraphRecord& graph : r.graphs)
        seconds += graph.repeat * graph.interval_s / graph.batch;
    return seconds;
}

/// The mean of one device at the clock that each part runs at, weighted by time.
double mean_static_w(const EstimateRecord& r) {
    double joules = 0, seconds = 0;
    for (const GraphRecord& graph : r.graphs) {
        const double time = graph.repeat * graph.interval_s / graph.batch;
        joules += time * graph.static_power_w;
        seconds += time;
    }
    return seconds > 0 ? joules / seconds : 0;
}

} // namespace

void attribute_energy(const Sides& sides, bool per_second, PartSums& sums) {
    const Pair rate = per_second ? Pair{1 / interval_of(sides.a), 1 / interval_of(sides.b)} : Pair{1, 1};
    const EnergySplit split(rate, sums);
    for (std::size_t part = 0; part < sides.graphs.size(); ++part) {
        const GraphRecord &a = *sides.graphs[part].a, &b = *sides.graphs[part].b;
        const std::array<const GraphRecord*, 2> graph = {&a, &b};
        const std::array<double, 2> scale = {a.repeat / a.batch, b.repeat / b.batch};
        const Pair power{a.static_power_w, b.static_power_w};
        std::array<double, 2> busy{};
        for (std::size_t r = 0; r < sides.regions.size(); ++r) {
            if (sides.regions[r].part != part)
                continue;
            std::array<RegionEnergy, 2> e;
            for (std::size_t s = 0; s < 2; ++s) {
                for (std::uint32_t kernel : sides.regions[r].subgraphs[s])
                    add(graph[s]->kernels[kernel], e[s]);
                e[s] = scaled(e[s], scale[s]);
                busy[s] += e[s].seconds;
            }
            split.add(r, e[0], e[1]);
            // Static power is a rate already: over the interval it is itself.
            if (!per_second)
                split.product(r,
                              {{Factor::static_power, power}, {Factor::time, {e[0].seconds, e[1].seconds}}});
        }
        RegionEnergy na, nb;
        add(a.network, na);
        add(b.network, nb);
        split.add(kNetwork, scaled(na, scale[0]), scaled(nb, scale[1]));
        if (!per_second)
            split.product(
                kNetwork,
                {{Factor::static_power, power},
                 {Factor::time, {a.interval_s * scale[0] - busy[0], b.interval_s * scale[1] - busy[1]}}});
    }
    if (per_second) // of one device, whatever part runs
        sums.add(kNetwork, Factor::static_power, mean_static_w(sides.a) - mean_static_w(sides.b));
}

} // namespace archsim
