// CPU: cores with vector or tile units, private L2, a shared cache, DRAM. A parallel region per subgraph;
// saturated throughput is one independent inference per core, or per few cores, where the stack works so.

#include "family/cpu_view.hpp"
#include "family/table.hpp"
#include "map/counts_of_structure.hpp"
#include "map/tiled.hpp"

#include <algorithm>
#include <array>

namespace archsim {

class CpuMapper final : public ViewMapper<cpu::View>, public CountsOfStructure {
  public:
    std::string_view name() const override { return "cpu"; }

    void count(const cpu::View& view, const SubgraphWork& work, Mapping& out) const override {
        switch (work.kind) {
        case OpKind::free:
            return;
        case OpKind::convolution:
        case OpKind::matmul:
        case OpKind::recurrent:
        case OpKind::attention:
            return cpu::map_contraction(view, work, out);
        default:
            return cpu::map_vector(view, work, out);
        }
    }

    LooksAt looks_at() const override { return LooksAt::work; }

    NetworkMapping map_network(const NetworkWork& network, const Machine& machine) const override {
        NetworkMapping out = Mapper::map_network(network, machine);
        const cpu::View view(machine, network);
        out.scheme = !view.streams    ? "all cores on one inference"
                     : view.used == 1 ? "one stream per core"
                                      : "instances of several cores";
        if (!view.streams)
            return out;
        out.instances = view.cores / view.used;
        out.shared_exponent = machine.param(Parameter::instance_sharpness, out.shared_exponent);
        // Efficiency cores take part in throughput at their own rate and clock.
        const Engine* first = nullptr;
        for (const Engine& engine : machine.device->engines) {
            if (engine.kind != EngineClass::vector || !engine.supports(Precision::fp32))
                continue;
            if (!first) {
                first = &engine;
                continue;
            }
            const double rate = engine.rate(Precision::fp32).value / first->rate(Precision::fp32).value;
            const double clock = engine.clock.value_or(1) / first->clock.value_or(engine.clock.value_or(1));
            out.instances += engine.count * machine.active_fraction * rate * clock *
                             machine.param(Parameter::efficiency_core_share, 1) / view.used;
        }
        return out;
    }
};

/// Bytes per clock of one core, times the cores of the first kind.
static void set_reached(Machine& m, Resource resource, Parameter parameter, const Fact& clock) {
    const Fact& per_unit = m.parameters.fact(parameter);
    if (!per_unit.known())
        return;
    const double rate = per_unit.value * cpu::first_cores(m) * clock.value;
    m.rates[static_cast<std::size_t>(resource)] = {rate, {&clock}};
}

/// The rates that a stack's code reaches replace what the ports of a core could do.
static void reached_rates(Machine& m, const Fact& clock) {
    set_reached(m, Resource::l2_bytes, Parameter::l2_bytes_per_clock, clock);
    set_reached(m, Resource::llc_bytes, Parameter::llc_bytes_per_clock, clock);
    if (const Fact& chip = m.parameters.fact(Parameter::llc_bandwidth); chip.known())
        m.rates[static_cast<std::size_t>(Resource::llc_bytes)] = {chip.value, {}};
    // The bound of a stack that is none needs no rate that nobody states: a level feeds the one above it.
    const auto& generations = m.runtime->generations;
    if (std::ranges::find(generations, "*") == generations.end())
        return;
    for (const auto& [level, above] : {std::pair{Resource::l2_bytes, Resource::l1_bytes},
                                       std::pair{Resource::llc_bytes, Resource::l2_bytes}})
        if (!(m.rate(level) > 0))
            m.rates[static_cast<std::size_t>(level)] = {m.rate(above), {}};
}

static std::span<const AssumedParameter> assumed_of_cpu() {
    static const std::array kAssumed = {
        AssumedParameter{
            Parameter::weight_cache_sharpness,
            assumption(4, "weights are read in the same order every inference and thrash at once")},
        AssumedParameter{Parameter::activation_cache_sharpness,
                         assumption(2, "activations are partly reused before they are evicted")},
        AssumedParameter{Parameter::private_cache_sharpness,
                         assumption(4, "one producer and one consumer walk a result in the same order")},
        AssumedParameter{Parameter::private_cache_share,
                         assumption(0.7, "a private cache also holds the consumer's weights and output")},
        AssumedParameter{
            Parameter::instance_sharpness,
            assumption(6, "streams on different layers at a time rarely want the DRAM at once")}};
    return kAssumed;
}

constexpr std::array kCpuFacts = {
    fact("cores", &cpu::CpuFacts::cores, "Cores of one socket.",
         {.high = 4096, .scales_with = Structure::units, .required = true}),
    fact("performance_cores", &cpu::CpuFacts::performance_cores, "Performance cores of a hybrid part.",
         {.low = 0, .high = 4096, .scales_with = Structure::units}),
    fact("efficiency_cores", &cpu::CpuFacts::efficiency_cores, "Efficiency cores of a hybrid part.",
         {.low = 0, .high = 4096, .scales_with = Structure::units}),
    fact("threads", &cpu::CpuFacts::threads, "Hardware threads.",
         {.high = 16384, .scales_with = Structure::units}),
    fact("sockets", &cpu::CpuFacts::sockets, "Sockets of this entry.", {.high = 64}),
    fact("vector_lanes_fp32", &cpu::CpuFacts::vector_lanes_fp32, "fp32 lanes of the data path.",
         {.high = 4096}),
    fact("matrix_operand_bytes", &cpu::CpuFacts::matrix_operand_bytes,
         "Bytes of one operand of a matrix instruction; absent: 1024, a tile of Intel's AMX.",
         {.unit = "B", .high = 1 << 20}),
    fact("matrix_depth_bytes", &cpu::CpuFacts::matrix_depth_bytes,
         "Bytes along the reduction of one row of such an operand; 1: one element, whatever its "
         "format. Absent: 64, a tile of Intel's AMX.",
         {.unit = "B", .high = 1 << 20}),
    fact("decode_width", &cpu::CpuFacts::decode_width,
         "Instructions that a core decodes per clock; the code that starts kernels follows it. Absent: "
         "kernels start as fast as stacks state.",
         {.high = 64}),
    fact("ram", &cpu::CpuFacts::ram,
         "RAM of a microcontroller, which has to hold what is computed; weights stay in its flash, "
         "which `dram` describes. Absent: one memory holds both.",
         {.unit = "B"}),
    fact("external_ram", &cpu::CpuFacts::external_ram,
         "RAM beside that of a microcontroller (PSRAM), which holds what its own does not.", {.unit = "B"}),
    fact("external_ram_bandwidth", &cpu::CpuFacts::external_ram_bandwidth, "Bandwidth of this memory.",
         {.unit = "B/s", .low = 1e6, .high = 1e12}),
    fact("isa", &cpu::CpuFacts::isa, "Instruction sets that matter for inference."),
};

constexpr std::array kCpuProperties = {
    FamilyProperty{kProgrammability, "programmable",
                   "any compiler of the platform; Hennessy and Patterson, Computer Architecture, 6th edition "
                   "(2017), chapter 1"},
    FamilyProperty{
        "driver", "needs no driver",
        "runs as a process of the operating system; ONNX Runtime documentation, CPU execution provider"},
    FamilyProperty{"use", "development, and whatever has no kernel elsewhere",
                   "ONNX Runtime documentation, Execution Providers: the CPU provider is in every build and "
                   "takes the operators that the others leave"}};

constinit const FamilyRow family::cpu{.name = "cpu",
                                      .title = "CPU",
                                      .block = "cpu",
                                      .doc = "Processor facts.",
                                      .facts = kCpuFacts,
                                      .make_facts = empty_facts<cpu::CpuFacts>,
                                      .mapper = only_mapper<CpuMapper>,
                                      .assumed = assumed_of_cpu,
                                      .is_host = true,
                                      .caches = true,
                                      .refine_rates = reached_rates,
                                      .properties = kCpuProperties};

} // namespace archsim
