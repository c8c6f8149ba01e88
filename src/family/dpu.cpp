// FPGA DPU: cores of a fixed convolution loop nest, each with batch handlers (engines that work on one image
// each and share weight loads), a narrow engine for depthwise convolution and pooling, DRAM shared by the
// cores, and the host for what the instruction set lacks. On Versal the products run on AI engines in a clock
// domain of their own.

#include "family/dpu_cycles.hpp"
#include "family/table.hpp"
#include "map/accelerator.hpp"
#include "map/buffers.hpp"
#include "map/counts_of_structure.hpp"
#include "map/neighbours.hpp"
#include "map/tiled.hpp"

#include <algorithm>
#include <array>

namespace archsim {

using namespace accelerator;

struct DpuFacts : TiledFacts<DpuFacts> {
    Fact cores, pixel_parallel, input_channel_parallel, output_channel_parallel, depthwise_pixel_parallel;
    Fact batch_handlers; ///< images that share one weight load
    Fact aie, pl_clock, vector_channels;
    Fact feature_buffer; ///< bytes of one image's map that a handler holds to read, and as many to write
    Fact alu_engines;
};

struct DpuCore {
    DpuCore(const Machine& machine, const NetworkWork& work) : m(machine), network(work) {
        const DpuFacts& facts = machine.device->facts.as<DpuFacts>();
        count = std::max(1.0, facts.cores.value_or(1) * machine.active_fraction);
        handlers = std::max(1.0, facts.batch_handlers.value_or(1));
        ai_engines = facts.aie.value_or(0) > 0;
        loops.pixels = facts.pixel_parallel.value_or(1);
        loops.inputs = facts.input_channel_parallel.value_or(1);
        loops.outputs = facts.output_channel_parallel.value_or(1);
        // PG338 recommends half the pixel parallelism for the narrow engine.
        loops.alu_pixels = facts.depthwise_pixel_parallel.value_or(std::max(1.0, loops.pixels / 2));
        feature_buffer = facts.feature_buffer;
        limits = limits_of(facts, on_chip_bytes(machine) / count);
        if (facts.feature_buffer.known()) // of one image, to read and to write
            limits.own = {feature_buffer.value, limits.own[1], feature_buffer.value};
        alu_beside = facts.alu_engines.value_or(0) > 0;
        images = network.batch;
        saturated = machine.scenario == Scenario::throughput;
        // Requests in a queue fill every handler; a single request leaves the last round partly empty.
        rounds = saturated ? images / handlers : std::ceil(images / handlers);
        if (ai_engines && facts.pl_clock.known())
            fabric_cycle = machine.rate(Resource::matrix_cycles) / facts.pl_clock.value;
    }
    const Machine& m;
    const NetworkWork& network;
    double count = 1, handlers = 1, images = 1, rounds = 1;
    bool ai_engines = false, saturated = false, alu_beside = false;
    dpu::Parallelism loops;
    Fact feature_buffer;
    tiling::Limits limits;   ///< of one core
    double fabric_cycle = 1; ///< one cycle of the programmable logic, in cycles of the operating clock
};

/// Cycles of one image on one handler.
struct Cycles {
    double products = 0; ///< convolution engine or AI engines
    double narrow = 0;   ///< depthwise, pooling, activations
    double layers = 0;   ///< instructions that pay the fixed cost per layer
    double passes = 0;   ///< times that the output is read or written again behind a product
};

class DpuMapper final : public ViewMapper<DpuCore>, public CountsOfStructure, public KnowsTiling {
  public:
    std::string_view name() const override { return "DPU loop nest"; }
    std::optional<Tiled> tiling_of(const SubgraphWork& work, const NetworkWork& network,
                                   const Machine& machine) const override {
        const DpuCore core(machine, network);
        return largest_tiled(work, machine, core.limits, core.images, false);
    }

    /// Cycles of the programmable logic are counted in those of the engines' clock.
    bool counts_depend_on(Lever lever, const Machine&) const override { return lever == Lever::peak; }

    LooksAt looks_at() const override { return LooksAt::neighbours; }

    NetworkMapping map_network(const NetworkWork& network, const Machine& machine) const override {
        NetworkMapping result = Mapper::map_network(network, machine);
        // Each core's share of the DRAM is in its own demands.
        if (machine.scenario == Scenario::throughput)
            result.instances = DpuCore(machine, network).count;
        return result;
    }

  protected:
    void count(const DpuCore& core, const SubgraphWork& work, Mapping& out) const override {
        const Machine& machine = core.m;
        const NetworkWork& network = core.network;
        const Cycles cycles = count_cycles(core, work, network);
        const MatrixFormat format = matrix_format(machine, network.precision, work.precision);
        out.add(format.resource, Lane::compute, cycles.products * core.rounds, format.efficiency,
                Parameter::matrix_efficiency);
        // The loop nest hands layers to the narrow engine in program order; AI engines run beside the logic.
        out.add(Resource::vector_cycles, core.ai_engines ? Lane::on_chip : Lane::compute,
                cycles.narrow * core.rounds * core.fabric_cycle);
        add_memory(core, work, cycles.passes, out);
        // Handlers of a loop-nest core fill and drain one after another, so a round hides part of it.
        add_layer_overhead(machine, cycles.layers * core.rounds, core.ai_engines ? 1 : core.handlers, out);
        count_arithmetic(work, network, machine, out);
        out.events[Event::l2_byte] += work.unfused_bytes;
        out.events[Event::routing_byte] += work.unfused_bytes;
        describe(core, work, cycles, out);
        add_fallback(work, machine, out);
        out.ideal_cycles = 2 * work.macs / format.ops_per_cycle;
    }

  private:
    static Cycles count_cycles(const DpuCore& core, const SubgraphWork& work, const NetworkWork& network) {
        Cycles cycles;
        double activation = 0, operands = 0;
        bool folds = false;
        double elements = 0;
        for (const OperatorUse& use : work.operators) {
            if (on_host(use, core.m))
                continue;
            const OperatorWork& w = use.op->work;
            elements = std::max({elements, use.input_elements, use.output_elements});
            folds = folds || !w.contractions.empty();
            if (is_depthwise(w)) {
                cycles.narrow += narrow_window(core, *w.window, Parameter::depthwise_rate);
                cycles.layers += 1;
            } else if (w.kind == OpKind::pooling && w.window) {
                cycles.narrow += pooling_cycles(core, work, *w.window);
                cycles.layers += 1;
            } else if (!w.contractions.empty()) {
                cycles.products += product_cycles(core, use, network);
                cycles.layers += 1;
            } else if (use.op->type == "BatchNormalization" && !folds) {
                // Without a product before it to fold into, the quantiser makes it a depthwise convolution of
                // one tap (Vitis AI, vai_q_tensorflow2: convert_bn_to_dwconv, on unless told otherwise).
                cycles.narrow += narrow_scaling(core, use.output_elements / core.images);
                cycles.layers += 1;
            } else if (w.kind == OpKind::reduction) { // a mean over the image is a global pooling
                cycles.narrow += narrow_elements(core, use.input_elements / core.images);
                cycles.layers += 1;
            } else if (w.kind == OpKind::elementwise) {
                if (is_curve(*use.op))
                    activation = std::max(activation, use.output_elements);
                operands = std::max(operands, use.op->type == "HardSwish" ? 2 * use.output_elements
                                                                          : use.input_elements);
            }
        }
        // A second tensor means an element-wise instruction of its own, also behind a convolution.
        const bool joins = work.extra_bytes > 0 && work.kind != OpKind::data_movement;
        cycles.layers += joins;
        // Work that follows no layer which it could fold into passes through the narrow engine for itself.
        // Moves of data are copies in memory.
        if (cycles.layers == 0 && elements > 0 && work.kind != OpKind::data_movement) {
            cycles.layers = 1;
            cycles.narrow += narrow_elements(core, elements / core.images);
        }
        // AI engines leave it to the logic beside them, and apply the piecewise linear forms of sigmoid and
        // swish that quantised networks take to what they produce.
        if (core.ai_engines)
            return cycles;
        // Other convolution engines clamp at most: a sigmoid passes through the narrow engine, and the
        // product with its argument through the element-wise one, which reads one operand after the other.
        // Worked: the sum of two tensors of 56 x 56 x 256 takes 2 x 802816 / 64 = 25088 cycles, as many as
        // the convolution of 64 to 256 channels before it.
        cycles.narrow += narrow_elements(core, activation / core.images);
        const bool gates = activation > 0 && operands > activation;
        if (joins || gates)
            cycles.narrow += narrow_elements(core, operands / core.images);
        cycles.passes = (activation > 0 ? 2 : 0) + (gates ? 3 : 0); // in, out; argument, factor, product
        return cycles;
    }

    /// Sigmoids, exact or hard, hyperbolic tangents and the like: what takes more than a limit. A swish is
    /// one and a product with its argument. A quotient by a constant is folded into the scales of 8 bits.
    static bool is_curve(const Operator& op) {
        return op.type == "HardSigmoid" || op.type == "HardSwish" ||
               (op.work.special_ops > 0 && op.type != "Div");
    }

    static double product_cycles(const DpuCore& core, const OperatorUse& use, const NetworkWork& network) {
        const OperatorWork& w = use.op->work;
        if (!core.ai_engines)
            return loop_cycles(core, w);
        // All AI engines of a core work on as many images as it has handlers.
        const MatrixFormat format = matrix_format(core.m, network.precision, use.compute);
        const double macs = loop_cycles(core, w) * core.loops.pixels * core.loops.inputs * core.loops.outputs;
        return 2 * macs * core.handlers * core.count / format.ops_per_cycle;
    }

    static double loop_cycles(const DpuCore& core, const OperatorWork& w) {
        if (w.kind == OpKind::convolution && w.window)
            return dpu::convolution_cycles(*w.window, core.loops);
        double cycles = 0;
        for (const Contraction& c : w.contractions)
            cycles += dpu::product_cycles(c, core.images, core.loops);
        return cycles;
    }

    static double narrow_window(const DpuCore& core, const Window& w, Parameter rate) {
        const Fact& fitted = core.m.parameters.fact(rate);
        if (!core.ai_engines || !fitted.known())
            return dpu::window_cycles(w, core.loops);
        const double taps = w.out_pixels() * w.taps() * w.out_channels;
        return taps / (rate == Parameter::depthwise_rate ? fitted.value / 2 : fitted.value);
    }

    /// Pooling beside products of the same map (a branch of an Inception block) shows as far as it outlasts
    /// them, where it has an engine of its own.
    static double pooling_cycles(const DpuCore& core, const SubgraphWork& work, const Window& w) {
        double cycles = narrow_window(core, w, Parameter::pooling_rate);
        if (!core.alu_beside)
            return cycles;
        for_each_neighbour(*core.network.partition, work.index, [&](std::uint32_t i) {
            for (const OperatorUse& use : core.network.subgraphs[i].operators)
                if (!use.op->work.contractions.empty() && !is_depthwise(use.op->work))
                    cycles -= loop_cycles(core, use.op->work) /
                              matrix_format(core.m, core.network.precision, use.compute).efficiency;
        });
        return std::max(0.0, cycles);
    }

    /// Operations on single elements at the width of the engine that runs depthwise convolution.
    static double narrow_elements(const DpuCore& core, double operations) {
        const Fact& fitted = core.m.parameters.fact(Parameter::depthwise_rate);
        return core.ai_engines && fitted.known() ? operations / fitted.value
                                                 : dpu::element_cycles(operations, core.loops);
    }

    /// A multiplication and an addition for each element, a depthwise convolution of one tap: two operations
    /// of the rate of builds with AI engines, one cycle's place in the loop nest.
    static double narrow_scaling(const DpuCore& core, double elements) {
        return narrow_elements(core, (core.ai_engines ? 2 : 1) * elements);
    }

    static void add_memory(const DpuCore& core, const SubgraphWork& work, double passes, Mapping& out) {
        const Machine& m = core.m;
        // A look-up reads the rows of all images once, whatever the rounds.
        // Of a map that lies whole in its buffer nothing is read again: its output channels take turns.
        const bool whole = core.feature_buffer.known() && !(beyond_buffer(core, work.input_bytes) > 0);
        const Again again = whole ? Again{} : moved_again(work, m, core.limits, core.images);
        const double weights =
            (work.weight_bytes + again.weights) * (work.kind == OpKind::data_movement ? 1 : core.rounds);
        if (m.rate(Resource::weight_bytes) > 0)
            add_dram(out, Resource::weight_bytes, Lane::memory, weights,
                     core.saturated ? 1 / core.count : 1.0);
        // The load port of one core: as wide as its handlers' ports together.
        const double port = m.param(Parameter::weight_port, 0) * core.handlers;
        if (!core.ai_engines && port > 0)
            out.add(Resource::matrix_cycles, Lane::on_chip, weights / port, 1, Parameter::weight_port);
        if (work.kind == OpKind::data_movement && m.rate(Resource::dram_bytes) > 0)
            add_dram(out, Resource::dram_bytes, Lane::memory, work.activation_bytes());
        else
            add_spill(core, work, passes, again.activations, out);
    }

    /// Maps too large for their buffer go out to DRAM. Between products they move in strips under the
    /// arithmetic: energy, but no visible time. What only passes over a map (pooling, scales, sums of two
    /// maps, curves behind a product) has too little arithmetic to hide it.
    static void add_spill(const DpuCore& core, const SubgraphWork& work, double passes, double refetched,
                          Mapping& out) {
        const double again = passes * beyond_buffer(core, work.output_bytes) + refetched;
        const double once = beyond_buffer(core, work.input_bytes) + beyond_buffer(core, work.extra_bytes) +
                            beyond_buffer(core, work.output_bytes);
        const bool hidden = work.macs > 0 && work.extra_bytes == 0;
        const double seen = core.feature_buffer.known() ? again + (hidden ? 0 : once) : refetched;
        if (core.m.rate(Resource::dram_bytes) > 0)
            add_dram(out, Resource::dram_bytes, Lane::memory, seen, core.saturated ? 1 / core.count : 1.0);
        out.events[Event::dram_byte] += again + once - seen;
    }

    /// All of a map that one image's buffer does not hold, else nothing.
    static double beyond_buffer(const DpuCore& core, double bytes) {
        const double room = core.feature_buffer.value_or(on_chip_bytes(core.m) / core.count / 2);
        return bytes / core.images > room ? bytes : 0;
    }

    static void describe(const DpuCore& core, const SubgraphWork& work, const Cycles& cycles, Mapping& out) {
        Allocation& a = out.allocation;
        a.units_total = core.count;
        a.units_used = core.saturated ? core.count : 1;
        a.waves = core.rounds;
        a.tile_m = static_cast<std::uint16_t>(core.loops.pixels);
        a.tile_n = static_cast<std::uint16_t>(core.loops.outputs);
        a.tile_k = static_cast<std::uint16_t>(core.loops.inputs);
        const double per_cycle = core.loops.pixels * core.loops.inputs * core.loops.outputs;
        if (!core.ai_engines && cycles.products > 0)
            a.useful_fraction = std::min(1.0, work.macs / core.images / (cycles.products * per_cycle));
        a.scheme =
            cycles.products > 0 ? (core.ai_engines ? "AI engines" : "convolution engine") : "narrow engine";
    }
};

constexpr std::array kOwnDpuFacts = {
    fact("cores", &DpuFacts::cores, "Cores, each with its own instruction stream.",
         {.high = 4096, .scales_with = Structure::units}),
    fact("pixel_parallel", &DpuFacts::pixel_parallel, "Output pixels per clock.",
         {.high = 65536, .required = true}),
    fact("input_channel_parallel", &DpuFacts::input_channel_parallel, "Input channels per clock.",
         {.high = 65536, .scales_with = Structure::array, .required = true}),
    fact("output_channel_parallel", &DpuFacts::output_channel_parallel, "Output channels per clock.",
         {.high = 65536, .scales_with = Structure::array, .required = true}),
    fact("depthwise_pixel_parallel", &DpuFacts::depthwise_pixel_parallel,
         "Output pixels per clock of the narrow engine.", {.high = 65536}),
    fact("vector_channels", &DpuFacts::vector_channels, "Channels per clock of the narrow engine.",
         {.high = 65536}),
    fact("batch_handlers", &DpuFacts::batch_handlers, "Images of a core that share one weight load.",
         {.high = 4096}),
    fact("alu_engines", &DpuFacts::alu_engines,
         "Engines for depthwise convolution and pooling that work beside the convolution engine.",
         {.low = 0, .high = 64}),
    fact("feature_buffer", &DpuFacts::feature_buffer,
         "What a handler holds of an image's feature map to read, and as much to write.",
         {.unit = "B", .high = 1e9}),
    fact("aie", &DpuFacts::aie, "AI engines (Versal).", {.low = 0, .high = 65536}),
    fact("pl_clock", &DpuFacts::pl_clock, "Clock of the programmable logic.",
         {.unit = "Hz", .low = 1e6, .high = 1e10, .scales_with = Structure::clock}),
};

constexpr auto kDpuFacts = with_rows(kOwnDpuFacts, kBufferRows);

constexpr std::array kDpuProperties = {
    FamilyProperty{kProgrammability, "reconfigurable",
                   "AMD PG338, DPUCZDX8G product guide: an IP core in programmable logic, with architectures "
                   "B512 to B4096"},
    FamilyProperty{"flexibility", "runs what its compiler knows",
                   "AMD UG1414, Vitis AI user guide: operators that the DPU lacks run on the CPU"}};

constinit const FamilyRow family::dpu{.name = "dpu",
                                      .title = "DPU",
                                      .block = "dpu",
                                      .doc = "FPGA DPU facts.",
                                      .facts = kDpuFacts,
                                      .make_facts = empty_facts<DpuFacts>,
                                      .mapper = only_mapper<DpuMapper>,
                                      .properties = kDpuProperties};

} // namespace archsim
