#include "family/cpu_view.hpp"

#include "core/same_everywhere.hpp"
#include "hardware/parameter_site.hpp"
#include "hardware/reference_machine.hpp"
#include "map/on_chip.hpp"

#include <algorithm>
#include <cmath>

namespace archsim::cpu {

constexpr double kCacheLine = 64;
// Elements of one fp32 vector where the database does not say: 128-bit NEON, the narrowest in use.
constexpr double kNarrowestLanes = 4;

/// Stacks state the code that starts a kernel beside a core that decodes so many instructions per second.
static double stated_core() {
    static const double rate = reference_decode_rate("cpu");
    return rate;
}

/// Share of `data` that misses a cache of `capacity`: 1 / (1 + (capacity / data)^sharpness).
static double miss_share(double capacity, double data, double sharpness) {
    if (data <= 0)
        return 0;
    return capacity > 0 ? 1 / (1 + same_everywhere(std::pow(capacity / data, sharpness))) : 1;
}

static bool streams_of(const Machine& machine) {
    return machine.scenario == Scenario::throughput && machine.runtime->independent_streams;
}

static const Engine* first_engine(const Machine& machine, EngineClass kind, Precision p) {
    for (const Engine& engine : machine.device->engines)
        if (engine.kind == kind && engine.supports(p) && uses(*machine.runtime, engine))
            return &engine;
    return nullptr;
}

// One tile instruction of Intel's AMX multiplies 16 rows of 64 bytes (Architecture Instruction Set
// Extensions); the default where a device states no other shape.
constexpr double kTileBytes = 1024, kTileDepthBytes = 64;
constexpr double kAccumulatorBytes = 4;

/// Rows and columns are what an operand holds beside its depth: 16 rows of 64 bytes, or the outer product of
/// two registers of 64 bytes (depth of one element, or of the four bytes that SME adds up).
static void set_shape(const CpuFacts& facts, Precision precision, MultiplyUnit& u) {
    const double element = bytes_of(precision);
    u.operand_bytes = facts.matrix_operand_bytes.value_or(kTileBytes);
    u.k_step = std::max(1.0, std::floor(facts.matrix_depth_bytes.value_or(kTileDepthBytes) / element));
    u.m_step = u.n_step = std::max(1.0, std::floor(u.operand_bytes / (element * u.k_step)));
    u.macs_per_instruction = u.m_step * u.n_step * u.k_step;
    u.result_bytes = u.m_step * u.n_step * std::max(kAccumulatorBytes, element);
}

Team team_of(const Machine& machine) {
    double all = 0, slowest = 0, first = 0, most = 0;
    Team best;
    for (const Engine& engine : machine.device->engines) {
        if (engine.kind != EngineClass::vector || !engine.supports(Precision::fp32) ||
            !uses(*machine.runtime, engine))
            continue;
        const double pace = engine.rate(Precision::fp32).value * engine.clock.value_or(1);
        if (first == 0)
            first = slowest = pace;
        slowest = std::min(slowest, pace);
        all += engine.count * machine.active_fraction;
        if (all * slowest > most) {
            most = all * slowest;
            best = {all, slowest / first};
        }
        if (streams_of(machine))
            break; // an inference has one core: those of other kinds are streams of their own
    }
    if (first == 0)
        best.cores = machine.units;
    best.cores = std::max(1.0, best.cores);
    return best;
}

double first_cores(const Machine& machine) {
    const Engine* first = first_engine(machine, EngineClass::vector, Precision::fp32);
    return first != nullptr ? std::max(1.0, first->count * machine.active_fraction) : machine.units;
}

View::View(const Machine& m, const NetworkWork& n) : machine(m), network(n) {
    const Device& d = *m.device;
    const Engine* vector = first_engine(m, EngineClass::vector, Precision::fp32);
    const Team team = team_of(m);
    cores = team.cores;
    streams = streams_of(m);
    used = streams ? std::clamp(param(Parameter::cores_per_inference, 1), 1.0, cores) : cores;
    pace_ = team.pace;
    vector_fp32 = vector ? vector->rate(Precision::fp32).value * pace_ : 0;
    constexpr double kBitsOfLane = 32;
    const auto& facts = d.facts.as<CpuFacts>();
    in_flash_ = facts.ram.known();
    if (const double arena = n.memory.arena_bytes;
        facts.external_ram.known() && arena > facts.ram.value_or(arena)) {
        outside_ = 1 - facts.ram.value / arena;
        outside_rate_ = facts.external_ram_bandwidth.value_or(0) / d.dram->bandwidth.value_or(1);
    }
    const double own_lanes = d.facts.as<CpuFacts>().vector_lanes_fp32.value_or(kNarrowestLanes);
    lanes = std::min(own_lanes, param(Parameter::vector_bits, kBitsOfLane * own_lanes) / kBitsOfLane);
    narrowing = lanes / own_lanes;
    vector_fp32 *= narrowing;
    l2_bytes = llc_bytes = 0;
    for (const MemoryLevel& level : d.memory) {
        if (l2_bytes == 0 && level.rank == MemoryRank::l2)
            l2_bytes = level.capacity.value_or(0);
        else if (level.rank == MemoryRank::last)
            llc_bytes += level.capacity.value_or(0);
    }
    wide_bytes = n.precision.activations == Precision::int8 ? param(Parameter::wide_element_bytes, 0) : 0;
}

const MultiplyUnit& View::unit(Precision precision, OpKind kind) const {
    if (kind != OpKind::attention && kind != OpKind::convolution)
        kind = OpKind::matmul; // all others multiply alike
    for (const KnownUnit& known : units_)
        if (known.precision == precision && known.kind == kind)
            return known.unit;
    constexpr std::size_t kKinds = 3;
    units_.reserve(kKinds * kPrecisionCount); // all that there can be: none moves
    return units_.emplace_back(KnownUnit{precision, kind, make_unit(precision, kind)}).unit;
}

MultiplyUnit View::make_unit(Precision precision, OpKind kind) const {
    const auto first = [this](EngineClass of, Precision p) { return first_engine(machine, of, p); };
    const auto reached = [&](const Engine* engine) {
        return engine != nullptr && (kind != OpKind::convolution || convolves_on(*machine.runtime, *engine));
    };
    // Attention products of 8-bit networks stay in the widest fast float format.
    if (kind == OpKind::attention && wide_bytes > bytes_of(precision))
        precision = wide_bytes > 2                                ? Precision::fp32
                    : first(EngineClass::matrix, Precision::bf16) ? Precision::bf16
                                                                  : Precision::fp16;
    MultiplyUnit u;
    u.units = used;
    if (const Engine* matrix = first(EngineClass::matrix, precision); reached(matrix)) {
        u.resource = Resource::matrix_cycles;
        u.matrix = true;
        u.ops_per_cycle = operations_per_cycle(*machine.device, *matrix, precision);
        u.reason = Parameter::matrix_efficiency;
        set_shape(machine.device->facts.as<CpuFacts>(), precision, u);
        // Streams take turns at a unit that their cores share; one inference has all of them.
        if (matrix->shared && streams)
            u.ops_per_cycle *= std::min(1.0, matrix->count / cores);
        else if (matrix->shared)
            u.units = std::min(matrix->count, used);
    } else {
        const Engine* vector = first(EngineClass::vector, precision);
        const Precision runs = vector ? precision : Precision::fp32;
        u.ops_per_cycle = vector ? vector->rate(precision).value * narrowing * pace_ : vector_fp32;
        if (is_integer(runs)) {
            u.reason = Parameter::integer_vector_efficiency;
            u.n_step = lanes; // 32-bit accumulators
            u.k_step = 4;     // dot products of four bytes (VNNI, SDOT)
            u.macs_per_instruction = lanes * 4;
        } else {
            u.reason = kind == OpKind::convolution ? Parameter::vector_convolution_efficiency
                                                   : Parameter::vector_matrix_efficiency;
            u.n_step = runs == Precision::fp16 ? 2 * lanes : lanes;
            u.macs_per_instruction = u.n_step;
        }
    }
    if (kind == OpKind::attention && machine.parameters.fact(Parameter::attention_efficiency).known())
        u.reason = Parameter::attention_efficiency;
    u.efficiency = param(u.reason, 1);
    return u;
}

double View::dram_bytes(double activations, double weights) const {
    if (in_flash_)
        return weights; // read where they lie, in every inference; what is computed is in RAM
    const double shared = cores / used;
    // Streams of one core fill the private caches with their own activations, and share the weights; one
    // inference spreads weights over all of them. Instances of several cores are sessions with weights of
    // their own.
    const double weight_room = streams && used == 1 ? llc_bytes : (llc_bytes + cores * l2_bytes) / shared;
    const double activation_room =
        (llc_bytes + cores * l2_bytes) * param(Parameter::resident_fraction, 1) / shared;
    if (weight_misses_ < 0)
        weight_misses_ =
            miss_share(weight_room, network.weight_bytes, param(Parameter::weight_cache_sharpness, 1));
    return weights * weight_misses_ +
           activations *
               miss_share(activation_room, activations, param(Parameter::activation_cache_sharpness, 1));
}

void View::add_traffic(Mapping& out, const Traffic& t) const {
    const double activations = t.input + t.output;
    // Only what the same core produced and its L2 still holds is near; the rest crosses the mesh.
    const double near =
        (1 / used) * (1 - miss_share(param(Parameter::private_cache_share, 1) * l2_bytes * used, activations,
                                     param(Parameter::private_cache_sharpness, 1)));
    const double from_caches = (t.input * t.input_share + t.output * t.output_share) * used;
    const double near_bytes = from_caches * near;
    const double dram = dram_bytes(activations, t.weights);
    const double crossing = from_caches * (1 - near) + t.weights * t.weight_share * used;
    // Every byte is served by the level that holds it: what misses the shared cache waits for DRAM only.
    const double far_bytes = std::max(0.0, crossing - dram);
    const double share = std::min(1.0, used / first_cores(machine));
    out.add(Resource::l2_bytes, Lane::on_chip, near_bytes, share, Parameter::l2_bytes_per_clock);
    out.add(Resource::llc_bytes, Lane::on_chip, far_bytes, share, Parameter::llc_bytes_per_clock);
    if (const double fetch = param(Parameter::core_dram_bytes_per_clock, 0); streams && fetch > 0) {
        // One core has few misses in flight, whatever the others leave of the DRAM.
        const double relative = fetch / param(Parameter::llc_bytes_per_clock, fetch);
        out.add(Resource::llc_bytes, Lane::on_chip, dram, share * relative,
                Parameter::core_dram_bytes_per_clock);
    }
    out.add(Resource::dram_bytes, Lane::memory, dram, 1, Parameter::dram_efficiency);
    if (outside_ > 0 && outside_rate_ > 0) {
        out.add(Resource::dram_bytes, Lane::memory, outside_ * activations, outside_rate_,
                Parameter::dram_efficiency);
        out.events[Event::dram_byte] += outside_ * activations;
    }
    out.events[Event::l1_byte] += from_caches + t.weights * t.weight_share * used;
    out.events[Event::l2_byte] += from_caches + t.weights * t.weight_share * used;
    out.events[Event::llc_byte] += crossing;
    out.events[Event::dram_byte] += dram;
    out.events[Event::coherence] += crossing / kCacheLine;
}

/// Code of one core that a kernel or a parallel region waits for: it follows the instructions per second that
/// the core decodes, where they are known. Worked: 5 us stated take 6.6 us at four per clock of 3.3 GHz.
void View::add_code(Mapping& out, double seconds, Parameter reason) const {
    const Fact& width = machine.device->facts.as<CpuFacts>().decode_width;
    if (width.known())
        out.add(Resource::overhead_cycles, Lane::overhead, seconds * stated_core() / width.value, 1, reason);
    else
        out.add(Resource::seconds, Lane::overhead, seconds, 1, reason);
}

void View::add_fork_join(Mapping& out, double kernels) const {
    if (used > 1) {
        add_code(out, param(Parameter::sync_time, 0), Parameter::sync_time);
        out.add(Resource::seconds, Lane::overhead, param(Parameter::sync_time_per_core, 0) * used, 1,
                Parameter::sync_time_per_core);
        out.events[Event::scheduling] += used;
    }
    add_code(out, param(Parameter::kernel_overhead, 0) * kernels, Parameter::kernel_overhead);
}

} // namespace archsim::cpu
