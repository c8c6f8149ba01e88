#include "answers/difference/attribution.hpp"

#include "answers/difference/factor_terms.hpp"
#include "core/lists.hpp"
#include "estimate/price.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace archsim {

const FactorInfo& info_of(Factor factor) {
    static constexpr std::array<FactorInfo, kFactorCount> kInfos = {{
        {"peak", "peak compute at the precision that runs", "op/s"},
        {"achieved", "share of the peak that is reached", "1"},
        {"on_chip", "on-chip data paths", "s"},
        {"bandwidth", "memory bandwidth", "B/s"},
        {"bandwidth_share", "share of the memory bandwidth that is reached", "1"},
        {"memory_bytes", "bytes to and from memory", "B"},
        {"overlap", "overlap of compute and data movement", "1"},
        {"fixed_cost", "fixed cost per kernel, layer and inference", "s"},
        {"host", "operators and transfers on the host", "s"},
        {"power_limit", "power limit", "1"},
        {"concurrency", "streams and pipelining", "1"},
        {"work", "work of the network", "op"},
        {"kernels", "kernels and layers started", "count"},
        {"placement", "room on the chip that other blocks leave", "B"},
        {"operations", "operations executed", "op"},
        {"operation_energy", "energy per operation", "J/op"},
        {"control", "instructions and control", "J"},
        {"near_bytes", "bytes in registers and nearest memory", "B"},
        {"near_energy", "energy per byte in registers and nearest memory", "J/B"},
        {"far_bytes", "bytes in shared on-chip memory", "B"},
        {"far_energy", "energy per byte in shared on-chip memory", "J/B"},
        {"fabric_bytes", "bytes between processing elements", "B"},
        {"fabric_energy", "energy per byte between processing elements", "J/B"},
        {"memory_energy", "energy per byte of external memory", "J/B"},
        {"static_power", "static power", "W"},
        {"time", "time", "s"},
        {"weights", "weights as stored", "B"},
        {"activations", "activations alive at once", "B"},
        {"kv_cache", "keys and values", "B"},
        {"workspace", "largest workspace of a kernel", "B"},
        {"device_price", "price of device time", "USD/s"},
        {"electricity", "electricity", "USD"},
        {"surroundings", "computer, board and supply around the chip", "W"},
    }};
    return kInfos[static_cast<std::size_t>(factor)];
}

/// A price, and what it is paid for.
constexpr std::pair<Factor, Factor> kPrices[] = {
    {Factor::bandwidth, Factor::memory_bytes},      {Factor::bandwidth_share, Factor::memory_bytes},
    {Factor::memory_energy, Factor::memory_bytes},  {Factor::kernels, Factor::fixed_cost},
    {Factor::operation_energy, Factor::operations}, {Factor::near_energy, Factor::near_bytes},
    {Factor::far_energy, Factor::far_bytes},        {Factor::fabric_energy, Factor::fabric_bytes},
    {Factor::static_power, Factor::time},           {Factor::device_price, Factor::time}};

static std::size_t quantity_of(std::size_t factor) {
    for (const auto& [price, quantity] : kPrices)
        if (price == static_cast<Factor>(factor))
            return static_cast<std::size_t>(quantity);
    return factor;
}

std::optional<Factor> main_factor(const std::array<double, kFactorCount>& parts) {
    std::array<double, kFactorCount> net{};
    for (std::size_t f = 0; f < kFactorCount; ++f)
        net[quantity_of(f)] += parts[f];
    const double sum = std::accumulate(net.begin(), net.end(), 0.0);
    const auto weight = [&](std::size_t f) { return std::pair(net[quantity_of(f)] * sum, parts[f] * sum); };
    std::optional<std::size_t> main;
    for (std::size_t f = 0; f < kFactorCount; ++f)
        if (parts[f] * sum > 0 && (!main || weight(f) > weight(*main)))
            main = f;
    return main ? std::optional(static_cast<Factor>(*main)) : std::nullopt;
}

/// Parts below this share of the values are rounding.
constexpr double kRoundedShare = 1e-13;

static void attribute_memory(const EstimateRecord& a, const EstimateRecord& b, PartSums& sums) {
    sums.add(kNetwork, Factor::weights, a.weight_bytes - b.weight_bytes);
    sums.add(kNetwork, Factor::activations, a.activation_bytes - b.activation_bytes);
    sums.add(kNetwork, Factor::kv_cache, a.kv_cache_bytes - b.kv_cache_bytes);
    sums.add(kNetwork, Factor::workspace, a.workspace_bytes - b.workspace_bytes);
}

// Energy of a region: sum over kinds of arithmetic of operations x joules, control, bytes x joules per byte
// by level, transfers and host, static power x time. Power is that over the interval between batches.

struct RegionEnergy {
    EventCounts events;
    EnergyBreakdown energy;
    double seconds = 0; ///< busy, for static power
};

static RegionEnergy& operator+=(RegionEnergy& sum, const RegionEnergy& other) {
    sum.events += other.events;
    for (std::size_t e = 0; e < kEventCount; ++e)
        sum.energy.joules[e] += other.energy.joules[e];
    sum.seconds += other.seconds;
    return sum;
}

static RegionEnergy energy_of(const KernelRecord& kernel) {
    return {kernel.events, kernel.energy, kernel.latency_s};
}

/// Per inference of the model: executions of the graph over items of the batch.
static RegionEnergy scaled(RegionEnergy energy, double scale) {
    energy.events.scale(scale);
    energy.energy.scale(scale);
    energy.seconds *= scale;
    return energy;
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
static double interval_of(const EstimateRecord& r) {
    const double seconds = sum_of(
        r.graphs, [](const GraphRecord& graph) { return graph.repeat * graph.interval_s / graph.batch; });
    return seconds;
}

/// The mean of one device at the clock that each part runs at, weighted by time.
static double mean_static_w(const EstimateRecord& r) {
    double joules = 0, seconds = 0;
    for (const GraphRecord& graph : r.graphs) {
        const double time = graph.repeat * graph.interval_s / graph.batch;
        joules += time * graph.static_power_w;
        seconds += time;
    }
    return seconds > 0 ? joules / seconds : 0;
}

/// Energy of one inference; with `per_second` over the interval between inferences: power.
static void attribute_energy(const Sides& sides, bool per_second, PartSums& sums) {
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
                    e[s] += energy_of(graph[s]->kernels[kernel]);
                e[s] = scaled(e[s], scale[s]);
                busy[s] += e[s].seconds;
            }
            split.add(r, e[0], e[1]);
            // Static power is a rate already: over the interval it is itself.
            if (!per_second)
                split.product(r,
                              {{Factor::static_power, power}, {Factor::time, {e[0].seconds, e[1].seconds}}});
        }
        split.add(kNetwork, scaled(energy_of(a.network), scale[0]), scaled(energy_of(b.network), scale[1]));
        if (!per_second)
            split.product(
                kNetwork,
                {{Factor::static_power, power},
                 {Factor::time, {a.interval_s * scale[0] - busy[0], b.interval_s * scale[1] - busy[1]}}});
    }
    const auto around = [&](const EstimateRecord& r) {
        return r.values.find(per_second ? metric::power.key : metric::energy.key)->second.value -
               (per_second ? r.chip_w : r.chip_j);
    };
    sums.add(kNetwork, Factor::surroundings, around(sides.a) - around(sides.b));
    if (per_second) // of one device, whatever part runs
        sums.add(kNetwork, Factor::static_power, mean_static_w(sides.a) - mean_static_w(sides.b));
}

/// Cost per inference = price of a second of device time x seconds per inference + electricity.
static void attribute_cost(const EstimateRecord& a, const EstimateRecord& b, PartSums& sums) {
    add_product(kNetwork, 1,
                {{Factor::device_price, {a.price_per_s, b.price_per_s}},
                 {Factor::time, {a.seconds_per_inference, b.seconds_per_inference}}},
                sums);
    sums.add(kNetwork, Factor::electricity, a.electricity - b.electricity);
}

using Split = void (*)(const Sides& sides, const Attribution& out, PartSums& sums);

/// How the difference in a metric is taken apart, and whether regions of the network carry it.
struct Splitter {
    const Metric* metric;
    bool by_region;
    Split split;
};

constexpr std::array kSplitters = {
    Splitter{&metric::latency, true,
             [](const Sides& sides, const Attribution&, PartSums& sums) {
                 attribute_time(sides, TimeOf::batch, sums);
             }},
    // 1 / x - 1 / y = -(x - y) / (x y): the parts of the time per item, scaled.
    Splitter{&metric::throughput, true,
             [](const Sides& sides, const Attribution& out, PartSums& sums) {
                 attribute_time(sides, TimeOf::item, sums);
                 sums.scale(-out.a_value * out.b_value);
             }},
    Splitter{
        &metric::energy, true,
        [](const Sides& sides, const Attribution&, PartSums& sums) { attribute_energy(sides, false, sums); }},
    Splitter{
        &metric::power, false,
        [](const Sides& sides, const Attribution&, PartSums& sums) { attribute_energy(sides, true, sums); }},
    Splitter{&metric::memory, false,
             [](const Sides& sides, const Attribution&, PartSums& sums) {
                 attribute_memory(sides.a, sides.b, sums);
             }},
    Splitter{&metric::cost, false,
             [](const Sides& sides, const Attribution&, PartSums& sums) {
                 attribute_cost(sides.a, sides.b, sums);
             }},
};

/// The bound of the slowest kernel.
static Bound region_bound(const CommonRegion& region, std::size_t index, const GraphRecord& graph) {
    Bound bound = Bound::compute;
    double slowest = -1;
    for (std::uint32_t k : region.subgraphs[index])
        if (graph.kernels[k].latency_s > slowest) {
            slowest = graph.kernels[k].latency_s;
            bound = graph.kernels[k].bound;
        }
    return bound;
}

static void add_region_contributions(const Sides& sides, const PartSums& sums, Attribution& out) {
    for (std::size_t r = 0; r <= out.regions.size(); ++r) {
        const bool network = r == out.regions.size();
        const auto& parts = sums.region(network ? kNetwork : r);
        RegionContribution c;
        for (std::size_t f = 0; f < kFactorCount; ++f)
            c.value += parts[f];
        if (const auto main = main_factor(parts)) {
            c.main = *main;
            c.main_value = parts[static_cast<std::size_t>(*main)];
        }
        if (std::abs(c.main_value) <= kRoundedShare * std::max(std::abs(out.a_value), std::abs(out.b_value)))
            continue;
        if (!network) {
            c.region = r;
            const GraphPair& graphs = sides.graphs[out.regions[r].part];
            c.a_bound = region_bound(out.regions[r], 0, *graphs.a);
            c.b_bound = region_bound(out.regions[r], 1, *graphs.b);
        }
        out.region_contributions.push_back(c);
    }
    std::ranges::stable_sort(out.region_contributions,
                             [](const RegionContribution& x, const RegionContribution& y) {
                                 return std::abs(x.value) > std::abs(y.value);
                             });
}

std::optional<Attribution> attribute(const Sides& sides, const Metric& metric, PartSums& sums) {
    const auto splitter =
        std::ranges::find_if(kSplitters, [&](const Splitter& s) { return *s.metric == metric; });
    const auto x = sides.a.values.find(metric.key), y = sides.b.values.find(metric.key);
    if (splitter == kSplitters.end() || x == sides.a.values.end() || y == sides.b.values.end())
        return std::nullopt;
    Attribution out;
    out.metric = &metric;
    out.a_value = x->second.value;
    out.b_value = y->second.value;
    out.difference = out.a_value - out.b_value;
    out.regions = sides.regions;
    splitter->split(sides, out, sums);
    attribute_displacement(sides, sums);
    const double scale = std::max(std::abs(out.a_value), std::abs(out.b_value));
    double explained = 0;
    for (std::size_t f = 0; f < kFactorCount; ++f) {
        const auto factor = static_cast<Factor>(f);
        if (std::abs(sums.total(factor)) <= kRoundedShare * scale)
            continue;
        Contribution c;
        c.factor = factor;
        c.value = sums.total(factor);
        explained += c.value;
        out.contributions.push_back(std::move(c));
    }
    std::ranges::stable_sort(out.contributions, [](const Contribution& p, const Contribution& q) {
        return std::abs(p.value) > std::abs(q.value);
    });
    // Rounding goes to the largest part, so that the sum is the difference.
    out.residual = out.difference - explained;
    if (!out.contributions.empty())
        out.contributions.front().value += out.residual;
    if (splitter->by_region)
        add_region_contributions(sides, sums, out);
    return out;
}

std::optional<Attribution> attribute(const Result& a, const Result& b, const Metric& metric,
                                     const CostOptions& cost) {
    if (!value_of(a, metric, cost) || !value_of(b, metric, cost) || !metric.has_causes)
        return std::nullopt;
    const EstimateRecord x = record_of(a, cost, RecordDetail::numbers);
    const EstimateRecord y = record_of(b, cost, RecordDetail::numbers);
    const std::array<const Result*, 2> both = {&a, &b};
    const auto regions = common_regions(both);
    Sides sides{x, y, {}, regions};
    for (std::size_t part = 0; part < x.graphs.size(); ++part)
        sides.graphs.push_back({&x.graphs[part], &y.graphs[part]});
    PartSums sums(regions.size());
    auto out = attribute(sides, metric, sums);
    FactorInputs inputs_a(a, cost), inputs_b(b, cost);
    for (Contribution& c : out->contributions) {
        c.a = inputs_a.of(c.factor);
        c.b = inputs_b.of(c.factor);
    }
    return out;
}

} // namespace archsim
