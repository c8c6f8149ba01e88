#include "answers/difference/factor_terms.hpp"

#include "answers/difference/difference.hpp"
#include "core/lists.hpp"

#include <algorithm>
#include <numeric>

namespace archsim {

double count_of(const EventCounts& events, std::initializer_list<Event> list) {
    double sum = 0;
    for (Event e : list)
        sum +=
            e == Event::mac ? std::accumulate(events.macs.begin(), events.macs.end(), events[e]) : events[e];
    return sum;
}

double joules_of(const EnergyBreakdown& energy, std::initializer_list<Event> list) {
    double sum = 0;
    for (Event e : list)
        sum += energy[e];
    return sum;
}

void add_function(std::size_t region, const std::vector<Factor>& factors,
                  const std::function<double(std::uint32_t mask)>& f, PartSums& sums) {
    const std::vector<double> parts = shapley(factors.size(), f);
    for (std::size_t i = 0; i < factors.size(); ++i)
        sums.add(region, factors[i], parts[i]);
}

void add_product(std::size_t region, double scale, const std::vector<std::pair<Factor, Pair>>& factors,
                 PartSums& sums) {
    std::vector<Factor> different;
    std::vector<Pair> pairs;
    for (const auto& [factor, pair] : factors)
        if (pair.equal()) {
            scale *= pair.a;
        } else {
            different.push_back(factor);
            pairs.push_back(pair);
        }
    if (different.empty() || scale == 0)
        return;
    add_function(
        region, different,
        [&](std::uint32_t mask) {
            double product = scale;
            for (std::size_t i = 0; i < pairs.size(); ++i)
                product *= pairs[i].of(mask >> i & 1U);
            return product;
        },
        sums);
}

// The same layer on the same device costs another time where the rest of the network takes the room that it
// had on the chip: weights that stayed are loaded for every inference, a pipeline of the whole network
// becomes contexts in turn, activations move to memory. Nothing of the layer itself changed, so that its
// work, bytes and fixed costs are no causes; the blocks that displace it are.

namespace {

/// Amounts that where a kernel's data lie decides.
constexpr std::array kPlaced = {Factor::achieved,     Factor::on_chip,    Factor::bandwidth_share,
                                Factor::memory_bytes, Factor::overlap,    Factor::fixed_cost,
                                Factor::host,         Factor::operations, Factor::control,
                                Factor::near_bytes,   Factor::far_bytes,  Factor::fabric_bytes};

/// The same device with nothing to do.
GraphRecord without_work(const GraphRecord& graph) {
    GraphRecord empty = graph;
    empty.operators.clear();
    empty.kernels.clear();
    empty.network = {};
    empty.latency_s = empty.interval_s = 0;
    return empty;
}

/// Kernels of both graphs as one list, those of B after those of A, in sets.
class KernelSets {
  public:
    explicit KernelSets(std::size_t size) : parent_(size) { std::iota(parent_.begin(), parent_.end(), 0U); }
    std::size_t root(std::size_t x) {
        while (parent_[x] != x)
            x = parent_[x] = parent_[parent_[x]];
        return x;
    }
    /// The smaller index stays, so that sets come in the order of A.
    void join(std::size_t x, std::size_t y) {
        x = root(x);
        y = root(y);
        parent_[std::max(x, y)] = std::min(x, y);
    }

  private:
    std::vector<std::size_t> parent_;
};

std::vector<std::size_t> kernels_of_operators(const GraphRecord& graph, std::size_t first) {
    std::vector<std::size_t> kernel(graph.operators.size(), std::size_t(-1));
    for (std::size_t k = 0; k < graph.kernels.size(); ++k)
        for (std::uint32_t op : graph.kernels[k].operators)
            kernel[op] = first + k;
    return kernel;
}

void add_regions(const GraphPair& graphs, std::size_t part, AlignedEstimates& out) {
    const GraphRecord &a = *graphs.a, &b = *graphs.b;
    KernelSets sets(a.kernels.size() + b.kernels.size());
    const auto in_a = kernels_of_operators(a, 0), in_b = kernels_of_operators(b, a.kernels.size());
    const auto pairs = align_operators(a.operators, b.operators);
    out.aligned += pairs.size();
    std::vector<std::size_t> equal_operators(a.kernels.size() + b.kernels.size()); // by kernel
    for (const auto& [i, j] : pairs) {
        if (in_a[i] == std::size_t(-1) || in_b[j] == std::size_t(-1))
            continue;
        sets.join(in_a[i], in_b[j]);
        if (a.operators[i].shape == b.operators[j].shape) {
            ++equal_operators[in_a[i]];
            ++equal_operators[in_b[j]];
        }
    }
    std::vector<std::size_t> region(a.kernels.size() + b.kernels.size(), std::size_t(-1));
    std::vector<double> largest;
    for (std::size_t k = 0; k < region.size(); ++k) {
        const bool first = k < a.kernels.size();
        const KernelRecord& kernel = first ? a.kernels[k] : b.kernels[k - a.kernels.size()];
        std::size_t& at = region[sets.root(k)];
        if (at == std::size_t(-1)) {
            at = out.regions.size();
            out.regions.emplace_back();
            out.regions.back().part = part;
            out.regions.back().subgraphs.resize(2);
            out.regions.back().name = kernel.name;
            out.unchanged.push_back(true);
        }
        if (equal_operators[k] != kernel.operators.size())
            out.unchanged[at] = false;
        CommonRegion& r = out.regions[at];
        r.subgraphs[first ? 0 : 1].push_back(static_cast<std::uint32_t>(first ? k : k - a.kernels.size()));
        if (kernel.time.operations > r.operations) {
            r.operations = kernel.time.operations;
            r.name = kernel.name;
        }
    }
}

} // namespace

void attribute_displacement(const Sides& sides, PartSums& sums) {
    for (std::size_t region = 0; region < sides.displaced.size(); ++region)
        if (sides.displaced[region])
            for (const Factor factor : kPlaced)
                sums.move(region, factor, Factor::placement);
}

std::vector<bool> displaced_regions(const EstimateRecord& a, const EstimateRecord& b,
                                    const AlignedEstimates& aligned) {
    const bool same_place = a.hardware == b.hardware && a.stack == b.stack && a.precision == b.precision &&
                            a.batch == b.batch && a.graphs.size() == b.graphs.size();
    // Where everything computes the same, it is the device that changed.
    if (!same_place || !contains(aligned.unchanged, false))
        return {};
    std::vector<bool> displaced = aligned.unchanged;
    for (std::size_t r = 0; r < displaced.size(); ++r) {
        const CommonRegion& region = aligned.regions[r];
        const GraphPair& graphs = aligned.graphs[region.part];
        displaced[r] = displaced[r] && graphs.a->peak == graphs.b->peak &&
                       graphs.a->bandwidth == graphs.b->bandwidth && graphs.a->repeat == graphs.b->repeat &&
                       region.subgraphs[0].size() == region.subgraphs[1].size();
    }
    return displaced;
}

AlignedEstimates align(const EstimateRecord& a, const EstimateRecord& b) {
    AlignedEstimates out;
    std::vector<bool> taken(b.graphs.size());
    std::vector<std::size_t> partner(a.graphs.size(), std::size_t(-1));
    const auto pair_where = [&](auto same) {
        for (std::size_t i = 0; i < a.graphs.size(); ++i)
            for (std::size_t j = 0; j < b.graphs.size() && partner[i] == std::size_t(-1); ++j)
                if (!taken[j] && same(i, j)) {
                    partner[i] = j;
                    taken[j] = true;
                }
    };
    pair_where([&](std::size_t i, std::size_t j) { return a.graphs[i].name == b.graphs[j].name; });
    if (a.graphs.size() == 1 && b.graphs.size() == 1)
        pair_where([](std::size_t, std::size_t) { return true; });
    const auto stand_in = [&](const EstimateRecord& record) {
        return &out.stand_ins.emplace_back(without_work(record.graphs.front()));
    };
    for (std::size_t i = 0; i < a.graphs.size(); ++i)
        out.graphs.push_back(
            {&a.graphs[i], partner[i] == std::size_t(-1) ? stand_in(b) : &b.graphs[partner[i]]});
    for (std::size_t j = 0; j < b.graphs.size(); ++j)
        if (!taken[j])
            out.graphs.push_back({stand_in(a), &b.graphs[j]});
    for (std::size_t part = 0; part < out.graphs.size(); ++part)
        add_regions(out.graphs[part], part, out);
    return out;
}

} // namespace archsim
