#pragma once
// Software stacks fuse one graph differently. A common region is the smallest set of operators that every one
// of several partitions covers with whole subgraphs: there their costs can be set side by side.

#include "archsim/compare/metric.hpp"
#include "core/lists.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace archsim {

/// Numbers that are joined have the same root, the smallest of them.
class DisjointSets {
  public:
    explicit DisjointSets(std::size_t size) : parent_(indices(size)) {}
    std::size_t root(std::size_t x) {
        while (parent_[x] != x)
            x = parent_[x] = parent_[parent_[x]];
        return x;
    }
    void join(std::size_t x, std::size_t y) {
        x = root(x);
        y = root(y);
        parent_[std::max(x, y)] = std::min(x, y);
    }

  private:
    std::vector<std::size_t> parent_;
};

/// Subgraphs of both partitions that share operators: the smallest pieces that can be compared.
struct CommonRegion {
    std::string name;           ///< of its largest operator
    OpKind kind = OpKind::free; ///< of that operator
    double operations = 0;      ///< useful operations of one inference (1 MAC = 2)
    double repeat = 1;          ///< executions of the part of a multi-part model that it lies in
    std::size_t part = 0;       ///< index of that part; 0 for a model of one graph
    /// Per result: its subgraphs, as indices into Estimate::subgraphs of that part.
    std::vector<std::vector<std::uint32_t>> subgraphs;
};

/// One graph of a result: the result itself, or one of its parts.
struct ResultLeaf {
    const Result* result = nullptr;
    double repeat = 1;
};
std::vector<ResultLeaf> leaves_of(const Result& result);

/// Regions in topological order of the first result. All results must be estimates of one model at the same
/// sizes that kept their subgraphs.
std::vector<CommonRegion> common_regions(std::span<const Result* const> results);

/// Latency and energy of a region in one of the results it was made from, over all repeats.
struct RegionCost {
    double latency_s = 0, energy_j = 0, dram_bytes = 0;
    Bound bound = Bound::compute; ///< of its slowest subgraph
    Resource binding = Resource::seconds;
};
RegionCost cost_of(const CommonRegion& region, std::size_t index, const Result& result);

/// The metric that stands for `metric` where regions are compared: latency where it is about time, else
/// energy. These add up over regions.
const Metric& regional(const Metric& metric);
/// The part of a region in a regional metric, of the whole batch.
double value_of(const RegionCost& cost, const Metric& metric);

} // namespace archsim
