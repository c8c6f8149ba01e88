#pragma once
// Networks whose counts are stated instead of mapped, on a machine of round rates.

#include "archsim/estimate/estimate.hpp"
#include "hardware/energy_table.hpp"
#include "map/gpu_machine.hpp"

#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace archsim::test {

/// Returns the counts that it was given, one mapping per subgraph of each batch.
class StatedCounts final : public Mapper {
  public:
    void of_batch(double batch, std::vector<Mapping> mappings) {
        batches_.emplace_back(batch, std::move(mappings));
    }
    NetworkMapping network;

    std::string_view name() const override { return "stated counts"; }
    void map(const SubgraphWork& work, const NetworkWork& whole, const Machine&,
             Mapping& out) const override {
        for (const auto& [batch, mappings] : batches_)
            if (batch == whole.batch)
                out = mappings.at(work.index);
    }
    NetworkMapping map_network(const NetworkWork&, const Machine&) const override { return network; }

  private:
    std::vector<std::pair<double, std::vector<Mapping>>> batches_;
};

/// Subgraphs in a row; the first operator of each has its own index.
struct CountedNetwork {
    ShapedGraph graph;
    Partition partition;
    NetworkWork work;

    CountedNetwork(std::size_t subgraphs, double batch) {
        work.graph = &graph;
        work.partition = &partition;
        work.batch = batch;
        for (std::uint32_t i = 0; i < subgraphs; ++i) {
            partition.subgraphs.emplace_back().anchor = i;
            work.subgraphs.emplace_back().index = i;
        }
    }
    CountedNetwork(const CountedNetwork&) = delete;
    CountedNetwork& operator=(const CountedNetwork&) = delete;
};

/// 1 GHz, 1 TB/s of DRAM, 100 GB/s to the host; lanes overlap perfectly. 2 pJ per fp16 multiply-accumulate,
/// 10 pJ per byte of DRAM; 10 W static.
inline Machine priced_machine(std::shared_ptr<const Mapper> mapper) {
    Machine m = gpu_machine(1);
    m.mapper = std::move(mapper);
    m.combine_exponent = std::numeric_limits<double>::infinity();
    set_rate(m, Resource::l2_bytes, 1e12);
    set_rate(m, Resource::link_bytes, 1e11);
    auto table = std::make_shared<EnergyTable>();
    table->mac[static_cast<std::size_t>(Precision::fp16)] = fact(2e-12);
    table->event[static_cast<std::size_t>(Event::dram_byte)] = fact(1e-11);
    table->nominal_clock = fact(1e9);
    table->clock_exponent = fact(1);
    m.energy = table;
    m.static_power_w = 10;
    return m;
}

} // namespace archsim::test
