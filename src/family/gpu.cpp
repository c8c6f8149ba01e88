// GPU: multiprocessors with a matrix engine and vector lanes, an L2 and DRAM. One kernel per subgraph.

#include "family/gpu_view.hpp"
#include "family/table.hpp"
#include "map/accelerator.hpp"
#include "map/counts_of_structure.hpp"
#include "map/tiled.hpp"

#include <array>

namespace archsim {

struct GpuFacts : FactsOf<GpuFacts> {
    Fact sm_count, warp_size;
    Fact resident_threads;       ///< that one multiprocessor holds at once
    Fact integer_lanes;          ///< of one multiprocessor, which take 32-bit integers
    Fact paired_multiprocessors; ///< that load one operand of a matrix product together
    Fact cache_copies;           ///< of a line in L2: one in each partition whose multiprocessors read it
    Fact fabric_bytes_per_clock; ///< SoC fabric between GPU and memory (Jetson): bytes per GPU clock
    Fact fabric_efficiency;      ///< share of that width that streams reach
    Fact compute_queues;         ///< whose kernels run side by side
    Fact user_submission;        ///< 1: programs write them, no driver is called for a kernel
    Fact driver_memory, working_set, small_working_set, small_memory; ///< see their rows
    Fact half_accumulation_rate; ///< of fp16 products summed in fp16, relative to summed in fp32
    Fact host_speed;             ///< of the core that starts kernels, relative to that of Jetson AGX Xavier
};

/// The work of the host takes as long as its core is slow.
static void scale_host_times(Machine& machine, const Fact& /*clock*/) {
    const Fact& speed = machine.device->facts.as<GpuFacts>().host_speed;
    if (!speed.known())
        return;
    for (const Parameter p : {Parameter::kernel_overhead, Parameter::submission_time,
                              Parameter::inference_overhead, Parameter::host_time})
        machine.parameters.facts[static_cast<std::size_t>(p)].value /= speed.value; // NaN stays NaN
}

class GpuMapper final : public ViewMapper<gpu::View>, public CountsOfStructure {
  public:
    std::string_view name() const override { return "gpu"; }

    void count(const gpu::View& view, const SubgraphWork& work, Mapping& out) const override {
        // Operators without a kernel of the stack run on the host, those behind them in the subgraph on the
        // GPU.
        const bool hosted = work.kind != OpKind::free && !work.operators.empty() &&
                            accelerator::on_host(work.operators.front(), view.machine);
        accelerator::add_fallback(work, view.machine, out);
        if (hosted && work.operators.size() > 1)
            return gpu::map_simple(view, work, out);
        if (hosted) {
            out.allocation.units_total = view.units;
            return;
        }
        switch (work.kind) {
        case OpKind::free:
            return;
        case OpKind::convolution:
            if (gpu::is_depthwise(work))
                return gpu::map_depthwise(view, work, out);
            return gpu::map_contraction(view, work, out);
        case OpKind::matmul:
        case OpKind::recurrent:
            return gpu::map_contraction(view, work, out);
        case OpKind::attention:
            return gpu::map_attention(view, work, out);
        default:
            return gpu::map_simple(view, work, out);
        }
    }

    /// Tiles are chosen by arithmetic against L2; multiprocessors that fetch little do not draw the
    /// bandwidth.
    bool counts_depend_on(Lever lever, const Machine& machine) const override {
        return lever != Lever::bandwidth || machine.param(Parameter::unit_load_bytes_per_clock, 0) > 0;
    }

    LooksAt looks_at() const override { return LooksAt::neighbours; }

    /// It reads the rate of formats with matrix engines, and may sum fp16 in fp16.
    bool tells_apart(Precision a, Precision b, const Machine& machine) const override {
        const auto rate = [&](Precision p) {
            return machine.matrix_ops(p) * (p == Precision::fp16 ? gpu::half_accumulation_gain(machine) : 1);
        };
        const auto half = [](Precision p) { return p == Precision::fp16 || p == Precision::bf16; };
        return !half(a) || !half(b) || !(rate(a) > 0) || rate(a) != rate(b);
    }

    NetworkMapping map_network(const NetworkWork& network, const Machine& machine) const override {
        NetworkMapping out = Mapper::map_network(network, machine);
        out.scheme = machine.scenario == Scenario::throughput ? "overlapping streams" : "one stream";
        return out;
    }
};

static const Fact& fabric_width(const Device& device) {
    return device.facts.as<GpuFacts>().fabric_bytes_per_clock;
}

constexpr std::array kGpuFacts = {
    fact("sm_count", &GpuFacts::sm_count, "Streaming multiprocessors, compute units, Xe cores or GPU cores.",
         {.high = 4096, .scales_with = Structure::units, .required = true}),
    fact("warp_size", &GpuFacts::warp_size, "Threads that run in lock step.", {.high = 1024}),
    fact("resident_threads", &GpuFacts::resident_threads, "Threads that one multiprocessor holds at once.",
         {.high = 65536}),
    fact("integer_lanes", &GpuFacts::integer_lanes,
         "Lanes of a multiprocessor that take 32-bit integers, at which addresses are computed. "
         "Absent: as many as lanes of fp32.",
         {.high = 1024}),
    fact("paired_multiprocessors", &GpuFacts::paired_multiprocessors,
         "Neighbours whose matrix engines share one operand of a product, each loading its part.",
         {.high = 16}),
    fact("cache_copies", &GpuFacts::cache_copies,
         "Partitions of the last cache that each keep a copy of what their multiprocessors read. "
         "Absent: 1.",
         {.high = 16}),
    fact("fabric_bytes_per_clock", &GpuFacts::fabric_bytes_per_clock,
         "Width of the SoC fabric between GPU and DRAM, bytes per GPU clock.",
         {.unit = "B/clk", .high = 1e6}),
    fact("fabric_efficiency", &GpuFacts::fabric_efficiency, "Share of that width that streams reach.",
         {.low = 0.01, .high = 1}),
    fact("compute_queues", &GpuFacts::compute_queues,
         "Hardware queues whose kernels run side by side; 1: streams hide each other's way through the "
         "driver alone; absent: as many as streams.",
         {.high = 1024}),
    fact("user_submission", &GpuFacts::user_submission,
         "1: the driver lets programs write the hardware queue themselves; absent: a kernel passes "
         "through the operating system, which takes the stack's submission_time.",
         {.high = 1}),
    fact("half_accumulation_rate", &GpuFacts::half_accumulation_rate,
         "Rate of fp16 matrix products summed in fp16, relative to those summed in fp32.", {.high = 4}),
    fact("driver_memory", &GpuFacts::driver_memory,
         "What the driver and a context take of the memory that the driver shows. Absent: nothing.",
         {.unit = "B", .low = 0}),
    fact("working_set", &GpuFacts::working_set,
         "Share that the system lets the GPU use of a memory which it has together with its host. "
         "Absent: all.",
         {.low = 0.05, .high = 1}),
    fact("small_working_set", &GpuFacts::small_working_set, "The same in memories of up to small_memory.",
         {.low = 0.05, .high = 1}),
    fact("small_memory", &GpuFacts::small_memory, "Capacity up to which small_working_set holds.",
         {.unit = "B"}),
    fact("host_speed", &GpuFacts::host_speed,
         "Single-threaded speed of the host on the same chip, relative to that of Jetson AGX Xavier: "
         "starts of kernels and inferences take as much longer as it is slower. Absent: 1.",
         {.low = 0.05, .high = 20}),
};

constexpr std::array kGpuProperties = {
    FamilyProperty{
        kProgrammability, "programmable",
        "CUDA C++ Programming Guide, chapter 1: a scalable programming model of threads, blocks and grids"},
    FamilyProperty{
        "driver", "needs a driver and a runtime",
        "CUDA Compatibility guide: an application needs a display driver that supports its toolkit"},
    FamilyProperty{"use", "training and serving of many images or users at once",
                   "CUDA C++ Programming Guide, chapter 1: more transistors for data processing than for "
                   "caches and flow control"}};

constinit const FamilyRow family::gpu{.name = "gpu",
                                      .title = "GPU",
                                      .block = "gpu",
                                      .doc = "GPU facts.",
                                      .facts = kGpuFacts,
                                      .make_facts = empty_facts<GpuFacts>,
                                      .mapper = only_mapper<GpuMapper>,
                                      .caches = true,
                                      .memory_port = fabric_width,
                                      .refine_rates = scale_host_times,
                                      .properties = kGpuProperties};

} // namespace archsim
