#include "answers/architectures/architectures.hpp"
#include "core/lists.hpp"
#include "hardware/energy_table.hpp"

#include <algorithm>
#include <limits>

namespace archsim {

constexpr double kNever = std::numeric_limits<double>::infinity();

static double link_rate(const Machine& machine) {
    const double link = machine.rate(Resource::host_link_bytes);
    return link > 0 ? link : machine.rate(Resource::dram_bytes);
}

static double link_energy(const Machine& machine) {
    if (!machine.energy)
        return 0;
    const EnergyTable& table = *machine.energy;
    return table[Event::host_link_byte].known() ? table[Event::host_link_byte].value
                                                : table[Event::dram_byte].value_or(0);
}

/// Starting a copy costs a device what starting a kernel does.
static double start_time(const Machine& machine) {
    const double clock = machine.rate(Resource::overhead_cycles);
    return machine.param(Parameter::kernel_overhead, 0) +
           (clock > 0 ? machine.param(Parameter::layer_cycles, 0) / clock : 0);
}

/// Bytes of activations that a cut before each region separates from their last reader.
static std::vector<double> live_bytes(const Result& a, const Result& b,
                                      const std::vector<CommonRegion>& regions) {
    std::vector<std::size_t> region_of(a.partition->subgraphs.size(), 0);
    for (std::size_t r = 0; r < regions.size(); ++r)
        for (std::uint32_t s : regions[r].subgraphs[0])
            region_of[s] = r;
    const double width =
        std::max(bytes_of(a.estimate.executed.activations), bytes_of(b.estimate.executed.activations));
    std::vector<double> bytes(regions.size(), 0.0);
    for (const Buffer& buffer : a.partition->buffers) {
        if (buffer.kv_cache || buffer.tensor == kNoTensor)
            continue;
        const ShapedTensor& tensor = a.model->graph->tensors[buffer.tensor];
        const double size =
            tensor.elements() * (is_floating(tensor.type) ? width : bits_of(tensor.type) / 8.0);
        const std::size_t from = region_of[buffer.first];
        const std::size_t to = region_of[std::min<std::size_t>(buffer.last, region_of.size() - 1)];
        for (std::size_t r = from + 1; r <= to; ++r)
            bytes[r] += size;
    }
    return bytes;
}

/// Costs of the path in the metric's unit.
class Costs {
  public:
    Costs(const Result& a, const Result& b, const Metric& metric)
        : results_{&a, &b}, energy_(metric == metric::energy) {}

    double region(const CommonRegion& region, std::size_t side) const {
        const RegionCost cost = cost_of(region, side, *results_[side]);
        return energy_ ? cost.energy_j + idle(1 - side) * cost.latency_s : cost.latency_s;
    }
    HybridTransfer transfer(std::size_t before, double bytes) const {
        const Machine &x = *results_[0]->machine, &y = *results_[1]->machine;
        HybridTransfer t{before, bytes, 0, 0};
        t.seconds = bytes / std::min(link_rate(x), link_rate(y)) + start_time(x) + start_time(y);
        t.joules = bytes * (link_energy(x) + link_energy(y)) + t.seconds * (idle(0) + idle(1));
        return t;
    }
    double of(const HybridTransfer& t) const { return energy_ ? t.joules : t.seconds; }
    /// The cost of a device outside of its regions.
    double fixed(std::size_t side) const {
        const Estimate& e = results_[side]->estimate;
        if (!energy_)
            return e.network_s;
        const double regions =
            sum_of(e.subgraphs, [](const SubgraphEstimate& s) { return s.energy.total(); });
        return std::max(0.0, e.energy.total() - regions) + idle(1 - side) * std::max(0.0, e.network_s);
    }
    double alone(std::size_t side) const {
        const Estimate& e = results_[side]->estimate;
        return energy_ ? e.energy.total() : e.latency_s;
    }

  private:
    double idle(std::size_t side) const { return results_[side]->machine->static_power_w; }
    std::array<const Result*, 2> results_;
    const bool energy_;
};

static bool can_split(const Result& a, const Result& b, const Metric& metric) {
    return a.ok() && b.ok() && a.parts.empty() && b.parts.empty() &&
           (metric == metric::latency || metric == metric::energy) && link_rate(*a.machine) > 0 &&
           link_rate(*b.machine) > 0;
}

std::optional<double> split_value(const Result& a, const Result& b, const Metric& metric,
                                  std::span<const std::uint8_t> on_b) {
    if (!can_split(a, b, metric))
        return std::nullopt;
    const std::array<const Result*, 2> both = {&a, &b};
    const auto regions = common_regions(both);
    const Costs costs(a, b, metric);
    const std::vector<double> bytes = live_bytes(a, b, regions);
    double value = costs.fixed(0) + costs.fixed(1);
    for (std::size_t r = 0; r < regions.size(); ++r) {
        value += costs.region(regions[r], on_b[r]);
        if (r > 0 && on_b[r] != on_b[r - 1])
            value += costs.of(costs.transfer(r, bytes[r]));
    }
    return value;
}

std::optional<HybridSplit> best_split(const Result& a, const Result& b, const Metric& metric) {
    if (!can_split(a, b, metric))
        return std::nullopt;
    HybridSplit split;
    const std::array<const Result*, 2> both = {&a, &b};
    split.regions = common_regions(both);
    const std::size_t n = split.regions.size();
    if (n < 2)
        return std::nullopt;
    const Costs costs(a, b, metric);
    const std::vector<double> bytes = live_bytes(a, b, split.regions);
    // State: device of the region, and whether both have been used; the best path must use both.
    using State = std::array<std::array<double, 2>, 2>; // [used both][device]
    std::vector<State> best(n);
    std::vector<std::array<std::array<std::uint8_t, 2>, 2>> from(n); // previous device
    for (std::size_t d = 0; d < 2; ++d) {
        best[0][0][d] = costs.region(split.regions[0], d);
        best[0][1][d] = kNever;
    }
    for (std::size_t r = 1; r < n; ++r) {
        const double move = costs.of(costs.transfer(r, bytes[r]));
        for (std::size_t d = 0; d < 2; ++d) {
            const double own = costs.region(split.regions[r], d);
            best[r][0][d] = best[r - 1][0][d] + own;
            const double stay = best[r - 1][1][d];
            const double change = std::min(best[r - 1][0][1 - d], best[r - 1][1][1 - d]) + move;
            best[r][1][d] = std::min(stay, change) + own;
            from[r][1][d] = static_cast<std::uint8_t>(stay <= change ? d : 1 - d);
        }
    }
    std::size_t device = best[n - 1][1][0] <= best[n - 1][1][1] ? 0 : 1;
    split.value = best[n - 1][1][device] + costs.fixed(0) + costs.fixed(1);
    split.a_value = costs.alone(0);
    split.b_value = costs.alone(1);
    split.on_b.resize(n);
    bool both_used = true;
    for (std::size_t r = n; r-- > 0;) {
        split.on_b[r] = static_cast<std::uint8_t>(device);
        if (r == 0 || !both_used)
            continue;
        const std::size_t previous = from[r][1][device];
        if (previous != device) {
            split.transfers.push_back(costs.transfer(r, bytes[r]));
            both_used = best[r - 1][1][previous] < best[r - 1][0][previous];
        }
        device = previous;
    }
    std::ranges::reverse(split.transfers);
    return split;
}

} // namespace archsim
