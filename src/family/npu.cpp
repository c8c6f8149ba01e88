// NPU: a spatial array of multiply-accumulate units over input and output channels, an on-chip buffer and a
// host for what it cannot run. Facts and stack parameters tell the kinds apart: cores that work on one
// inference, weights that stay on chip, whole networks laid out as one pipeline with configuration changes
// when they do not fit.

#include "family/contexts.hpp"
#include "family/table.hpp"
#include "map/accelerator.hpp"
#include "map/buffers.hpp"
#include "map/counts_of_structure.hpp"
#include "map/overlap.hpp"
#include "map/tiled.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

namespace archsim {

/// Names of facts in a device's file, what they mean, and what scales them.
struct NpuFacts : TiledFacts<NpuFacts> {
    Fact cores, array_rows, array_cols, sram_bytes, on_chip_weight_bytes, data_memory_bytes;
    Fact compute_units, layer_controllers, units_per_controller, context_fill, unit_channels, layer_bandwidth;
    Fact sum_port, held_inputs, coded_activations;
    std::array<Fact, 2> array_pixels;
    bool row_stationary = false, winograd = false, whole_strides = false;
    bool activations_wait = false;
    bool dataflow_pipeline = false; ///< whole network laid out spatially, one image per pipeline step
};

constexpr std::array kOwnNpuFacts = {
    fact("cores", &NpuFacts::cores, "Cores.", {.high = 1e6, .scales_with = Structure::units}),
    fact("array_rows", &NpuFacts::array_rows, "Input channels per clock of a core.",
         {.high = 65536, .scales_with = Structure::array}),
    fact("array_cols", &NpuFacts::array_cols, "Output channels per clock of a core.",
         {.high = 65536, .scales_with = Structure::array}),
    fact("sram", &NpuFacts::sram_bytes, "On-chip buffer.",
         {.unit = "B", .low = 0, .high = 1e12, .scales_with = Structure::on_chip_memory}),
    fact("on_chip_weights", &NpuFacts::on_chip_weight_bytes, "Weights that stay on chip.",
         {.unit = "B", .low = 0, .high = 1e12, .scales_with = Structure::on_chip_memory}),
    fact("data_memory", &NpuFacts::data_memory_bytes,
         "Part of the on-chip buffer that only activations use, where weights have a memory apart.",
         {.unit = "B", .low = 0, .high = 1e12, .scales_with = Structure::on_chip_memory}),
    fact("compute_units", &NpuFacts::compute_units,
         "Units of a pipeline that its layers take whole numbers of.",
         {.high = 1e6, .scales_with = Structure::units}),
    fact("layer_controllers", &NpuFacts::layer_controllers, "Layers that a pipeline drives at once.",
         {.high = 1e6, .scales_with = Structure::units}),
    fact("units_per_controller", &NpuFacts::units_per_controller,
         "Compute units that one layer controller drives.", {.high = 1e6}),
    fact("unit_channels", &NpuFacts::unit_channels, "Output channels that a compute unit makes at once.",
         {.high = 1e6}),
    fact("layer_bandwidth", &NpuFacts::layer_bandwidth, "What a layer of a pipeline hands on to the next.",
         {.unit = "B/s", .low = 1e6, .high = 1e13, .scales_with = Structure::clock}),
    fact("context_fill", &NpuFacts::context_fill,
         "Share of units, controllers and weights that one context of several fills.",
         {.unit = "1", .low = 0.05, .high = 1}),
    fact("dataflow_pipeline", &NpuFacts::dataflow_pipeline,
         "The whole network is laid out spatially, one image per step."),
    fact(
        "array_pixels", &NpuFacts::array_pixels,
        "Rows and columns of an output image per clock of a core, beside channels, which then fill the array "
        "tap by tap; absent: one, and taps and channels of a window fill it together."),
    fact("row_stationary", &NpuFacts::row_stationary,
         "The array lays rows of the kernel along its rows and rows of the output image along its columns, "
         "as many such sets side by side as fit (Eyeriss)."),
    fact("winograd", &NpuFacts::winograd,
         "3 x 3 windows of stride 1 run as Winograd F(2x2, 3x3): 4 of 9 products, 16 weights "
         "stored for 9."),
    fact("whole_strides", &NpuFacts::whole_strides,
         "Weights are stored with windows padded to whole strides."),
    fact(
        "sum_port", &NpuFacts::sum_port,
        "Sums that a row-stationary array takes from its buffer, and gives back, in a clock; absent: enough.",
        {.unit = "B/clk", .low = 0.1, .high = 1e6, .scales_with = Structure::array}),
    fact("held_inputs", &NpuFacts::held_inputs,
         "Inputs that an element of a row-stationary array holds: channels that it adds up before it hands a "
         "sum on, times the kernel's columns.",
         {.high = 65536}),
    fact("coded_activations", &NpuFacts::coded_activations,
         "Bytes of inputs and results in external memory over those that they have, where zeros are coded; "
         "a property of the data too; absent: 1.",
         {.low = 0.01, .high = 1}),
    fact("activations_wait", &NpuFacts::activations_wait,
         "The array waits while inputs and results pass between buffer and external memory; only weights "
         "load beside it."),
};

constexpr auto kNpuFacts = with_rows(kOwnNpuFacts, kBufferRows);

using namespace accelerator;

struct Array {
    Array(const Machine& machine, const NetworkWork& network, bool in_contexts = false)
        : m(machine), facts(machine.device->facts.as<NpuFacts>()), formats(machine, network.precision) {
        cores = std::max(1.0, facts.cores.value_or(1) * machine.active_fraction);
        // A network that is sharded over chips is sharded over their cores.
        per_inference = machine.devices > 1
                            ? cores
                            : std::min(cores, machine.param(Parameter::cores_per_inference, cores));
        // Where a stack's program runs on fewer cores than the chip has, a sharded one is a rank on each.
        ranks = machine.devices > 1
                    ? std::max(1.0, std::floor(cores / machine.param(Parameter::cores_per_inference, cores)))
                    : 1;
        share = per_inference / cores;
        // Many requests are given groups that use all cores: smaller ones than a single request gets.
        groups = machine.scenario == Scenario::throughput ? cores / per_inference
                                                          : std::floor(cores / per_inference);
        // Images of a batch spread over the groups of cores, unless a compiled batch stays on its core;
        // requests in a queue keep all of them busy.
        const double busiest = machine.scenario == Scenario::throughput ? network.batch / groups
                               : machine.runtime->independent_streams   ? network.batch
                                                                        : std::ceil(network.batch / groups);
        parallel = network.batch / busiest;
        const double block = machine.param(Parameter::channel_block, 1);
        rows = facts.array_rows.value_or(block);
        cols = facts.array_cols.value_or(block);
        blocks_taps = machine.parameters.fact(Parameter::channel_block).known();
        own_dram = machine.rate(Resource::dram_bytes) > 0;
        // Images at work lie in the memory of their groups, each beside its group's own copy of the weights.
        // Worked: 16 cores of 9 MiB in groups of 4: 36 MiB for one image, 144 MiB for four.
        const double in_work = std::min(parallel, network.batch);
        const double whole_chip = managed_memory_bytes(machine);
        core_buffer = whole_chip / cores;
        buffer = whole_chip * share * in_work;
        weights_held = facts.on_chip_weight_bytes.value_or(0);
        if (machine.param(Parameter::weight_residency, 0) > 0 && weights_held <= 0)
            weights_held = std::max(0.0, (buffer - network.memory.peak_live_bytes) / in_work);
        pipeline = facts.dataflow_pipeline;
        if (!own_dram && !machine.runtime->streams_weights)
            weights_held = network.weight_bytes; // what does not fit at all is refused before
        whole = {facts.compute_units.value_or(0), facts.layer_controllers.value_or(0),
                 facts.units_per_controller.value_or(0), weights_held};
        context = whole;
        if (facts.context_fill.known()) {
            const double fill = facts.context_fill.value;
            context = {std::floor(whole.units * fill), std::floor(whole.controllers * fill),
                       whole.per_controller, whole.weights * fill};
        }
        limits = limits_of(facts, buffer / std::max(1.0, in_work),
                           facts.row_stationary ? 1 : facts.array_cols.value_or(1));
        images_at_work = in_work;
        stays_in = between_layers(facts, buffer);
        pixels = {facts.array_pixels[0].value_or(1), facts.array_pixels[1].value_or(1)};
        fetches = facts.array_cols.known() && !pipeline && !facts.row_stationary;
        activations_lane = facts.activations_wait ? Lane::overhead : Lane::memory;
        unit_channels = facts.unit_channels.value_or(0);
        layer_bandwidth = facts.layer_bandwidth.value_or(0);
        may_place = !in_contexts;
        // A chip without memory of its own keeps keys and values where its weights are.
        keeps_cache = !own_dram &&
                      network.weight_bytes + network.memory.kv_cache_bytes + network.memory.peak_live_bytes <=
                          whole_chip;
        vector_rate = vector_ops_per_cycle(machine) * share * parallel;
        packs_rows = machine.param(Parameter::row_packing, 0) > 0.5;
    }
    /// Groups that run inferences of their own side by side, so that fixed times overlap.
    double independent() const { return m.scenario == Scenario::throughput ? groups : 1.0; }

    const Machine& m;
    const NpuFacts& facts;
    MatrixFormats formats;
    double cores = 1, per_inference = 1, share = 1, rows = 1, cols = 1, weights_held = 0;
    double buffer = 0; ///< of the groups that work on a batch
    double core_buffer = 0;
    double ranks = 1;    ///< programs of a sharded network on a chip, each with heads and a cache of its own
    double groups = 1;   ///< sets of cores that work on different images
    double parallel = 1; ///< images in work at once
    double vector_rate = 0;
    bool packs_rows = false;
    bool blocks_taps = false; ///< every tap's channels are padded, not the flattened reduction
    bool own_dram = true;
    bool keeps_cache = false; ///< keys and values stay on the chip between steps
    bool pipeline = false;    ///< layers of the whole network side by side on the chip
    bool may_place = true;    ///< as one pipeline; what fits may run in contexts, too
    double unit_channels = 0, layer_bandwidth = 0;
    tiling::Limits limits;              ///< of one image's share of the buffer
    double images_at_work = 1;          ///< each in a buffer of its own
    double stays_in = 0;                ///< bytes in which results wait for the next layer
    std::array<double, 2> pixels{1, 1}; ///< of an output image at once
    bool fetches = false;               ///< what it reads from its buffer is known
    Lane activations_lane = Lane::memory;
    npu::Capacity whole;   ///< of a pipeline
    npu::Capacity context; ///< what a compiler fills of it with one context of several
};

/// How often the busiest rank of a chip has its part of `heads`: heads are whole, and one that several ranks
/// need is on each. Worked: 3 heads on 2 cores take the time of 4, 1 head of keys is read twice.
static double whole_heads(const Array& array, double heads) {
    return heads > 0 ? std::ceil(heads / array.ranks) * array.ranks / heads : 1;
}

/// The shape of a subgraph's attention; nothing where it has none.
static const AttentionShape* attention_of(const SubgraphWork& work) {
    for (const OperatorUse& use : work.operators)
        if (use.op->work.attention)
            return &*use.op->work.attention;
    return nullptr;
}

/// Bytes that the scores of attention pass through memory where the stack has no attention kernel for the
/// format or for so few queries and the scores of a core, in fp32, outgrow its share of the buffer: what runs
/// as operators of their own hands over the scores of all its heads and sequences. The product writes them;
/// mask, exponential and quotient read and write them, maximum and sum read them; the second product reads
/// them. Worked: 2 heads of 2048 queries and keys are 34 MB on a core, which pass ten times; one head stays.
static double spilled_score_bytes(const Array& array, const SubgraphWork& work) {
    constexpr double kPasses = 10, kBytes = 4;
    if (work.kind != OpKind::attention ||
        bits_of(work.precision) <= array.m.param(Parameter::fused_attention_bits, 64))
        return 0;
    for (const OperatorUse& use : work.operators)
        for (const Contraction& product : use.op->work.contractions)
            if (!product.weights_constant) { // the first product of two activations
                // Masked scores are computed and passed like the others.
                const auto& shape = use.op->work.attention;
                const double keys = shape ? shape->kv_length : product.n;
                const double queries = shape ? shape->query_length : product.m;
                if (queries >=
                    array.m.param(Parameter::fused_attention_rows, std::numeric_limits<double>::infinity()))
                    return 0;
                const double bytes = product.groups * product.m * keys * kBytes *
                                     (shape ? whole_heads(array, shape->heads) : 1);
                const double busy_cores = array.per_inference * array.parallel;
                return bytes > array.core_buffer * busy_cores ? bytes * kPasses : 0;
            }
    return 0;
}

/// 3 x 3 windows whose products Winograd's algorithm saves: 16 products make 2 x 2 outputs of 36.
static bool is_winograd(const Array& array, const OperatorWork& work) {
    constexpr std::array<double, 3> kWindow{1, 3, 3}, kOnce{1, 1, 1};
    return array.facts.winograd && work.kind == OpKind::convolution && work.window &&
           !work.window->transposed && work.window->kernel == kWindow && work.window->stride == kOnce &&
           work.window->dilation == kOnce;
}
constexpr double kWinogradProducts = 4.0 / 9, kWinogradWeights = 16.0 / 9;

/// Bytes that weights take where they are stored for the array, over what they have.
static double stored_weights(const Array& array, const SubgraphWork& work) {
    double bytes = 0, stored = 0;
    for (const OperatorUse& use : work.operators) {
        double factor = 1;
        if (is_winograd(array, use.op->work))
            factor = kWinogradWeights;
        else if (const auto& w = use.op->work.window; array.facts.whole_strides && w)
            for (std::size_t axis = 0; axis < w->kernel.size(); ++axis)
                factor *= padded(w->kernel[axis], w->stride[axis]) / w->kernel[axis];
        bytes += use.weight_bytes;
        stored += factor * use.weight_bytes;
    }
    return bytes > 0 ? stored / bytes : 1;
}

class NpuMapper final : public NetworkMapper,
                        public CountsOfStructure,
                        public KnowsArrangements,
                        public KnowsTiling {
  public:
    NpuMapper() = default;
    /// Networks that fit as one pipeline run in contexts all the same.
    explicit NpuMapper(bool in_contexts) : in_contexts_(in_contexts) {}
    std::string_view name() const override { return "spatial array"; }
    /// How a pipeline is cut into contexts weighs arithmetic against what crosses its border.
    bool counts_depend_on(Lever, const Machine& machine) const override {
        return machine.device->facts.as<NpuFacts>().dataflow_pipeline;
    }

    void map(const SubgraphWork& work, const NetworkWork& network, const Machine& machine,
             Mapping& out) const override {
        const Array array(machine, network, in_contexts_);
        count(array, stages_of(array, network), work, network, out);
    }

    void map_each(std::span<const std::uint32_t> which, const NetworkWork& network, const Machine& machine,
                  std::span<Mapping> out) const override {
        const Array array(machine, network, in_contexts_);
        const Stages stages = stages_of(array, network);
        for (std::size_t i = 0; i < which.size(); ++i)
            count(array, stages, network.subgraphs[which[i]], network, out[i]);
    }

    /// A pipeline that is full takes long intervals, and one whose layers each wait for whole images many of
    /// them; in contexts, a few layers have the array for themselves and their weights must come first.
    std::span<const std::shared_ptr<const Mapper>> other_arrangements(const NetworkWork& network,
                                                                      const Machine& machine) const override {
        static const std::array<std::shared_ptr<const Mapper>, 1> kContexts = {
            std::make_shared<const NpuMapper>(true)};
        if (in_contexts_ || !machine.device->facts.as<NpuFacts>().dataflow_pipeline ||
            (machine.rate(Resource::host_link_bytes) <= 0 && machine.rate(Resource::dram_bytes) <= 0))
            return {};
        if (network.weight_bytes > Array(machine, network).whole.weights)
            return {}; // runs in contexts anyway
        return kContexts;
    }

    std::optional<Tiled> tiling_of(const SubgraphWork& work, const NetworkWork& network,
                                   const Machine& machine) const override {
        const Array array(machine, network, in_contexts_);
        if (array.pipeline)
            return std::nullopt;
        return largest_tiled(work, machine, array.limits, array.images_at_work,
                             activations_stay(network, work, array.stays_in, 1));
    }

    NetworkMapping map_network(const NetworkWork& network, const Machine& machine) const override {
        NetworkMapping result = Mapper::map_network(network, machine);
        const Array array(machine, network, in_contexts_);
        for (std::size_t i = 0; i < result.fixed.demand_count; ++i)
            result.fixed.demands[i].amount /= array.independent();
        if (array.pipeline) {
            const Stages stages = stages_of(array, network);
            result.scheme = stages.placed ? "one pipeline" : "contexts in turn";
            result.sections = stages.contexts;
        }
        return result;
    }

  private:
    bool in_contexts_ = false;

    /// Cycles of one subgraph at the engines' full rates.
    struct Cycles {
        MatrixFormat format;
        double matrix = 0, depthwise = 0, vector = 0;
        double padded = 0;  ///< multiply-accumulates of dense products
        double fetched = 0; ///< bytes of inputs that the array takes out of the buffer
    };

    /// The stages of a pipeline, as they are laid out; none of other arrays.
    struct Stages {
        double cycles = 0;        ///< of the array, as its stages ask for
        double outside_bytes = 0; ///< of images that come in and go out
        bool placed = false;      ///< all of them side by side, for good
        double contexts = 0;
        double interval = 0;       ///< cycles between images of a context, in the mean
        double stretch = 1;        ///< intervals over what they hold: whole units are not all at work
        double crossing_bytes = 0; ///< of an image: out of contexts and into later ones
    };

    /// Where a compiler deals out whole units, depthwise layers draw on what aligns their inputs, which all
    /// of them share, and their few multiplications on one unit.
    static npu::Stage stage_of(const Array& array, const SubgraphWork& work, double clock, double batch) {
        Cycles cycles = cycles_of(array, work);
        npu::Stage stage;
        const double share = work.repeat / batch;
        if (array.whole.units > 0) {
            stage.pooled = share * cycles.depthwise / array.m.param(Parameter::depthwise_efficiency, 1);
            cycles.depthwise = 0;
        }
        stage.work = share * placed_cycles(array, cycles) * std::max(1.0, array.whole.units);
        stage.controllers = npu::layers_of(work, array.m);
        stage.per_controller = npu::units_of_controller(work, array.unit_channels);
        if (array.layer_bandwidth > 0)
            stage.floor = npu::largest_tensor_bytes(work, array.m) / array.layer_bandwidth * clock / batch;
        stage.weights = work.weight_bytes;
        return stage;
    }

    static Stages stages_of(const Array& array, const NetworkWork& network) {
        Stages all;
        if (!array.pipeline)
            return all;
        const std::size_t count = network.subgraphs.size();
        const bool classified = network.representatives.size() == count;
        const double units = std::max(1.0, array.whole.units);
        const double clock = array.m.rate(array.formats.of(network.subgraphs.front().precision).resource);
        std::vector<npu::Stage> stages(count);
        for (std::size_t i = 0; i < count; ++i) {
            const SubgraphWork& work = network.subgraphs[i];
            const std::size_t first = classified ? network.representatives[i] : i;
            stages[i] = stages[first]; // of a class the first
            if (first == i)
                stages[i] = stage_of(array, work, clock, network.batch);
            stages[i].crossing =
                i < network.memory.crossing.size() ? network.memory.crossing[i] / network.batch : 0;
            all.cycles += (stages[i].work / units + stages[i].pooled) * network.batch;
            all.outside_bytes += work.repeat * outside(array, work, network);
        }
        const std::vector<bool> decodes = npu::decodes_results(network);
        for (std::size_t i = 0; i < count; ++i)
            if (decodes[i])
                stages[i].controllers = 0;
        const double whole = array.may_place ? npu::shortest_interval(stages, array.whole) : 0;
        all.placed = whole > 0;
        if (all.placed) {
            all.contexts = 1;
            all.interval = whole;
        } else {
            const Machine& m = array.m;
            const double border = m.rate(array.own_dram ? Resource::dram_bytes : Resource::host_link_bytes);
            // The statistics of a row are awaited where a normalisation stands: its tensor waits outside.
            for (const SubgraphWork& work : network.subgraphs)
                if (work.kind == OpKind::normalization)
                    all.crossing_bytes += 2 * work.repeat * work.output_bytes / network.batch;
            const double outside = all.outside_bytes / network.batch + all.crossing_bytes;
            const double per_context = m.param(Parameter::frame_interval, 0);
            const npu::Plan plan =
                npu::plan_contexts(stages, array.context, [&](const npu::Plan& tried) { // seconds of an image
                    return combine(clock > 0 ? tried.cycles / clock : 0,
                                   per_context * static_cast<double>(tried.contexts.size()),
                                   border > 0 ? (outside + tried.crossing_bytes) / border : 0,
                                   m.combine_exponent);
                });
            all.contexts = static_cast<double>(plan.contexts.size());
            all.crossing_bytes += plan.crossing_bytes;
            all.interval = plan.cycles / std::max(1.0, all.contexts);
        }
        if (all.cycles > 0)
            all.stretch = all.interval * all.contexts * network.batch / all.cycles;
        return all;
    }

    static void count(const Array& array, const Stages& stages, const SubgraphWork& work,
                      const NetworkWork& network, Mapping& out) {
        const Machine& machine = array.m;
        const Cycles cycles = cycles_of(array, work);
        add_compute(array, cycles, stages.stretch, out);
        const double share = stages.cycles > 0 ? placed_cycles(array, cycles) / stages.cycles
                                               : 1 / static_cast<double>(network.subgraphs.size());
        if (array.pipeline)
            add_pipeline(array, stages, work, network, share, out);
        else
            add_layer_overhead(machine, 1, array.independent(), out);
        // Images stream into a pipeline while all of its stages work.
        add_memory(array, work, network,
                   array.pipeline ? (stages.outside_bytes + stages.crossing_bytes * network.batch) * share
                                  : outside(array, work, network),
                   out);
        count_arithmetic(work, network, machine, out);
        out.events[Event::l2_byte] += work.activation_bytes() + work.weight_bytes + cycles.fetched;
        out.events[Event::systolic_hop] += work.activation_bytes();
        describe(array, stages, work, share, cycles.padded, out);
        add_fallback(work, machine, out);
        out.ideal_cycles = 2 * work.macs / array.formats.of(work.precision).ops_per_cycle;
    }

    /// Activations of a subgraph that pass the chip's border.
    static double outside(const Array& array, const SubgraphWork& work, const NetworkWork& network) {
        return border_bytes(work, network) - (array.keeps_cache ? work.kv_bytes : 0);
    }

    /// Products in a format that only the vector engine has fill no array.
    static double padded_macs(const Array& array, const OperatorUse& use, const Contraction& c) {
        if (array.formats.of(use.compute).resource == Resource::vector_cycles)
            return c.macs();
        const OperatorWork& work = use.op->work;
        if (array.facts.row_stationary)
            return row_stationary_macs(array, work, c);
        double macs = pixel_padding(array, work, c);
        if (is_winograd(array, work))
            return macs * kWinogradProducts * tap_by_tap(array, *work.window);
        if (array.facts.array_pixels[0].known() && work.window)
            return macs * tap_by_tap(array, *work.window);
        return macs / c.macs() *
               (array.blocks_taps ? channel_padded_macs(work, c, array.rows, array.packs_rows)
                                  : flat_padded_macs(c, array.rows, array.cols));
    }

    /// Multiply-accumulates with the image padded to the pixels that the array takes at once.
    static double pixel_padding(const Array& array, const OperatorWork& work, const Contraction& c) {
        if (array.pixels[0] * array.pixels[1] <= 1)
            return c.macs();
        if (!work.window)
            return c.macs() * padded(c.m, array.pixels[0] * array.pixels[1]) / c.m;
        const Window& w = *work.window;
        return c.macs() * padded(w.out[1], array.pixels[0]) / w.out[1] * padded(w.out[2], array.pixels[1]) /
               w.out[2];
    }

    /// Padded over useful products where the channels of each tap fill the array.
    static double tap_by_tap(const Array& array, const Window& w) {
        return padded(group_inputs(w), array.rows) / group_inputs(w) * padded(group_outputs(w), array.cols) /
               group_outputs(w);
    }

    /// Rows of the kernel lie along the array's rows, rows of the output along its columns, in as many strips
    /// as they need; sets of channels fill what is left. Worked: 3 rows of taps and 13 of outputs on 12 x 14
    /// are 4 sets of 39 of 168 elements; 5 and 27 are two strips of 14, 67.5 elements at work in each of 2
    /// sets.
    static double row_stationary_macs(const Array& array, const OperatorWork& work, const Contraction& c) {
        const double taps = work.window ? work.window->kernel[1] : 1;
        const double outputs = work.window ? work.window->out[1] : std::max(1.0, c.m);
        const double folds = blocks(taps, array.rows), strips = blocks(outputs, array.cols);
        const double rows = std::ceil(taps / folds), cols = std::ceil(outputs / strips);
        const double sets = std::floor(array.rows / rows) * std::floor(array.cols / cols);
        const double at_work = sets * (taps / folds) * (outputs / strips);
        // All sets work on outputs of their own, and hand their sums on after as many inputs as elements
        // hold.
        double stall = 1;
        if (const Fact& port = array.facts.sum_port, &held = array.facts.held_inputs; port.known())
            stall = std::max(1.0, sets * cols * bytes_of(Precision::int16) / port.value / taps /
                                      std::max(1.0, std::floor(held.value_or(1) / taps)));
        return c.macs() * array.rows * array.cols / at_work * stall;
    }

    /// The layers of a pipeline are placed as they are, but groups are too narrow for its arrays.
    static double placed_macs(const Array& array, const OperatorUse& use, const Contraction& c) {
        const OperatorWork& work = use.op->work;
        return work.kind == OpKind::convolution && work.window && work.window->groups > 1 &&
                       !is_depthwise(work)
                   ? grouped_macs(work, c, array.rows, array.cols)
                   : c.macs();
    }

    static Cycles cycles_of(const Array& array, const SubgraphWork& work) {
        const Machine& m = array.m;
        Cycles sum;
        sum.format = array.formats.of(work.precision);
        const bool depthwise_apart = m.parameters.fact(Parameter::depthwise_efficiency).known();
        for (const OperatorUse& use : work.operators) {
            if (on_host(use, m))
                continue;
            for (const Contraction& c : use.op->work.contractions) {
                // A fetch serves all output channels that the array makes at once.
                if (array.fetches)
                    sum.fetched += c.macs() / std::min(array.cols, c.n) * bytes_of(use.compute);
                sum.format = array.formats.of(use.compute);
                const double rate =
                    sum.format.ops_per_cycle * array.share * array.parallel / sum.format.passes;
                if (is_depthwise(use.op->work) && depthwise_apart) {
                    // One input channel for each output channel leaves the other inputs of a unit idle.
                    sum.depthwise += 2 * c.macs() / rate * std::max(1.0, array.unit_channels);
                } else {
                    const double macs =
                        array.pipeline ? placed_macs(array, use, c) : padded_macs(array, use, c);
                    sum.padded += macs;
                    const auto& heads = use.op->work.attention;
                    sum.matrix += 2 * macs / rate *
                                  (heads && !c.weights_constant ? whole_heads(array, heads->heads) : 1);
                }
            }
        }
        if (array.vector_rate > 0)
            sum.vector = vector_work(work, m).operations / array.vector_rate;
        return sum;
    }

    static void add_compute(const Array& array, const Cycles& sum, double stretch, Mapping& out) {
        out.add(sum.format.resource, Lane::compute, sum.matrix * stretch, sum.format.efficiency,
                Parameter::matrix_efficiency);
        // Depthwise runs at a share of the array's own rate.
        out.add(sum.format.resource, Lane::compute, sum.depthwise * stretch,
                array.m.param(Parameter::depthwise_efficiency, 1), Parameter::depthwise_efficiency);
        out.add(Resource::vector_cycles, Lane::compute, sum.vector * stretch,
                array.m.param(Parameter::vector_efficiency, 1), Parameter::vector_efficiency);
    }

    /// Cycles that a stage of a pipeline occupies the array, as it is placed. It has the same share of
    /// everything that the interval between images holds: the stages' times add up to what the whole takes,
    /// whatever combines compute and transfers. Worked: a dense layer of 3 and a depthwise one of 1 million
    /// multiply-accumulates at a tenth of its rate take 3 and 10 shares of 13.
    static double placed_cycles(const Array& array, const Cycles& sum) {
        return sum.matrix / sum.format.efficiency +
               sum.depthwise / array.m.param(Parameter::depthwise_efficiency, 1) +
               sum.vector / array.m.param(Parameter::vector_efficiency, 1);
    }

    /// Layers side by side share the array by their work, so a layer's demand is its share of the interval
    /// between images; the shortest interval that input and output allow is shared out the same way.
    static void add_pipeline(const Array& array, const Stages& stages, const SubgraphWork& work,
                             const NetworkWork& network, double share, Mapping& out) {
        const Machine& m = array.m;
        out.add(Resource::seconds, Lane::on_chip,
                m.param(Parameter::frame_interval, 0) * network.batch * stages.contexts * share, 1,
                Parameter::frame_interval);
        if (!stages.placed) {
            // Contexts are loaded in turn, once for a batch: each changes the configuration and brings its
            // weights.
            out.add(Resource::seconds, Lane::overhead,
                    m.param(Parameter::context_switch, 0) * npu::layers_of(work, m), 1,
                    Parameter::context_switch);
            out.add(array.own_dram ? Resource::weight_bytes : Resource::host_link_bytes, Lane::overhead,
                    work.weight_bytes);
            out.events[array.own_dram ? Event::dram_byte : Event::host_link_byte] += work.weight_bytes;
            out.events[Event::configuration_byte] += work.weight_bytes;
            return;
        }
        if (m.scenario != Scenario::latency)
            return;
        // A single image also waits at every layer for the first rows it needs; all layers take the whole
        // interval.
        const MatrixFormat& format = array.formats.of(work.precision);
        out.add(format.resource, Lane::overhead,
                stages.interval * format.efficiency * rows_awaited(work, network.batch), format.efficiency,
                Parameter::matrix_efficiency);
    }

    /// Weights that stay on chip are read once and for all. The rest, and activations beyond the buffer, move
    /// for every inference: from DRAM, or from the host where the chip has none.
    static void add_memory(const Array& array, const SubgraphWork& work, const NetworkWork& network,
                           double outside, Mapping& out) {
        const Machine& m = array.m;
        const bool own_dram = array.own_dram;
        if (!own_dram && m.rate(Resource::host_link_bytes) <= 0)
            return;
        const auto charge = [&](Resource resource, Lane lane, double bytes, double efficiency = 1,
                                Parameter reason = Parameter::count_) {
            out.add(resource, lane, bytes, efficiency, reason);
            out.events[own_dram ? Event::dram_byte : Event::host_link_byte] += bytes;
        };
        const double missing =
            network.weight_bytes > 0 ? std::max(0.0, 1 - array.weights_held / network.weight_bytes) : 1;
        // Weights of a pipeline stay, or come with the contexts.
        const double stored = array.pipeline ? 0 : stored_weights(array, work);
        const double weights = stored * work.weight_bytes * missing;
        // Ranks that share a head of keys read a copy each.
        const AttentionShape* heads = array.keeps_cache ? nullptr : attention_of(work);
        const double copies = heads ? work.kv_bytes * (whole_heads(array, heads->kv_heads) - 1) : 0;
        // A pipeline streams from layer to layer.
        const bool stays = array.pipeline || activations_stay(network, work, array.stays_in, 1);
        tiling::Limits limits = array.limits;
        limits.width[static_cast<std::size_t>(tiling::Operand::weight)] = stored;
        const Again again = stays ? Again{} : moved_again(work, m, limits, array.images_at_work);
        const Resource ahead = own_dram ? Resource::weight_bytes : Resource::host_link_bytes;
        const double streamed = weights + again.weights * stored * missing + copies;
        const double coded = array.facts.coded_activations.value_or(1);
        const bool waits = array.activations_lane == Lane::overhead;
        charge(ahead, Lane::memory, waits ? streamed : streamed + coded * outside);
        charge(ahead, Lane::overhead, waits ? coded * outside : 0);
        if (!stays)
            charge(own_dram ? Resource::dram_bytes : Resource::host_link_bytes, array.activations_lane,
                   coded * (work.activation_bytes() - outside + again.activations) *
                       m.param(Parameter::spill_share, 1));
        if (const double scores = own_dram ? spilled_score_bytes(array, work) : 0; scores > 0)
            charge(Resource::dram_bytes, Lane::memory, scores,
                   array.m.param(Parameter::spilled_score_bandwidth_efficiency, 1),
                   Parameter::spilled_score_bandwidth_efficiency);
    }

    static void describe(const Array& array, const Stages& stages, const SubgraphWork& work, double share,
                         double padded, Mapping& out) {
        Allocation& a = out.allocation;
        a.units_total = array.cores;
        a.units_used = array.per_inference * std::ceil(array.parallel);
        if (array.pipeline)
            a.units_used *= std::min(1.0, share * stages.contexts); // contexts take unlike times
        a.tile_k = static_cast<std::uint16_t>(array.rows);
        a.tile_n = static_cast<std::uint16_t>(array.cols);
        a.useful_fraction = padded > 0 ? std::min(1.0, work.macs / padded) : 1;
        a.scheme = array.pipeline ? (stages.placed ? "pipeline stage" : "context") : "spatial array";
    }
};

static double buffer_bytes(const Machine& machine) {
    const Fact& stated = machine.device->facts.as<NpuFacts>().sram_bytes;
    return stated.known() ? stated.value : on_chip_bytes(machine);
}

static double held_weight_bytes(const Machine& machine) {
    return machine.device->facts.as<NpuFacts>().on_chip_weight_bytes.value_or(0);
}

constexpr std::array kNpuProperties = {
    FamilyProperty{kProgrammability, "runs compiled networks",
                   "Arm, Ethos-U data sheets; Hailo Dataflow Compiler user guide: a compiler lowers whole "
                   "networks onto it"},
    FamilyProperty{
        "flexibility", "runs what its compiler knows",
        "Arm, Vela compiler, SUPPORTED_OPS.md: operators outside the constraints stay on the host"},
    FamilyProperty{"build", "compiled ahead of time",
                   "Hailo Dataflow Compiler user guide; Arm, Vela compiler"}};

constinit const FamilyRow family::npu{.name = "npu",
                                      .title = "NPU",
                                      .block = "npu",
                                      .doc = "Generic spatial array.",
                                      .facts = kNpuFacts,
                                      .make_facts = empty_facts<NpuFacts>,
                                      .mapper = only_mapper<NpuMapper>,
                                      .managed_memory = buffer_bytes,
                                      .weight_memory = held_weight_bytes,
                                      .properties = kNpuProperties};

} // namespace archsim
