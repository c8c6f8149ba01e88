// TPU: systolic arrays behind software-managed memory. One core runs one share of the batch; inside a core
// the arrays share the tiles (or the rows) of each product, the vector unit works on results while the arrays
// run, and weights of the next tile load while the current one computes.

#include "family/systolic_tiles.hpp"
#include "family/table.hpp"
#include "map/accelerator.hpp"
#include "map/buffers.hpp"
#include "map/counts_of_structure.hpp"
#include "map/tiled.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace archsim {

using namespace accelerator;
using namespace systolic;

struct SystolicFacts : TiledFacts<SystolicFacts> {
    Fact cores, mxu_per_core, rows, cols, vector_lanes, first_load;
    bool folds_apart = false,
         cores_as_one = false; ///< one program runs on the arrays of all cores ("megacore")
    std::string dataflow;
};

/// The numbers of the machine that the formulas need, once per network.
struct Chip {
    Chip(const Machine& m, const NetworkWork& work) : machine(m), network(work), formats(m, work.precision) {
        const SystolicFacts& facts = m.device->facts.as<SystolicFacts>();
        cores = std::max(1.0, facts.cores.value_or(1));
        array.count = std::max(1.0, facts.mxu_per_core.value_or(1));
        array.rows = facts.rows.value_or(128);
        array.cols = facts.cols.value_or(array.rows);
        if (facts.cores_as_one) {
            array.count *= cores;
            cores = 1;
        }
        array.output_stationary = facts.dataflow.starts_with("output");
        array.folds_apart = facts.folds_apart;
        inputs_stay = facts.dataflow.starts_with("input");
        // Cores split the batch: in latency scenario the busiest core holds whole images.
        busy = m.scenario == Scenario::throughput ? cores : network.batch / std::ceil(network.batch / cores);
        capacity = on_chip_bytes(m) * busy / cores;
        limits = limits_of(facts, on_chip_bytes(m) / cores, array.cols);
        stays_in = between_layers(facts, capacity);
        // Nothing waits for the start of a program that has none.
        if (m.parameters.fact(Parameter::inference_overhead).known())
            first_load = facts.first_load.value_or(0);
        vector_rate = vector_ops_per_cycle(m) * busy / cores;
        // Without a vector engine of its own, the activation unit behind the array is as wide as its columns.
        if (vector_rate <= 0)
            vector_rate = array.cols * array.count * busy;
        off_chip = m.rate(Resource::dram_bytes) > 0 ? Resource::dram_bytes : Resource::host_link_bytes;
        weights_from = off_chip == Resource::dram_bytes ? Resource::weight_bytes : Resource::host_link_bytes;
        resident_weights = m.param(Parameter::weight_residency, 0) > 0
                               ? std::max(0.0, capacity - network.memory.peak_live_bytes)
                               : 0;
    }
    const Machine& machine;
    const NetworkWork& network;
    MatrixFormats formats;
    ArrayGroup array;
    bool inputs_stay = false; ///< in the array, where weights do otherwise
    tiling::Limits limits;    ///< of a core
    double stays_in = 0;      ///< bytes in which results wait for the next layer
    double first_load = 0;    ///< bytes of a program's border that move while the arrays wait
    double cores = 1, busy = 1, capacity = 0, vector_rate = 0, resident_weights = 0;
    Resource off_chip = Resource::dram_bytes, weights_from = Resource::weight_bytes;
};

/// Array work of one subgraph, summed over its products.
struct ArrayWork {
    double cycles = 0;         ///< rows stream through the arrays
    double loading_cycles = 0; ///< the arrays wait for weights: fewer rows than weights have
    double macs = 0, padded_macs = 0, weight_load_bytes = 0, stream_bytes = 0, accumulator_bytes = 0,
           sum_hop_bytes = 0;
    double units = 0;
};

static void add_product(const Chip& chip, const OperatorUse& use, const Contraction& c, ArrayWork& total) {
    const MatrixFormat& format = chip.formats.of(use.compute);
    const double width = bytes_of(use.compute);
    // Cores share images: of products that every image has of its own, whole ones.
    const bool whole = c.groups > 1 && !use.op->work.window && std::fmod(c.groups, chip.busy) == 0;
    Product product =
        whole ? Product{c.groups / chip.busy, c.m, c.n, c.k} : Product{c.groups, c.m / chip.busy, c.n, c.k};
    if (chip.inputs_stay)
        std::swap(product.m, product.n);
    TileCount tiles = count_tiles(product, chip.array);
    if (c.groups > 1 && use.op->work.window) {
        const TileCount packed = count_packed_groups(*use.op->work.window, product, chip.array);
        if (packed.cycles < tiles.cycles)
            tiles = packed;
    }
    // Narrow formats pass several operands per cell and clock.
    const double cells = chip.array.rows * chip.array.cols * chip.array.count * chip.cores;
    const double pump = format.ops_per_cycle / (2 * cells);
    (tiles.loads_bind ? total.loading_cycles : total.cycles) += tiles.cycles / pump * format.passes;
    total.macs += c.macs();
    total.padded_macs += tiles.padded_macs * chip.busy;
    total.weight_load_bytes += tiles.weight_loads * width * chip.busy;
    total.stream_bytes += tiles.streamed * width * chip.busy;
    total.accumulator_bytes += tiles.accumulations * 4 * chip.busy; // 32-bit partial sums
    total.sum_hop_bytes += tiles.sum_hops * 4 * chip.busy;
    total.units = std::max(total.units, tiles.arrays_used * std::ceil(chip.busy));
}

/// `exposed` bytes move while the arrays wait: of what a subgraph at the border of the program reads first,
/// and of the results that it hands out.
static void add_memory(const Chip& chip, const NetworkWork& network, const SubgraphWork& work, double exposed,
                       Mapping& out) {
    const Machine& m = chip.machine;
    if (m.rate(chip.off_chip) <= 0)
        return;
    const bool linked = chip.off_chip == Resource::host_link_bytes;
    const auto charge = [&](Resource resource, double bytes, double& alone) {
        const double first = std::min(alone, bytes);
        alone -= first;
        for (const auto& [lane, part] : {std::pair{Lane::memory, bytes - first}, {Lane::overhead, first}})
            out.add(resource, lane, part, linked ? m.param(Parameter::host_link_efficiency, 1) : 1,
                    linked ? Parameter::host_link_efficiency : Parameter::count_);
        out.events[linked ? Event::host_link_byte : Event::dram_byte] += bytes;
    };
    const double outside = outside_bytes(work);
    const bool stays = activations_stay(network, work, chip.stays_in, 1);
    const Again again = stays ? Again{} : moved_again(work, m, chip.limits, chip.busy);
    const double results = result_bytes(work, network);
    double first = work.given_bytes > 0 ? exposed : 0;
    // Every core that works on a share of the batch loads its own copy of the weights.
    const double missing =
        network.weight_bytes > 0 ? std::max(0.0, 1 - chip.resident_weights / network.weight_bytes) : 1;
    charge(chip.weights_from, outside, first);
    charge(chip.weights_from, (work.weight_bytes + again.weights) * missing * std::ceil(chip.busy), first);
    double last = std::min(results, work.given_bytes > 0 ? first : exposed);
    charge(chip.off_chip,
           stays ? results
                 : work.output_bytes + again.activations +
                       m.param(Parameter::input_refetch, 1) * (work.input_bytes + work.extra_bytes - outside),
           last);
}

class SystolicMapper final : public ViewMapper<Chip>, public CountsOfStructure, public KnowsTiling {
  public:
    std::string_view name() const override { return "systolic array"; }
    std::optional<Tiled> tiling_of(const SubgraphWork& work, const NetworkWork& network,
                                   const Machine& machine) const override {
        const Chip chip(machine, network);
        return largest_tiled(work, machine, chip.limits, chip.busy,
                             activations_stay(network, work, chip.stays_in, 1));
    }

  protected:
    void count(const Chip& chip, const SubgraphWork& work, Mapping& out) const override {
        const Machine& machine = chip.machine;
        const NetworkWork& network = chip.network;
        const MatrixFormat& format = chip.formats.of(work.precision);
        ArrayWork array;
        for (const OperatorUse& use : work.operators)
            if (!on_host(use, machine) && !runs_on_vector_unit(chip, use))
                for (const Contraction& c : use.op->work.contractions)
                    add_product(chip, use, c, array);
        out.add(Resource::matrix_cycles, Lane::compute, array.cycles, format.efficiency,
                Parameter::matrix_efficiency);
        // Few rows need more time to get their weights into the arrays than to pass them: that is moving
        // weights, and the vector unit is what computes beside it.
        out.add(Resource::matrix_cycles, Lane::on_chip, array.loading_cycles, format.efficiency,
                Parameter::matrix_efficiency);
        add_vector(chip, work, array.cycles > 0, out);
        add_memory(chip, network, work, array.cycles > 0 ? chip.first_load : 0, out);
        add_layer_overhead(machine, 1, 1, out);
        count_events(chip, network, work, array, out);
        describe(chip, array, out);
        add_fallback(work, machine, out);
        out.ideal_cycles = 2 * work.macs * format.passes / format.ops_per_cycle;
    }

  private:
    /// A depthwise convolution fills one diagonal of the array at best; often a vector unit is faster.
    static bool runs_on_vector_unit(const Chip& chip, const OperatorUse& use) {
        if (!is_depthwise(use.op->work))
            return false;
        ArrayWork array;
        for (const Contraction& c : use.op->work.contractions)
            add_product(chip, use, c, array);
        const Machine& m = chip.machine;
        return depthwise_cycles(chip, use.op->work.macs) / m.rate(Resource::vector_cycles) <
               (array.cycles + array.loading_cycles) /
                   (m.rate(Resource::matrix_cycles) * chip.formats.of(use.compute).efficiency);
    }

    static double depthwise_cycles(const Chip& chip, double macs) {
        return 2 * macs / (chip.vector_rate * chip.machine.param(Parameter::depthwise_efficiency, 1));
    }

    static void add_vector(const Chip& chip, const SubgraphWork& work, bool arrays_busy, Mapping& out) {
        const VectorWork vector = vector_work(work, chip.machine);
        const double efficiency = chip.machine.param(Parameter::vector_efficiency, 1);
        // Beside an array the vector unit handles the previous tile's results; alone it is the compute
        // engine.
        const Lane lane = arrays_busy ? Lane::on_chip : Lane::compute;
        out.add(Resource::vector_cycles, lane, vector.operations / chip.vector_rate, efficiency,
                Parameter::vector_efficiency);
        double macs = 0;
        for (const OperatorUse& use : work.operators)
            if (!on_host(use, chip.machine) && runs_on_vector_unit(chip, use))
                macs += use.op->work.macs;
        out.add(Resource::vector_cycles, lane, macs > 0 ? depthwise_cycles(chip, macs) : 0);
    }

    static void count_events(const Chip& chip, const NetworkWork& network, const SubgraphWork& work,
                             const ArrayWork& array, Mapping& out) {
        count_arithmetic(work, network, chip.machine, out);
        out.events[Event::weight_load_byte] += array.weight_load_bytes;
        out.events[Event::accumulator_byte] += array.accumulator_bytes;
        // A streamed operand passes every column, a partial sum every row of its tile.
        out.events[Event::systolic_hop] += array.stream_bytes * chip.array.cols + array.sum_hop_bytes;
        out.events[Event::l2_byte] += array.stream_bytes + work.activation_bytes() + work.weight_bytes;
    }

    static void describe(const Chip& chip, const ArrayWork& array, Mapping& out) {
        Allocation& a = out.allocation;
        a.units_total = chip.array.count * chip.cores;
        a.units_used = array.units;
        a.tile_k = static_cast<std::uint16_t>(chip.array.rows);
        a.tile_n = static_cast<std::uint16_t>(chip.array.cols);
        a.useful_fraction = array.padded_macs > 0 ? array.macs / array.padded_macs : 1;
        a.scheme = array.cycles + array.loading_cycles <= 0 ? "vector unit"
                   : chip.array.output_stationary           ? "output-stationary"
                   : chip.inputs_stay                       ? "input-stationary"
                                                            : "weight-stationary";
    }
};

constexpr std::array<std::string_view, 3> kDataflows = {"weight-stationary", "output-stationary",
                                                        "input-stationary"};

constexpr std::array kOwnTpuFacts = {
    fact("cores", &SystolicFacts::cores, "Cores of the chip.", {.high = 4096}),
    fact("cores_as_one", &SystolicFacts::cores_as_one, "One program runs on the arrays of all cores."),
    fact("mxu_per_core", &SystolicFacts::mxu_per_core, "Matrix units of a core.",
         {.high = 4096, .scales_with = Structure::units, .required = true}),
    fact("rows", &SystolicFacts::rows, "Rows of multiply-accumulate cells.",
         {.high = 65536, .scales_with = Structure::array, .required = true}),
    fact("cols", &SystolicFacts::cols, "Columns of cells.",
         {.high = 65536, .scales_with = Structure::array, .required = true}),
    fact("vector_lanes", &SystolicFacts::vector_lanes, "Vector lanes of a core.", {.high = 1e6}),
    fact(
        "folds_apart", &SystolicFacts::folds_apart,
        "Each tile is loaded, streamed through and drained before the next begins (SCALE-Sim); absent: tiles "
        "follow each other without a gap."),
    fact("first_load", &SystolicFacts::first_load,
         "Bytes of a program's first operands and last results that move while the arrays wait: its compiler "
         "brings operands of that size in whole, and nothing runs before or after to hide it.",
         {.unit = "B", .low = 0, .high = 1e12}),
    fact("dataflow", &SystolicFacts::dataflow, "What stays in the array.", {.words = kDataflows}),
};

constexpr auto kTpuFacts = with_rows(kOwnTpuFacts, kBufferRows);

constexpr std::array kTpuProperties = {
    FamilyProperty{kProgrammability, "fixed function",
                   "Jouppi et al., ISCA 2017: a matrix multiply unit with software-managed on-chip memory, "
                   "driven by the host's instructions"},
    FamilyProperty{"timing", "predictable",
                   "Jouppi et al., ISCA 2017: its deterministic execution model suits the 99th-percentile "
                   "response time better than the time-varying optimisations of CPUs and GPUs"},
    FamilyProperty{"flexibility", "less flexible",
                   "XLA documentation, Known issues: shapes must be known when a program is compiled, and a "
                   "new shape is a new program"}};

constinit const FamilyRow family::tpu{.name = "tpu",
                                      .title = "TPU",
                                      .block = "systolic",
                                      .doc = "Systolic array.",
                                      .facts = kTpuFacts,
                                      .make_facts = empty_facts<SystolicFacts>,
                                      .mapper = only_mapper<SystolicMapper>,
                                      .properties = kTpuProperties};

} // namespace archsim
