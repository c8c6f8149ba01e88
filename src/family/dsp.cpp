// DSP: a tensor unit and a wide-vector unit that take turns on one network, a scratchpad, and DRAM behind
// DMA. The database tells two kinds apart: a matrix accelerator of known sides, whose reduction is flattened
// over taps and channels (TI MMA), and a tensor unit that pads the channels of every tap to a block
// (Hexagon).

#include "family/table.hpp"
#include "hardware/reference_machine.hpp"
#include "map/accelerator.hpp"
#include "map/buffers.hpp"
#include "map/counts_of_structure.hpp"
#include "map/tiled.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace archsim {

using namespace accelerator;

struct DspFacts : TiledFacts<DspFacts> {
    Fact mma_count, mma_rows, mma_cols, hvx_units, scratchpad_bytes;
    Fact dram_channel;           ///< rate of one 16-bit channel of the DRAM
    Fact port_bytes_per_clock;   ///< one core's port into the chip's interconnect: bytes per tensor clock
    Fact host_clock, host_width; ///< of the core that starts inferences: instructions it decodes per clock
    Fact host_guest;             ///< 1: its system is a guest of a hypervisor
};

/// The fixed time of an inference is code of the host. Stacks state it beside a host that decodes so many
/// instructions per second.
static double stated_host() {
    static const double rate = reference_decode_rate("dsp");
    return rate;
}

/// Fixed time beside this chip's host relative to what stacks state; 1 where the host is not known. Worked:
/// eight per clock of 4.32 GHz take 0.29 of it.
static double relative_start(const Machine& machine) {
    const DspFacts& facts = machine.device->facts.as<DspFacts>();
    const double rate = facts.host_clock.value_or(0) * facts.host_width.value_or(0);
    return rate > 0 ? stated_host() / rate : 1;
}

/// Whether vectors are of 16-bit floats.
static bool half_floats(const PrecisionConfig& precision) {
    return !is_integer(precision.weights) && bits_of(precision.activations) == 16;
}

/// Whether a network continues from keys and values of earlier steps. Such a one is compiled to get them, and
/// to return them, as it wrote them; any other is handed fp32, and returns it.
static bool continues(const NetworkWork& network) {
    return std::ranges::any_of(network.subgraphs, [](const SubgraphWork& s) { return s.kv_bytes > 0; });
}

/// The part of the chip that one network gets.
struct DspCore {
    DspCore(const Machine& machine, const NetworkWork& work)
        : m(machine), network(work), formats(machine, work.precision) {
        const DspFacts& facts = machine.device->facts.as<DspFacts>();
        count = std::max(1.0, facts.mma_count.value_or(1));
        per_inference = std::min(count, machine.param(Parameter::cores_per_inference, 1));
        share = per_inference / count;
        rows = facts.mma_rows.value_or(0);
        cols = facts.mma_cols.value_or(rows);
        block = machine.param(Parameter::channel_block, 1);
        packs_rows = machine.param(Parameter::row_packing, 0) > 0.5;
        vector_rate = vector_ops_per_cycle(machine) * share;
        if (half_floats(work.precision))
            vector_rate /= machine.param(Parameter::half_vector_relative_cost, 1);
        scratchpad = managed_memory_bytes(machine);
        limits = limits_of(facts, scratchpad, std::max(1.0, cols));
        stays_in = between_layers(facts, scratchpad / 2);
        narrow = matrix_format(machine, PrecisionConfig::uniform(Precision::int8), Precision::int8);
        // Neither device nor stack states vector units: what follows a square array is as wide as its side.
        if (!(vector_rate > 0) && narrow.ops_per_cycle > 0)
            vector_rate = std::sqrt(narrow.ops_per_cycle / 2) * share;
    }
    /// Products in a format that only the vector units have fill no array.
    double padded_macs(const OperatorUse& use, const Contraction& c) const {
        if (formats.of(use.compute).resource == Resource::vector_cycles)
            return c.macs();
        return rows > 0 ? flat_padded_macs(c, rows, cols)
                        : channel_padded_macs(use.op->work, c, block, packs_rows);
    }
    const Machine& m;
    const NetworkWork& network;
    MatrixFormats formats;
    MatrixFormat narrow; ///< of 8-bit products
    double count = 1, per_inference = 1, share = 1, rows = 0, cols = 0, block = 1;
    double vector_rate = 0, scratchpad = 0;
    tiling::Limits limits;
    double stays_in = 0; ///< bytes of a layer's input and output; the rest holds the tiles in flight
    bool packs_rows = false;
};

class DspMapper final : public ViewMapper<DspCore>, public CountsOfStructure, public KnowsTiling {
  public:
    std::string_view name() const override { return "tensor and vector DSP"; }
    std::optional<Tiled> tiling_of(const SubgraphWork& work, const NetworkWork& network,
                                   const Machine& machine) const override {
        const DspCore core(machine, network);
        return largest_tiled(work, machine, core.limits, 1,
                             work.activation_bytes() - outside_bytes(work) <= core.stays_in);
    }

    NetworkMapping map_network(const NetworkWork& network, const Machine& machine) const override {
        NetworkMapping result;
        add_inference_overhead(network, machine, result.fixed, relative_start(machine));
        if (machine.device->facts.as<DspFacts>().host_guest.value_or(0) > 0.5)
            add_start_time(machine, Parameter::guest_overhead, 1, result.fixed);
        const DspCore core(machine, network);
        if (bits_of(network.precision.activations) >= 16)
            add_conversion(core, result.fixed);
        add_requantized(core, result.fixed);
        if (machine.scenario == Scenario::throughput) {
            result.instances = core.count / core.per_inference;
            result.shared_exponent = machine.param(Parameter::instance_sharpness, result.shared_exponent);
        }
        return result;
    }

  protected:
    void count(const DspCore& core, const SubgraphWork& work, Mapping& out) const override {
        const double padded = add_tensor(core, work, out);
        VectorWork vector = vector_work(work, core.m);
        if (half_floats(core.network.precision))
            vector.operations +=
                (core.m.param(Parameter::half_activation_relative_cost, 1) - 1) * vector.exponentials;
        add_vector(core, vector, out);
        add_memory(core, work, out);
        add_overhead(core, vector, out);
        add_fallback(work, core.m, out);
        count_events(core, work, vector, out);
        const MatrixFormat& format = core.formats.of(work.precision);
        // A fitted rate above the nominal one says that the nominal peak is understated.
        out.ideal_cycles =
            2 * work.macs /
            (format.ops_per_cycle * std::max(1.0, core.m.param(Parameter::matrix_efficiency, 1.0)));
        describe(core, work, padded, out);
    }

  private:
    /// Float and 16-bit inputs and outputs change format and layout on the chip itself. The caller's are
    /// read, and written back in the chip's own format, before the first layer reads them or after the last
    /// one wrote them. The rate is that of plain loads, few at a time: it follows the rate of a channel of
    /// the DRAM, not how many there are. Worked: the 27.6 million keys and values that a step of Whisper
    /// small's decoder is given are 110 MB, 3 ms at 2.2 channels of 16.8 GB/s.
    static void add_conversion(const DspCore& core, Mapping& out) {
        const NetworkWork& network = core.network;
        const bool same_format = continues(network);
        if (!same_format)
            out.add(core.narrow.resource, Lane::overhead,
                    network.batch * core.m.param(Parameter::conversion_work, 0) /
                        (core.narrow.ops_per_cycle * core.share),
                    core.narrow.efficiency, Parameter::conversion_work);
        const double dram = core.m.rate(Resource::dram_bytes);
        if (!(dram > 0))
            return;
        const double width = bytes_of(network.precision.activations);
        const double callers = same_format ? width : bytes_of(Precision::fp32);
        const double elements = (network.input_bytes + network.output_bytes) / width;
        const double loads = core.m.device->facts.as<DspFacts>().dram_channel.value_or(0) *
                             core.m.param(Parameter::conversion_channels, 0);
        add_dram(out, Resource::dram_bytes, Lane::overhead, elements * (callers + width),
                 loads > 0 ? std::min(1.0, loads / dram) : 1, Parameter::conversion_channels);
    }

    /// Integer weights mean that activations have scales, whatever their width. What is scaled again costs
    /// what any small operator does: its start, and each element read and written.
    static void add_requantized(const DspCore& core, Mapping& out) {
        const NetworkWork& network = core.network;
        const double share = core.m.param(Parameter::requantized_share, 0);
        if (!(share > 0) || network.graph == nullptr || !is_integer(network.precision.weights))
            return;
        const Requantized again = requantized_inputs(*network.graph);
        const double moved = 2 * share * again.elements;
        add_start(core, share * again.tensors, Parameter::requantized_share, out);
        out.add(Resource::vector_cycles, Lane::overhead,
                core.m.param(Parameter::elementwise_cost, 1) * moved / core.vector_rate,
                core.m.param(Parameter::vector_efficiency, 1), Parameter::elementwise_cost);
        out.events[Event::vector_op] += moved / 2;
        out.events[Event::l2_byte] += moved * bytes_of(network.precision.activations);
    }
    /// Returns the padded multiply-accumulates of dense products.
    static double add_tensor(const DspCore& core, const SubgraphWork& work, Mapping& out) {
        double total = 0, cycles = 0;
        MatrixFormat format;
        for (const OperatorUse& use : work.operators) {
            if (on_host(use, core.m) || is_depthwise(use.op->work))
                continue;
            for (const Contraction& c : use.op->work.contractions) {
                format = core.formats.of(use.compute);
                const double padded = core.padded_macs(use, c);
                total += padded;
                cycles += 2 * padded * format.passes / (format.ops_per_cycle * core.share);
            }
        }
        out.add(format.resource, Lane::compute, cycles, format.efficiency, Parameter::matrix_efficiency);
        return total;
    }

    static void add_vector(const DspCore& core, const VectorWork& vector, Mapping& out) {
        const double efficiency = core.m.param(Parameter::vector_efficiency, 1);
        out.add(Resource::vector_cycles, Lane::compute, vector.operations / core.vector_rate, efficiency,
                Parameter::vector_efficiency);
        out.add(Resource::vector_cycles, Lane::compute, 2 * vector.depthwise_macs / core.vector_rate,
                core.m.param(Parameter::depthwise_efficiency, 1), Parameter::depthwise_efficiency);
    }

    /// Weights, and what exists before the inference starts, come from DRAM for every inference. Activations
    /// do when a layer's input and output exceed half the scratchpad: the other half holds the tiles in
    /// flight.
    static void add_memory(const DspCore& core, const SubgraphWork& work, Mapping& out) {
        if (core.m.rate(Resource::dram_bytes) <= 0)
            return;
        const double outside = border_bytes(work, core.network), fresh = work.activation_bytes() - outside;
        const bool stays = work.activation_bytes() - outside_bytes(work) <= core.stays_in;
        const Again again = stays ? Again{} : moved_again(work, core.m, core.limits, 1);
        // Tiles are those of the fewest bytes of all operands together, so that the stack's share is one of
        // whatever is read again: else a larger buffer could trade activations for weights that cost more.
        const double spilled = core.m.param(Parameter::spill_share, 1);
        add_dram(out, Resource::weight_bytes, Lane::memory,
                 work.weight_bytes + again.weights * spilled + outside);
        if (!stays)
            add_dram(out, Resource::dram_bytes, Lane::memory, (fresh + again.activations) * spilled);
    }

    static void add_overhead(const DspCore& core, const VectorWork& vector, Mapping& out) {
        add_layer_overhead(core.m, 1, 1, out);
        add_start(core, vector.small_operators, Parameter::small_operator_work, out);
    }

    /// Starting so many operators without a dense product.
    static void add_start(const DspCore& core, double operators, Parameter reason, Mapping& out) {
        const double start = core.m.param(Parameter::small_operator_work, 0) * operators;
        out.add(core.narrow.resource, Lane::overhead, start / (core.narrow.ops_per_cycle * core.share),
                core.narrow.efficiency, reason);
    }

    static void count_events(const DspCore& core, const SubgraphWork& work, const VectorWork& vector,
                             Mapping& out) {
        count_arithmetic(work, core.network, core.m, out);
        // One VLIW packet drives the vector width of one processor; a packet of the tensor unit its array.
        const double width = std::max(1.0, core.vector_rate);
        double cycles = (vector.operations + 2 * vector.depthwise_macs) / width;
        for (const Demand& d : out.all())
            if (d.lane == Lane::compute && d.resource == Resource::matrix_cycles)
                cycles += d.amount;
        out.events[Event::instruction] += cycles;
        out.events[Event::l1_byte] += work.unfused_bytes;
        out.events[Event::l2_byte] += work.activation_bytes() + work.weight_bytes;
        out.events[Event::streamer_byte] += work.weight_bytes;
    }

    static void describe(const DspCore& core, const SubgraphWork& work, double padded, Mapping& out) {
        Allocation& a = out.allocation;
        a.units_total = core.count;
        a.units_used = core.per_inference;
        a.tile_k = static_cast<std::uint16_t>(core.rows > 0 ? core.rows : core.block);
        a.tile_n = static_cast<std::uint16_t>(core.rows > 0 ? core.cols : core.block);
        a.useful_fraction = padded > 0 ? std::min(1.0, work.macs / padded) : 1;
        if (a.scheme[0] == '\0')
            a.scheme = padded > 0 ? "tensor unit" : "vector unit";
    }
};

static double scratchpad_bytes(const Machine& machine) {
    const Fact& stated = machine.device->facts.as<DspFacts>().scratchpad_bytes;
    return stated.known() ? stated.value : on_chip_bytes(machine);
}

static const Fact& port_width(const Device& device) {
    return device.facts.as<DspFacts>().port_bytes_per_clock;
}

static std::span<const AssumedParameter> assumed_of_dsp() {
    static const std::array kAssumed = {
        AssumedParameter{Parameter::instance_sharpness,
                         assumption(6, "cores on different layers at a time rarely want the DRAM at once")}};
    return kAssumed;
}

constexpr std::array kOwnDspFacts = {
    fact("mma_count", &DspFacts::mma_count, "Matrix accelerators.",
         {.low = 0, .high = 4096, .scales_with = Structure::units}),
    fact("mma_rows", &DspFacts::mma_rows, "Rows of one accelerator.",
         {.high = 65536, .scales_with = Structure::array}),
    fact("mma_cols", &DspFacts::mma_cols, "Columns of one accelerator.",
         {.high = 65536, .scales_with = Structure::array}),
    fact("hvx_units", &DspFacts::hvx_units, "Wide-vector units.",
         {.low = 0, .high = 4096, .scales_with = Structure::units}),
    fact("scratchpad", &DspFacts::scratchpad_bytes, "Memory that DMA fills beside the units.",
         {.unit = "B", .low = 0, .high = 1e12, .scales_with = Structure::on_chip_memory}),
    fact("dram_channel", &DspFacts::dram_channel, "One 16-bit channel of the DRAM: two bytes per transfer.",
         {.unit = "B/s", .high = 1e12}),
    fact("port_bytes_per_clock", &DspFacts::port_bytes_per_clock,
         "Port of one core into the chip's interconnect.", {.unit = "B/clk", .high = 1e6}),
    fact("host_clock", &DspFacts::host_clock,
         "Clock of the core that starts inferences, the fastest of the chip's processor.",
         {.unit = "Hz", .high = 1e11}),
    fact("host_width", &DspFacts::host_width, "Instructions that this core decodes per clock.", {.high = 64}),
    fact("host_guest", &DspFacts::host_guest,
         "1: the system that starts inferences is a guest of a hypervisor.", {.low = 0, .high = 1}),
};

constexpr auto kDspFacts = with_rows(kOwnDspFacts, kBufferRows);

constexpr std::array kDspProperties = {
    FamilyProperty{kProgrammability, "programmable in C and intrinsics",
                   "Qualcomm, Hexagon SDK documentation: C, C++ and HVX intrinsics; operators beyond it "
                   "through the vendor's compiler"},
    FamilyProperty{"place", "integrated in SoCs", "Codrescu et al., Hexagon DSP, IEEE Micro 34(2), 2014"},
    FamilyProperty{"flexibility", "signal processing beside networks",
                   "Codrescu et al., Hexagon DSP, IEEE Micro 34(2), 2014: multimedia and communications"},
    FamilyProperty{"use", "phones, driver assistance, always-on sensing",
                   "Codrescu et al., IEEE Micro 34(2), 2014 (phones, always-on audio); Texas Instruments, "
                   "TDA4VM data sheet: processors for ADAS"}};

constinit const FamilyRow family::dsp{.name = "dsp",
                                      .title = "DSP",
                                      .block = "dsp",
                                      .doc = "DSP facts.",
                                      .facts = kDspFacts,
                                      .make_facts = empty_facts<DspFacts>,
                                      .mapper = only_mapper<DspMapper>,
                                      .assumed = assumed_of_dsp,
                                      .managed_memory = scratchpad_bytes,
                                      .memory_port = port_width,
                                      .rated_clock = true,
                                      .properties = kDspProperties};

} // namespace archsim
