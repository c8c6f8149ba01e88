#include "family/gpu_view.hpp"

#include "archsim/hardware/family.hpp"

#include <algorithm>

namespace archsim::gpu {

// A cache line of 128 bytes is looked up once per transaction (CUDA C++ Programming Guide, memory hierarchy).
constexpr double kCacheLine = 128;
// Special-function results per clock are at most a quarter of the fp32 lanes: 16 per multiprocessor against
// 64 or 128 (CUDA C++ Programming Guide, throughput of native arithmetic instructions); used where the
// database names no such engine. A lane counts two operations per cycle.
constexpr double kSpecialShare = 1.0 / 16;

/// Whether kernels of several streams run at once.
static bool runs_side_by_side(const Machine& m) {
    return m.scenario == Scenario::throughput && m.param(Parameter::stream_overlap, 1) < 1 &&
           family_number(*m.device, "compute_queues").value_or(2) > 1;
}

static double special_rate(const Device& device) {
    double rate = 0;
    for (const Engine& engine : device.engines)
        if (engine.kind == EngineClass::special && engine.supports(Precision::fp32))
            rate += engine.count * engine.rate(Precision::fp32).value;
    return rate;
}

/// The share of a network's convolutions, in multiply-accumulates, that has groups of several channels.
static double grouped_share(const NetworkWork& network) {
    double grouped = 0, all = 0;
    for (const SubgraphWork& work : network.subgraphs) {
        if (work.kind != OpKind::convolution || !work.anchor->window)
            continue;
        all += work.macs;
        const Window& w = *work.anchor->window;
        if (w.groups > 1 && w.in_channels > w.groups)
            grouped += work.macs;
    }
    return all > 0 ? grouped / all : 0;
}

/// The stack's order of images, which it may choose by the network's convolutions.
static bool lies_channels_last(const Machine& m, const NetworkWork& n) {
    if (m.param(Parameter::channels_last, 0) <= 0)
        return false;
    const double most = m.param(Parameter::grouped_order_share, 1);
    return most >= 1 || grouped_share(n) <= most;
}

/// Bytes of the last cache before DRAM, in all its slices: L2, a memory-side or system cache.
static double last_cache_bytes(const Device& device) {
    double bytes = 0;
    for (const MemoryLevel& level : device.memory)
        if (level.rank == MemoryRank::l2 || level.rank == MemoryRank::last)
            bytes = std::max(bytes, level.capacity.value_or(0) * level.count);
    return bytes;
}

constexpr double kWarpLanes = 32;
// mma.m16n8k16 on 16-bit operands: 2048 multiply-accumulates per warp instruction (PTX ISA, warp-level matrix
// instructions); K doubles each time the operand narrows to half.
constexpr double kMmaMacs16Bit = 16 * 8 * 16;
// Its registers: A 16x16 and B 16x8 of 16 bits, C and D 16x8 of 32 bits.
constexpr double kMmaRegisterBytes = 16 * 16 * 2 + 16 * 8 * 2 + 2 * 16 * 8 * 4;
// Part of a thread-block tile that one warp multiplies; every warp reads its rows and columns from shared
// memory (CUTLASS default warp shapes).
constexpr double kWarpTileM = 64, kWarpTileN = 32;
// Barriers of a warp per step of the reduction loop.
constexpr double kBarriersPerStep = 1;

double half_accumulation_gain(const Machine& machine) {
    if (machine.param(Parameter::half_accumulation, 0) <= 0)
        return 1;
    return std::max(1.0, family_number(*machine.device, "half_accumulation_rate").value_or(1));
}

View::View(const Machine& m, const NetworkWork& n)
    : machine(m), network(n), units(std::max(1.0, m.units)), overlapped(runs_side_by_side(m)),
      vector_fp32(m.vector_ops(Precision::fp32)) {
    const double clock = m.rate(Resource::matrix_cycles);
    if (clock > 0) {
        l2_per_cycle = m.rate(Resource::l2_bytes) / clock;
        dram_per_cycle = m.rate(Resource::dram_bytes) / clock;
    }
    special_per_cycle = special_rate(*m.device) * m.active_fraction;
    if (special_per_cycle <= 0)
        special_per_cycle = vector_fp32 * kSpecialShare;
    paired_units = std::max(1.0, family_number(*m.device, "paired_multiprocessors").value_or(1));
    const double cache = last_cache_bytes(*m.device);
    resident_bytes_ = param(Parameter::resident_fraction, 0) * cache;
    user_submission_ = family_number(*m.device, "user_submission").value_or(0) > 0;
    half_gain_ = half_accumulation_gain(m);
    channels_last_ = lies_channels_last(m, n);
    integer_lanes_ = family_number(*m.device, "integer_lanes").value_or(0);
    // Weights are read once per inference, in turn: least recently used lines survive to the next one when
    // all of them fit beside the activations, whose buffers are used again and again, and else none does.
    const double copies = std::max(1.0, family_number(*m.device, "cache_copies").value_or(1));
    weights_resident_ = n.weight_bytes + n.largest_activation_bytes < cache / copies;
}

double View::weight_passes(Precision multiplied) const {
    return network.precision.autocast ? 2 + bytes_of(Precision::fp32) / bytes_of(multiplied)
                                      : param(Parameter::weight_traffic, 1);
}

const View::Engine& View::engine(Precision precision, bool convolution) const {
    for (const Engine& known : engines_)
        if (known.precision == precision && known.convolution == convolution)
            return known;
    engines_.reserve(2 * kPrecisionCount); // all that there can be: none moves
    const MultiplyEngine multiply = multiply_engine(precision, convolution);
    return engines_.emplace_back(Engine{precision, convolution, multiply, gemm_engine(multiply, precision)});
}

MultiplyEngine View::multiply_engine(Precision precision, bool convolution) const {
    MultiplyEngine e;
    if (machine.matrix_ops(precision) > 0) {
        e.resource = Resource::matrix_cycles;
        e.matrix = true;
        e.ops_per_cycle = machine.matrix_ops(precision);
        e.reason = Parameter::matrix_efficiency;
        e.efficiency = param(e.reason, 1);
        if (precision == Precision::fp16)
            e.ops_per_cycle *= half_gain_;
        if (const auto relative = parameter_of(name_of(precision), "relative_efficiency"))
            e.efficiency *= param(*relative, 1);
        else if (precision == Precision::int8)
            e.efficiency *= param(Parameter::warp_product_relative_rate, 1);
        return e;
    }
    const bool native = machine.vector_ops(precision) > 0;
    e.ops_per_cycle = native ? machine.vector_ops(precision) : vector_fp32;
    if (native && is_integer(precision))
        e.reason = Parameter::integer_vector_efficiency;
    else
        e.reason =
            convolution ? Parameter::vector_convolution_efficiency : Parameter::vector_matrix_efficiency;
    e.efficiency = param(e.reason, 1);
    return e;
}

GemmEngine View::gemm_engine(const MultiplyEngine& engine, Precision precision) const {
    GemmEngine g;
    g.units = units;
    g.ops_per_cycle = engine.ops_per_cycle / units;
    g.operand_bytes = bytes_of(precision);
    g.output_bytes = bytes_of(precision);
    g.efficiency = engine.efficiency;
    if (engine.matrix)
        g.paired_units = paired_units;
    g.l2_bytes_per_cycle = l2_per_cycle;
    g.wave_rounding = param(Parameter::wave_rounding, 1);
    g.overlapped = overlapped;
    g.combine_exponent = machine.combine_exponent;
    return g;
}

void View::add_traffic(Mapping& out, const Traffic& t, double share, Parameter reason) const {
    const double kept = std::max(0.0, t.activations - t.kv_cache);
    const double dram = std::max(0.0, kept - resident_bytes_) + t.kv_cache;
    const double weights = weights_resident_ ? 0 : t.weights;
    const double l2 = std::max(t.on_chip, t.activations + t.weights);
    // A multiprocessor has a limited number of bytes in flight: few of them cannot draw the full bandwidth.
    // Those that a kernel leaves idle load for kernels of other streams.
    double drawn = share;
    const double per_unit = param(Parameter::unit_load_bytes_per_clock, 0);
    const double loading = overlapped ? units : t.units_used;
    if (per_unit > 0 && dram_per_cycle > 0 && t.units_used > 0)
        drawn = std::min(share, per_unit * loading / dram_per_cycle);
    out.add(Resource::dram_bytes, Lane::memory, dram, drawn, reason);
    out.add(Resource::weight_bytes, Lane::memory, weights, drawn, reason);
    if (l2_per_cycle > 0)
        out.add(Resource::l2_bytes, Lane::on_chip, l2);
    out.events[Event::l2_byte] += l2;
    out.events[Event::dram_byte] += dram + weights;
    out.events[Event::coherence] += l2 / kCacheLine;
}

double View::dram_of(const Copies& copies) const {
    return std::max(0.0, copies.bytes - copies.kernels * resident_bytes_);
}

View::Copies View::longer_of(double cycles, const Copies& copies, Mapping& out) const {
    const double dram = dram_of(copies);
    const double memory = (dram_per_cycle > 0 ? dram / dram_per_cycle : 0) +
                          (l2_per_cycle > 0 ? (copies.bytes - dram) / l2_per_cycle : 0);
    if (memory >= cycles)
        return copies;
    out.add(Resource::vector_cycles, Lane::overhead, cycles);
    count_copies(dram, copies, out);
    add_floor(out, true, copies.kernels);
    return {};
}

void View::count_copies(double dram, const Copies& copies, Mapping& out) {
    out.events[Event::l2_byte] += copies.bytes;
    out.events[Event::dram_byte] += dram;
    out.events[Event::coherence] += copies.bytes / kCacheLine;
}

void View::add_copies(Mapping& out, const Copies& copies) const {
    if (copies.kernels <= 0)
        return;
    const double dram = dram_of(copies);
    out.add(Resource::dram_bytes, Lane::overhead, dram, param(Parameter::simple_bandwidth_efficiency, 1),
            Parameter::simple_bandwidth_efficiency);
    if (l2_per_cycle > 0)
        out.add(Resource::l2_bytes, Lane::overhead, copies.bytes - dram);
    count_copies(dram, copies, out);
    add_floor(out, true, copies.kernels);
}

View::Copies narrowing_of(const SubgraphWork& work) {
    return {work.narrowed_elements * (bytes_of(Precision::fp32) + bytes_of(work.precision)),
            work.narrowed_tensors};
}

void View::add_vector_work(Mapping& out, double vector_ops, double special_ops) const {
    const double efficiency = param(Parameter::vector_efficiency, 1);
    if (vector_fp32 > 0)
        out.add(Resource::vector_cycles, Lane::compute, vector_ops / vector_fp32, efficiency,
                Parameter::vector_efficiency);
    if (special_per_cycle > 0)
        out.add(Resource::special_cycles, Lane::compute, special_ops / special_per_cycle, efficiency,
                Parameter::vector_efficiency);
}

void View::add_floor(Mapping& out, bool simple, double kernels) const {
    const Parameter floor = simple ? Parameter::simple_kernel_floor_cycles : Parameter::kernel_floor_cycles;
    const bool streams = machine.scenario == Scenario::throughput;
    const double share = streams ? param(Parameter::stream_overlap, 1) : 1.0;
    const double of_queue = overlapped ? share : 1.0;
    out.add(Resource::overhead_cycles, Lane::overhead, param(floor, 0) * kernels * of_queue, 1, floor);
    out.add(Resource::seconds, Lane::overhead, param(Parameter::kernel_overhead, 0) * kernels * of_queue, 1,
            Parameter::kernel_overhead);
    // The driver takes kernels of one stream while those of another run, whether or not they run at once.
    if (!user_submission_)
        out.add(Resource::seconds, Lane::overhead, param(Parameter::submission_time, 0) * kernels * share, 1,
                Parameter::submission_time);
}

bool is_depthwise(const SubgraphWork& work) {
    if (work.kind != OpKind::convolution || !work.anchor->window)
        return false;
    const Window& w = *work.anchor->window;
    return w.groups > 1 && w.in_channels <= w.groups;
}

void count_product(double macs, Precision precision, const MultiplyEngine& engine, const TileChoice& tile,
                   double operand_bytes, EventCounts& events) {
    events.mac(precision) += macs;
    const double executed = std::max(macs, tile.padded_macs);
    if (engine.matrix) {
        const double instructions = executed / (kMmaMacs16Bit * 2 / operand_bytes);
        events[Event::instruction] += instructions;
        events[Event::register_byte] += instructions * kMmaRegisterBytes;
    } else {
        // A fused multiply-add reads three registers and writes one in every lane; a 4-way dot product does
        // four multiply-accumulates with it.
        const double macs_per_lane =
            is_integer(precision) ? 4 / operand_bytes : std::max(1.0, 4 / operand_bytes);
        events[Event::instruction] += executed / (kWarpLanes * macs_per_lane);
        events[Event::register_byte] += executed / macs_per_lane * 4 * 4;
    }
    events[Event::l1_byte] += executed * operand_bytes * (1 / kWarpTileM + 1 / kWarpTileN);
    if (tile.tile_m > 0) {
        const double warp_steps = executed / (kWarpTileM * kWarpTileN * tile.tile_k);
        events[Event::scheduling] += warp_steps * kBarriersPerStep;
    }
}

void count_vector(double vector_ops, double special_ops, double bytes, EventCounts& events) {
    events[Event::vector_op] += vector_ops;
    events[Event::special_op] += special_ops;
    events[Event::instruction] += (vector_ops + special_ops) / kWarpLanes + bytes / (kWarpLanes * 16);
    events[Event::register_byte] += (vector_ops + special_ops) * 12;
    events[Event::l1_byte] += bytes;
    events[Event::scheduling] += bytes / (kWarpLanes * 16);
}

} // namespace archsim::gpu
