// CGRA: pattern compute units (stages x lanes) and pattern memory units on a programmable interconnect, after
// Plasticine (Prabhakar et al., ISCA 2017). Operators are placed side by side, share the units by their work
// and stream into each other; what does not fit on the chip is cut into sections that run one after another,
// each after a reconfiguration.

#include "family/table.hpp"
#include "map/accelerator.hpp"
#include "map/buffers.hpp"
#include "map/counts_of_structure.hpp"
#include "map/tiled.hpp"

#include <algorithm>
#include <array>

namespace archsim {

using namespace accelerator;

struct CgraFacts : TiledFacts<CgraFacts> {
    Fact compute_units, memory_units, stages, lanes, reconfiguration_time;
};

/// Sections that a network is cut into: powers of two, so that what fits a fabric also fits a larger one.
constexpr std::array<double, 14> kSections = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192};

/// The fabric, with the network in the fewest sections that it fits in, and no fewer than the `least`: more
/// of them wait less for their first rows, and are loaded more often.
struct Fabric {
    Fabric(const Machine& machine, const NetworkWork& work, std::size_t least)
        : m(machine), network(work), formats(machine, work.precision) {
        const CgraFacts& facts = machine.device->facts.as<CgraFacts>();
        units = std::max(1.0, facts.compute_units.value_or(machine.units) * machine.active_fraction);
        stages = std::max(1.0, facts.stages.value_or(1));
        lanes = std::max(1.0, facts.lanes.value_or(1));
        memory = managed_memory_bytes(machine);
        operators = std::max<double>(1, static_cast<double>(network.subgraphs.size()));
        sections = std::min(kSections[std::max(least, fewest(network.batch))], operators);
        neighbours = std::ceil(operators / sections);
        total = network.operations - network.macs;
        limits = limits_of(facts, memory / 2);
        stays_in = between_layers(facts, memory / 2);
    }
    /// Place in kSections of what so many items of the batch fit in. Weights stay in place; activations need
    /// room twice, for the producer and the consumer of each buffer.
    std::size_t fewest(double items) const {
        const double needed =
            network.weight_bytes + 2 * network.memory.peak_live_bytes * items / network.batch;
        const double n =
            std::max(std::ceil(operators / units), memory > 0 ? std::ceil(needed / memory) : 1.0);
        return static_cast<std::size_t>(
            std::lower_bound(kSections.begin(), kSections.end() - 1, std::min(operators, n)) -
            kSections.begin());
    }
    /// Multiply-accumulates, or one operation per stage and lane.
    static double weight_of(const SubgraphWork& work) {
        return work.macs + work.vector_ops + work.special_ops;
    }
    /// Units of one operator: one, and its part by work of those that its section has beyond one each.
    /// Together the operators of a section take no more than there are.
    double units_of(const SubgraphWork& work) const {
        const double part = total > 0 ? std::min(1.0, sections * weight_of(work) / total) : 1;
        return 1 + std::floor((units - std::min(units, neighbours)) * part);
    }

    const Machine& m;
    const NetworkWork& network;
    MatrixFormats formats;
    tiling::Limits limits; ///< half of the memory units; the other half holds what the next layer reads
    double stays_in = 0;
    double units = 1, stages = 1, lanes = 1, memory = 0, operators = 1, sections = 1;
    double neighbours = 1; ///< operators of one section
    double total = 0;      ///< work of the network
};

/// A product on one unit: a chain of up to `stages` multiply-adds along the reduction, `lanes` results side
/// by side; rows stream through. ceil(K/chain) ceil(N/lanes) such blocks are spread over the operator's
/// units, and rows over what is left.
struct FabricPlacement {
    double cycles = 0, units_used = 0, padded_macs = 0;
};

static FabricPlacement place(const Contraction& c, const Fabric& f, double units, double pump) {
    const double across = c.groups * std::ceil(c.n / f.lanes);
    FabricPlacement best;
    // Results may leave a unit behind any of its stages: where a few rows wait for the pipeline to fill,
    // which they do once per operator, chains shorter than it are faster.
    for (double chain = std::min(f.stages, std::max(1.0, c.k)); chain >= 1; chain = std::ceil(chain) - 1) {
        FabricPlacement p;
        const double blocks = across * std::ceil(c.k / chain);
        if (best.cycles > 0 && blocks * c.m / (units * pump) >= best.cycles)
            break;
        p.padded_macs = blocks * f.stages * f.lanes * c.m;
        if (blocks >= units) {
            p.cycles = std::ceil(blocks / units) * c.m / pump;
            p.units_used = units;
        } else { // copies of the blocks take a part of the rows each
            const double copies = std::floor(units / blocks);
            p.cycles = std::ceil(c.m / copies) / pump;
            p.units_used = blocks * std::min(copies, c.m);
        }
        p.cycles += chain;
        if (best.cycles == 0 || p.cycles < best.cycles)
            best = p;
    }
    return best;
}

class CgraMapper final : public NetworkMapper,
                         public CountsOfStructure,
                         public KnowsArrangements,
                         public KnowsTiling {
  public:
    /// In the fewest sections, and no fewer than those at a place in kSections.
    explicit CgraMapper(std::size_t least = 0) : least_(least) {}
    std::string_view name() const override { return "coarse-grained reconfigurable array"; }

    void map(const SubgraphWork& work, const NetworkWork& network, const Machine& machine,
             Mapping& out) const override {
        count(Fabric(machine, network, least_), work, out);
    }
    void map_each(std::span<const std::uint32_t> which, const NetworkWork& network, const Machine& machine,
                  std::span<Mapping> out) const override {
        const Fabric fabric(machine, network, least_);
        for (std::size_t i = 0; i < which.size(); ++i)
            count(fabric, network.subgraphs[which[i]], out[i]);
    }

    /// A compiler takes the number of sections that is fastest; pieces of a batch need fewer than all of it.
    std::span<const std::shared_ptr<const Mapper>> other_arrangements(const NetworkWork& network,
                                                                      const Machine& machine) const override {
        static const std::array<std::shared_ptr<const Mapper>, kSections.size()> kAtLeast = [] {
            std::array<std::shared_ptr<const Mapper>, kSections.size()> mappers;
            for (std::size_t i = 0; i < mappers.size(); ++i)
                mappers[i] = std::make_shared<const CgraMapper>(i);
            return mappers;
        }();
        if (least_ > 0)
            return {};
        const Fabric fabric(machine, network, 0);
        const auto end = static_cast<std::size_t>(std::ranges::lower_bound(kSections, 2 * fabric.operators) -
                                                  kSections.begin());
        const std::size_t first = std::min(fabric.fewest(1) + 1, end);
        return std::span(kAtLeast).subspan(first, end - first);
    }

    std::optional<Tiled> tiling_of(const SubgraphWork& work, const NetworkWork& network,
                                   const Machine& machine) const override {
        const Fabric fabric(machine, network, least_);
        return largest_tiled(work, machine, fabric.limits, 1,
                             activations_stay(network, work, fabric.stays_in, 1));
    }

    NetworkMapping map_network(const NetworkWork& network, const Machine& machine) const override {
        NetworkMapping result = Mapper::map_network(network, machine);
        const Fabric fabric(machine, network, least_);
        result.sections = fabric.sections;
        result.scheme = fabric.sections > 1 ? "sections, reconfigured in turn" : "whole network placed";
        if (fabric.sections <= 1)
            return result;
        const double time = machine.device->facts.as<CgraFacts>().reconfiguration_time.value_or(0);
        result.fixed.add(Resource::seconds, Lane::overhead, fabric.sections * time);
        const double bytes = fabric.sections * machine.param(Parameter::configuration_size, 0);
        result.fixed.events[Event::configuration_byte] += bytes;
        if (machine.rate(Resource::dram_bytes) > 0)
            add_dram(result.fixed, Resource::dram_bytes, Lane::overhead, bytes);
        return result;
    }

  private:
    std::size_t least_;

    static void count(const Fabric& fabric, const SubgraphWork& work, Mapping& out) {
        const Machine& machine = fabric.m;
        const NetworkWork& network = fabric.network;
        const MatrixFormat& format = fabric.formats.of(work.precision);
        // Operands per stage, lane and clock: 1 unless a narrow format is packed.
        const double cells = fabric.units * fabric.stages * fabric.lanes;
        const double pump = format.ops_per_cycle / (2 * cells);
        const double own = fabric.units_of(work);
        double products = 0, padded_macs = 0, units_used = 0;
        for (const OperatorUse& use : work.operators) {
            if (on_host(use, machine))
                continue;
            for (const Contraction& c : use.op->work.contractions) {
                const FabricPlacement p = place(c, fabric, own, pump);
                products += p.cycles;
                padded_macs += p.padded_macs;
                units_used = std::max(units_used, p.units_used);
            }
        }
        // The operators of a section run at the same time: each takes its share of the section's interval.
        const double share = own / fabric.units;
        out.add(format.resource, Lane::compute, products * share, format.efficiency,
                Parameter::matrix_efficiency);
        // One operation per stage and lane; element-wise stages follow the product's in the same pipeline.
        const double vector = vector_work(work, machine).operations;
        out.add(Resource::vector_cycles, products > 0 ? Lane::on_chip : Lane::compute, vector / cells,
                machine.param(Parameter::vector_efficiency, 1), Parameter::vector_efficiency);
        // A single image also waits at every operator for the first rows that it needs, while all operators
        // of the section take the whole interval.
        if (machine.scenario == Scenario::latency)
            out.add(format.resource, Lane::overhead,
                    2 * network.macs / network.batch / fabric.sections / format.ops_per_cycle *
                        rows_awaited(work, network.batch),
                    format.efficiency, Parameter::matrix_efficiency);
        add_memory(work, network, fabric, out);
        add_layer_overhead(machine, 1, 1, out);
        count_arithmetic(work, network, machine, out);
        out.events[Event::l1_byte] += work.unfused_bytes;
        out.events[Event::routing_byte] += work.activation_bytes() + work.weight_bytes;
        describe(fabric, work, units_used > 0 ? units_used : own, padded_macs, out);
        add_fallback(work, machine, out);
        out.ideal_cycles = 2 * work.macs / format.ops_per_cycle;
    }

    /// A network placed whole keeps its weights in the memory units. In sections, weights come from DRAM, and
    /// activations too where they outlive a section in more room than half the memory units.
    static void add_memory(const SubgraphWork& work, const NetworkWork& network, const Fabric& fabric,
                           Mapping& out) {
        const Machine& m = fabric.m;
        if (m.rate(Resource::dram_bytes) <= 0)
            return;
        const double outside = border_bytes(work, network);
        const bool stays = activations_stay(network, work, fabric.stays_in, 1);
        const Again again = stays ? Again{} : moved_again(work, m, fabric.limits, 1);
        if (fabric.sections > 1)
            add_dram(out, Resource::weight_bytes, Lane::memory, work.weight_bytes + again.weights);
        if (!stays)
            add_dram(out, Resource::dram_bytes, Lane::memory,
                     work.activation_bytes() - outside + again.activations);
        add_dram(out, Resource::weight_bytes, Lane::memory, outside);
    }

    static void describe(const Fabric& fabric, const SubgraphWork& work, double units_used,
                         double padded_macs, Mapping& out) {
        Allocation& a = out.allocation;
        a.units_total = fabric.units;
        a.units_used = units_used;
        a.waves = fabric.sections;
        a.tile_k = static_cast<std::uint16_t>(fabric.stages);
        a.tile_n = static_cast<std::uint16_t>(fabric.lanes);
        a.useful_fraction = padded_macs > 0 ? std::min(1.0, work.macs / padded_macs) : 1;
        a.scheme = padded_macs > 0 ? "placed pipeline" : "element-wise pipeline";
    }
};

constexpr std::array kOwnCgraFacts = {
    fact("compute_units", &CgraFacts::compute_units, "Pattern compute units.",
         {.high = 1e6, .scales_with = Structure::units, .required = true}),
    fact("memory_units", &CgraFacts::memory_units, "Pattern memory units.",
         {.low = 0, .high = 1e6, .scales_with = Structure::units}),
    fact("stages", &CgraFacts::stages, "Pipeline stages of a unit.",
         {.high = 65536, .scales_with = Structure::array}),
    fact("lanes", &CgraFacts::lanes, "Lanes of a unit.", {.high = 65536, .scales_with = Structure::array}),
    fact("reconfiguration_time", &CgraFacts::reconfiguration_time, "Time to load another configuration.",
         {.unit = "s", .low = 0, .high = 10}),
};

constexpr auto kCgraFacts = with_rows(kOwnCgraFacts, kBufferRows);

constexpr std::array kCgraProperties = {
    FamilyProperty{kProgrammability, "programmable in parallel patterns",
                   "Prabhakar et al., Plasticine, ISCA 2017"},
    FamilyProperty{"flexibility", "reconfigurable", "Prabhakar et al., Plasticine, ISCA 2017"}};

constinit const FamilyRow family::cgra{.name = "cgra",
                                       .title = "CGRA",
                                       .block = "cgra",
                                       .doc = "Reconfigurable array.",
                                       .facts = kCgraFacts,
                                       .make_facts = empty_facts<CgraFacts>,
                                       .mapper = only_mapper<CgraMapper>,
                                       .properties = kCgraProperties};

} // namespace archsim
