#include "archsim/compare/attribution.hpp"

#include "compare/factor_terms.hpp"

#include <algorithm>
#include <array>
#include <cmath>

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
        {"device_price", "price of device time", "USD/s"},
        {"electricity", "electricity", "USD"},
    }};
    return kInfos[static_cast<std::size_t>(factor)];
}

namespace {

/// Parts below this share of the values are rounding.
constexpr double kRounding = 1e-13;

void attribute_memory(const Result& a, const Result& b, PartSums& sums) {
    const MemoryEstimate &x = a.estimate.memory, &y = b.estimate.memory;
    sums.add(kNetwork, Factor::weights, x.weight_bytes - y.weight_bytes);
    sums.add(kNetwork, Factor::activations, x.activation_bytes - y.activation_bytes);
    sums.add(kNetwork, Factor::kv_cache, x.kv_cache_bytes - y.kv_cache_bytes);
}

/// Cost per inference = price of a second of device time x seconds per inference + electricity.
struct CostParts {
    double price = 0, seconds = 0, electricity = 0;
};
CostParts cost_parts(const Result& result, const CostOptions& options) {
    const Cost cost = cost_of(result, options);
    const bool owned = cost.way() == Tenure::buy;
    const double electricity = owned ? *cost.electricity : 0;
    return {(*cost.best() - electricity) * cost.inferences_per_s, 1 / cost.inferences_per_s, electricity};
}

void attribute_cost(const Result& a, const Result& b, const CostOptions& options, PartSums& sums) {
    const CostParts x = cost_parts(a, options), y = cost_parts(b, options);
    add_product(kNetwork, 1,
                {{Factor::device_price, {x.price, y.price}}, {Factor::time, {x.seconds, y.seconds}}}, sums);
    sums.add(kNetwork, Factor::electricity, x.electricity - y.electricity);
}

using Split = void (*)(const Result& a, const Result& b, const Attribution& out, const CostOptions& cost,
                       PartSums& sums);

/// How the difference in a metric is taken apart, and whether regions of the network carry it.
struct Splitter {
    const Metric* metric;
    bool by_region;
    Split split;
};

constexpr std::array kSplitters = {
    Splitter{&metric::latency, true,
             [](const Result& a, const Result& b, const Attribution& out, const CostOptions&,
                PartSums& sums) { attribute_time(a, b, out.regions, false, sums); }},
    // 1 / x - 1 / y = -(x - y) / (x y): the parts of the time per item, scaled.
    Splitter{
        &metric::throughput, true,
        [](const Result& a, const Result& b, const Attribution& out, const CostOptions&, PartSums& sums) {
            attribute_time(a, b, out.regions, true, sums);
            sums.scale(-out.a_value * out.b_value / a.estimate.batch);
        }},
    Splitter{
        &metric::energy, true,
        [](const Result& a, const Result& b, const Attribution& out, const CostOptions&, PartSums& sums) {
            attribute_energy(a, b, out.regions, false, sums);
            sums.scale(1 / a.estimate.batch);
        }},
    Splitter{&metric::power, false,
             [](const Result& a, const Result& b, const Attribution& out, const CostOptions&,
                PartSums& sums) { attribute_energy(a, b, out.regions, true, sums); }},
    Splitter{&metric::memory, false,
             [](const Result& a, const Result& b, const Attribution&, const CostOptions&, PartSums& sums) {
                 attribute_memory(a, b, sums);
             }},
    Splitter{&metric::cost, false,
             [](const Result& a, const Result& b, const Attribution&, const CostOptions& cost,
                PartSums& sums) { attribute_cost(a, b, cost, sums); }},
};

const Splitter* splitter_of(const Metric& metric) {
    const auto found = std::find_if(kSplitters.begin(), kSplitters.end(),
                                    [&](const Splitter& s) { return *s.metric == metric; });
    return found == kSplitters.end() ? nullptr : &*found;
}

Bound region_bound(const CommonRegion& region, std::size_t index, const Result& result) {
    return cost_of(region, index, result).bound;
}

void add_region_contributions(const Result& a, const Result& b, const PartSums& sums, Attribution& out) {
    for (std::size_t r = 0; r <= out.regions.size(); ++r) {
        const bool network = r == out.regions.size();
        const auto& parts = sums.region(network ? kNetwork : r);
        RegionContribution c;
        for (std::size_t f = 0; f < kFactorCount; ++f) {
            c.value += parts[f];
            if (std::abs(parts[f]) > std::abs(c.main_value)) {
                c.main_value = parts[f];
                c.main = static_cast<Factor>(f);
            }
        }
        if (std::abs(c.main_value) <= kRounding * std::max(std::abs(out.a_value), std::abs(out.b_value)))
            continue;
        if (!network) {
            c.region = r;
            c.a_bound = region_bound(out.regions[r], 0, a);
            c.b_bound = region_bound(out.regions[r], 1, b);
        }
        out.region_contributions.push_back(c);
    }
    std::stable_sort(out.region_contributions.begin(), out.region_contributions.end(),
                     [](const RegionContribution& x, const RegionContribution& y) {
                         return std::abs(x.value) > std::abs(y.value);
                     });
}

} // namespace

bool can_attribute(const Metric& metric) {
    return splitter_of(metric) != nullptr;
}

std::optional<Attribution> attribute(const Result& a, const Result& b, const Metric& metric,
                                     const CostOptions& cost) {
    const auto x = value_of(a, metric, cost), y = value_of(b, metric, cost);
    const Splitter* splitter = splitter_of(metric);
    if (!x || !y || splitter == nullptr)
        return std::nullopt;
    Attribution out;
    out.metric = &metric;
    out.a_value = *x;
    out.b_value = *y;
    out.difference = *x - *y;
    const std::array<const Result*, 2> both = {&a, &b};
    out.regions = common_regions(both);
    PartSums sums(out.regions.size());
    splitter->split(a, b, out, cost, sums);
    const double scale = std::max(std::abs(*x), std::abs(*y));
    double explained = 0;
    for (std::size_t f = 0; f < kFactorCount; ++f) {
        const auto factor = static_cast<Factor>(f);
        if (std::abs(sums.total(factor)) <= kRounding * scale)
            continue;
        Contribution c;
        c.factor = factor;
        c.value = sums.total(factor);
        explained += c.value;
        c.a = input_of(a, factor, cost);
        c.b = input_of(b, factor, cost);
        out.contributions.push_back(std::move(c));
    }
    std::stable_sort(
        out.contributions.begin(), out.contributions.end(),
        [](const Contribution& p, const Contribution& q) { return std::abs(p.value) > std::abs(q.value); });
    // Rounding goes to the largest part, so that the sum is the difference.
    out.residual = out.difference - explained;
    if (!out.contributions.empty())
        out.contributions.front().value += out.residual;
    for (Contribution& c : out.contributions)
        c.share = out.difference != 0 ? c.value / out.difference : 0;
    if (splitter->by_region)
        add_region_contributions(a, b, sums, out);
    return out;
}

} // namespace archsim
