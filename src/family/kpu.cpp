// KPU: domain-flow fabric. Operators become recurrences whose wavefronts cross a grid of tiles; operands come
// from explicit streamers, block movers and DMA. No instructions are fetched: every operand carries a domain
// token.

#include "family/kpu_schedule.hpp"
#include "family/table.hpp"
#include "map/accelerator.hpp"
#include "map/buffers.hpp"
#include "map/counts_of_structure.hpp"

#include <algorithm>
#include <array>

namespace archsim {

using namespace accelerator;

/// Fabric work of one subgraph, summed over its products.
struct FabricWork {
    double cycles = 0, macs = 0, padded_macs = 0;
    double edge_bytes = 0;   ///< into tiles, from L1 streamers
    double stream_bytes = 0; ///< into the grid, from L2
    double passes_in = 1, passes_weights = 1;
    kpu::Schedule last;
};

static void add_operator(const OperatorUse& use, const kpu::Fabric& fabric, FabricWork& total) {
    const double width = bytes_of(use.compute);
    for (const Contraction& c : use.op->work.contractions) {
        kpu::Schedule s = kpu::schedule_product(c, fabric);
        double grid_elements = c.groups * (c.m * c.k * s.row_passes + c.k * c.n * s.col_passes);
        if (is_depthwise(use.op->work)) {
            const kpu::Schedule rows = kpu::schedule_depthwise(*use.op->work.window, fabric);
            if (rows.cycles < s.cycles) {
                s = rows;
                grid_elements = s.edge_elements;
            }
        }
        total.cycles += s.cycles;
        total.macs += c.macs();
        total.padded_macs += s.padded_macs;
        total.edge_bytes += s.edge_elements * width;
        total.stream_bytes += grid_elements * width;
        total.passes_in = std::max(total.passes_in, s.row_passes);
        total.passes_weights = std::max(total.passes_weights, s.col_passes);
        total.last = s;
    }
}

static tiling::Limits limits(const Machine& machine) {
    return limits_of(machine.device->facts.as<kpu::KpuFacts>(), on_chip_bytes(machine));
}
/// Bytes in which results wait for the next layer.
static double stays_in(const Machine& machine) {
    return between_layers(machine.device->facts.as<kpu::KpuFacts>(), on_chip_bytes(machine));
}

class KpuMapper final : public Mapper, public CountsOfStructure, public KnowsTiling {
  public:
    std::optional<Tiled> tiling_of(const SubgraphWork& work, const NetworkWork& network,
                                   const Machine& machine) const override {
        return largest_tiled(work, machine, limits(machine), 1,
                             activations_stay(network, work, stays_in(machine), 1));
    }

    std::string_view name() const override { return "domain flow"; }

    void map(const SubgraphWork& work, const NetworkWork& network, const Machine& machine,
             Mapping& out) const override {
        const MatrixFormat format = matrix_format(machine, network.precision, work.precision);
        const kpu::Fabric fabric = kpu::fabric_of(machine, work.precision);
        FabricWork total;
        for (const OperatorUse& use : work.operators)
            if (!on_host(use, machine))
                add_operator(use, fabric, total);
        out.add(Resource::matrix_cycles, Lane::compute, total.cycles, format.efficiency,
                Parameter::matrix_efficiency);
        add_vector(work, machine, fabric, total.cycles > 0, out);
        add_movement(work, network, machine, total, out);
        add_layer_overhead(machine, 1, 1, out);
        count_events(work, network, machine, total, out);
        describe(fabric, total, out);
        add_fallback(work, machine, out);
        out.ideal_cycles = 2 * work.macs / format.ops_per_cycle;
    }

  private:
    /// Element-wise recurrences use every element of the fabric; behind a product they ride on its results.
    static void add_vector(const SubgraphWork& work, const Machine& machine, const kpu::Fabric& fabric,
                           bool behind, Mapping& out) {
        const double operations = vector_work(work, machine).operations;
        out.add(Resource::vector_cycles, behind ? Lane::on_chip : Lane::compute,
                operations / fabric.elements(), machine.param(Parameter::vector_efficiency, 1),
                Parameter::vector_efficiency);
    }

    static void add_movement(const SubgraphWork& work, const NetworkWork& network, const Machine& machine,
                             const FabricWork& total, Mapping& out) {
        const auto limited_by = [&](Resource level, double bytes) {
            if (machine.rate(level) > 0)
                out.add(level, Lane::on_chip, bytes);
        };
        // Block movers carry activations and weights from L3 to L2 once per pass over the grid.
        const double l3 = (work.input_bytes + work.extra_bytes) * total.passes_in +
                          work.weight_bytes * total.passes_weights + work.output_bytes;
        const double l2 = std::max(total.stream_bytes, work.activation_bytes());
        limited_by(Resource::l1_bytes, total.edge_bytes);
        limited_by(Resource::l2_bytes, l2);
        limited_by(Resource::llc_bytes, l3);
        const double outside = border_bytes(work, network);
        const bool stays = activations_stay(network, work, stays_in(machine), 1);
        const Again again = stays ? Again{} : moved_again(work, machine, limits(machine), 1);
        double dram = work.weight_bytes + again.weights + outside; // known beforehand, so DMA runs ahead
        if (machine.rate(Resource::weight_bytes) > 0)
            add_dram(out, Resource::weight_bytes, Lane::memory, dram);
        if (!stays && machine.rate(Resource::dram_bytes) > 0) {
            const double spilled = work.activation_bytes() - outside + again.activations;
            add_dram(out, Resource::dram_bytes, Lane::memory, spilled);
            dram += spilled;
        }
        out.events[Event::l1_byte] += total.edge_bytes;
        out.events[Event::l2_byte] += l2;
        out.events[Event::llc_byte] += l3;
        out.events[Event::streamer_byte] += l2 + l3 + dram; // streamers, block movers, DMA
    }

    static void count_events(const SubgraphWork& work, const NetworkWork& network, const Machine& machine,
                             const FabricWork& total, Mapping& out) {
        count_arithmetic(work, network, machine, out);
        const double width = bytes_of(work.precision);
        out.events[Event::domain_token] += total.edge_bytes / width + work.activation_bytes() / width;
        out.events[Event::systolic_hop] += 2 * total.macs * width; // each product passes both operands on
    }

    static void describe(const kpu::Fabric& fabric, const FabricWork& total, Mapping& out) {
        Allocation& a = out.allocation;
        a.units_total = fabric.tiles();
        a.units_used = total.cycles > 0 ? total.last.tiles_used : fabric.tiles();
        a.waves = total.last.waves;
        a.tile_m = total.last.rows;
        a.tile_n = total.last.cols;
        a.useful_fraction = total.padded_macs > 0 ? total.macs / total.padded_macs : 1;
        a.scheme = total.cycles > 0 ? "wavefronts, output-stationary" : "element-wise wavefront";
    }
};

constexpr std::array kOwnKpuFacts = {
    fact("grid", &kpu::KpuFacts::grid, "Tiles of the fabric: [rows, columns].",
         {.scales_with = Structure::units, .required = true}),
    fact("dataflow", &kpu::KpuFacts::dataflow, "What stays in a tile."),
    fact("tiles", &kpu::KpuFacts::tiles, "Kinds of tiles.", {.required = true}),
};

constexpr auto kKpuFacts = with_rows(kOwnKpuFacts, kBufferRows);

constexpr std::array kKpuProperties = {
    FamilyProperty{kProgrammability, "programmable",
                   "the vendor's description of the domain-flow architecture: systems of affine recurrences; "
                   "unreleased silicon"},
    FamilyProperty{"formats", "mixed precision",
                   "device files of the database: tiles of different formats side by side"}};

constinit const FamilyRow family::kpu{.name = "kpu",
                                      .title = "KPU",
                                      .block = "kpu",
                                      .doc = "Domain-flow fabric.",
                                      .facts = kKpuFacts,
                                      .make_facts = empty_facts<kpu::KpuFacts>,
                                      .mapper = only_mapper<KpuMapper>,
                                      .properties = kKpuProperties};

} // namespace archsim
