#include "result/common_regions.hpp"

#include <map>

namespace archsim {

std::vector<ResultLeaf> leaves_of(const Result& result) {
    if (result.parts.empty())
        return {{&result, 1}};
    return mapped(result.parts, [&](const ResultPart& part) {
        return ResultLeaf{part.result.get(), part.repeat};
    });
}

static bool has_work(const Operator& op) {
    return !op.folded && op.work.kind != OpKind::free;
}

/// Subgraphs may also list operators without run-time work, which stacks attach as they like: only work
/// joins.
static void append_regions(std::span<const Result* const> results, double repeat, std::size_t part,
                           std::vector<CommonRegion>& out) {
    const ShapedGraph& graph = *results.front()->model->graph;
    DisjointSets sets(graph.operators.size());
    const auto first_with_work = [&](const Subgraph& subgraph) {
        for (const SubgraphMember& member : subgraph.members)
            if (has_work(graph.operators[member.op]))
                return member.op;
        return subgraph.anchor;
    };
    for (const Result* result : results)
        for (const Subgraph& subgraph : result->partition->subgraphs)
            for (const SubgraphMember& member : subgraph.members)
                if (has_work(graph.operators[member.op]))
                    sets.join(first_with_work(subgraph), member.op);
    std::map<std::size_t, std::size_t> index;
    std::vector<double> largest;
    for (std::size_t r = 0; r < results.size(); ++r)
        for (std::uint32_t s = 0; s < results[r]->partition->subgraphs.size(); ++s) {
            const Subgraph& subgraph = results[r]->partition->subgraphs[s];
            const auto [at, fresh] = index.try_emplace(sets.root(first_with_work(subgraph)), out.size());
            if (fresh) {
                out.push_back({});
                out.back().repeat = repeat;
                out.back().part = part;
                out.back().subgraphs.resize(results.size());
                largest.push_back(-1);
            }
            CommonRegion& region = out[at->second];
            region.subgraphs[r].push_back(s);
            if (r > 0)
                continue;
            double& most = largest[largest.size() - (out.size() - at->second)];
            for (const SubgraphMember& member : subgraph.members) {
                const Operator& op = graph.operators[member.op];
                if (!has_work(op))
                    continue;
                const double operations = op.work.operations() * op.repeat;
                region.operations += operations * repeat;
                if (operations > most) {
                    most = operations;
                    region.name = op.name;
                    region.kind = op.work.kind;
                }
            }
        }
}

std::vector<CommonRegion> common_regions(std::span<const Result* const> results) {
    std::vector<CommonRegion> regions;
    if (results.empty())
        return regions;
    auto leaves = mapped(results, [&](const Result* result) { return leaves_of(*result); });
    for (std::size_t part = 0; part < leaves.front().size(); ++part) {
        std::vector<const Result*> own = mapped(leaves, [&](const auto& list) { return list[part].result; });
        append_regions(own, leaves.front()[part].repeat, part, regions);
    }
    return regions;
}

RegionCost cost_of(const CommonRegion& region, std::size_t index, const Result& result) {
    RegionCost cost;
    const ResultLeaf leaf = leaves_of(result)[region.part];
    double slowest = -1;
    for (std::uint32_t s : region.subgraphs[index]) {
        const SubgraphEstimate& e = leaf.result->estimate.subgraphs[s];
        cost.latency_s += e.latency_s * leaf.repeat;
        cost.energy_j += e.energy.total() * leaf.repeat;
        cost.dram_bytes += e.dram_bytes * leaf.repeat;
        if (e.latency_s > slowest) {
            slowest = e.latency_s;
            cost.bound = e.bound;
            cost.binding = e.binding;
        }
    }
    return cost;
}

const Metric& regional(const Metric& metric) {
    return metric == metric::latency || metric == metric::throughput ? metric::latency : metric::energy;
}

double value_of(const RegionCost& cost, const Metric& metric) {
    return regional(metric) == metric::latency ? cost.latency_s : cost.energy_j;
}

} // namespace archsim
