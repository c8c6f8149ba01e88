// Fused attention: scores stay in registers and shared memory (Dao et al., FlashAttention, 2022). Without a
// fused kernel for the format two ordinary products and a softmax are kernels of their own, and the scores
// make four passes through memory.
//
// A stack may tell the softmax between the products (softmax_efficiency), which runs on lanes and
// special-function units, from the products, which then reach what other products do. Worked: a head of 384 x
// 384 scores and 64 columns is 18.4 k cycles of fp16 products on a multiprocessor of A100 (2048 operations
// per cycle), 11.5 k of five operations per score on 64 lanes and 9.2 k of exponentials on 16 units. Products
// in 8 bits would save 9.2 k and cost twice that: each score becomes a float and then an integer again, at
// the rate of special functions (CUDA C++ Programming Guide, throughput of native arithmetic instructions,
// type conversions).

#include "family/gpu_view.hpp"

#include <algorithm>
#include <cmath>

namespace archsim::gpu {

// Query rows of one thread block, and the step along keys.
constexpr double kQueryRows = 64, kKeyStep = 64;
// Rows of one matrix instruction (PTX ISA, mma.m16n8k16): query heads of a group lie side by side in them.
constexpr double kInstructionRows = 16;
// Where the score matrix lies in memory, a kernel that changes it reads and writes it.
constexpr double kKernelPasses = 2;

struct Sizes : AttentionShape {
    double keys = 1; ///< that one query sees on average: causal, windowed or all

    /// Keys of a query's row where products of their own compute it: up to the last key that any query of the
    /// same pass sees, since a matrix product does not know the mask. Worked: 8192 causal queries in passes
    /// of 512 see 4096 keys each and are given 4096 + 512 / 2.
    double row(double pass) const {
        return keys < kv_length ? std::min(kv_length, keys + std::min(pass, query_length) / 2) : keys;
    }
};

static Sizes sizes_of(const SubgraphWork& work) {
    Sizes s;
    bool scores = true;
    for (const OperatorUse& use : work.operators) {
        const auto& shape = use.op->work.attention;
        if (shape) {
            static_cast<AttentionShape&>(s) = *shape;
            s.keys = s.kv_length; // unless the products say that masks leave fewer
        }
        for (const Contraction& c : use.op->work.contractions) {
            if (c.weights_constant)
                continue;
            if (scores) {
                s.keys = c.n;
                if (!shape) {
                    s.heads = s.kv_heads = c.groups;
                    s.query_length = c.m;
                    s.kv_length = c.n;
                    s.head_size = c.k;
                }
            } else if (!shape) {
                s.value_size = c.n;
            }
            scores = false;
        }
    }
    return s;
}

static double padded_to_steps(double length) {
    return std::ceil(length / kKeyStep) * kKeyStep;
}

/// Columns of a head as the kernel has them.
static double padded_head(const View& view, double columns) {
    const double step = view.param(Parameter::attention_head_step, 1);
    return std::ceil(columns / step) * step;
}

/// Query rows that one thread block takes: sequences up to a length that the stack has whole kernels for are
/// not divided.
static double block_rows(const View& view, double queries) {
    return queries <= view.param(Parameter::attention_block_rows, 0) ? padded_to_steps(queries) : kQueryRows;
}

/// Softmax between the products, on lanes that wait with the last wave as the products do: `stretch`.
static void add_softmax(const View& view, const SubgraphWork& work, double stretch, Mapping& out) {
    const double efficiency = view.param(Parameter::softmax_efficiency, 0);
    if (efficiency <= 0)
        return;
    out.add(Resource::vector_cycles, Lane::compute, stretch * view.lane_cycles(work.vector_ops), efficiency,
            Parameter::softmax_efficiency);
    if (view.special_per_cycle > 0)
        out.add(Resource::special_cycles, Lane::compute, stretch * work.special_ops / view.special_per_cycle,
                efficiency, Parameter::softmax_efficiency);
}

/// Narrow floats are widened before the scores are multiplied: softmax needs the range. Integers are where
/// its time is told apart, which 8 bits would not shorten.
static Precision multiplied_in(const View& view, Precision p) {
    const bool told_apart = view.param(Parameter::softmax_efficiency, 0) > 0;
    const bool narrow = bits_of(p) < 16 && (!is_integer(p) || told_apart);
    return narrow && view.machine.matrix_ops(Precision::fp16) > 0 ? Precision::fp16 : p;
}

/// Kernels between the two products where these are kernels of their own: the softmax, into which stacks that
/// chain element-wise operators draw scale and mask; elsewhere each of these that touches the score matrix is
/// one.
static double score_kernels(const View& view, const SubgraphWork& work, double scores) {
    const Machine& m = view.machine;
    if (m.runtime->fusion_on(m.device->family).elementwise_chain)
        return 1;
    const auto changes = std::ranges::count_if(work.operators, [scores](const OperatorUse& use) {
        const OpKind kind = use.op->work.kind;
        return (kind == OpKind::elementwise || kind == OpKind::softmax) && use.output_elements >= scores;
    });
    return std::max(1.0, static_cast<double>(changes));
}

/// The two products as kernels of their own, in tiles as any others.
struct Products {
    TileChoice scores, values;
    Products(const View& view, const Sizes& a, double keys, double heads, Precision precision,
             double efficiency) {
        GemmEngine engine = view.engine(precision, false).tiles;
        engine.efficiency = efficiency;
        scores = view.tiles.of({heads, a.query_length, keys, a.head_size}, engine);
        values = view.tiles.of({heads, a.query_length, a.value_size, keys}, engine);
    }
    double cycles() const { return scores.cycles + values.cycles; }
    double extra_cycles() const { return scores.extra_cycles + values.extra_cycles; }
    double l2_bytes() const { return scores.l2_bytes + values.l2_bytes; }
    double padded_macs() const { return scores.padded_macs + values.padded_macs; }
};

/// A prompt under a delta rule is six kernels (flash-linear-attention, chunk_gated_delta_rule_fwd: sums of
/// the decays, scores of the keys, their triangular system, its products with keys and values, states of the
/// blocks, results), and what lies between them passes through memory in 16 bits, scores in 32. Each block of
/// 64 tokens waits for the state of the one before. Worked: 48 heads of 128 over 16,384 tokens move 4.0 GB,
/// 1.3 ms on H100, and wait 0.75 ms; SGLang 0.5.14 took 2.2 ms. Where one kernel does it all the wait is what
/// is left: 0.77 ms on H100, 0.64 ms on B200, of 32 to 64 heads alike (FlashInfer in vLLM 0.24; both in
/// NVIDIA's tables of AIConfigurator).
static double add_blocks(const Sizes& a, double blocks, View::Traffic& traffic, Mapping& out) {
    constexpr double kKernels = 6, kBlock = 64, kBytes = 2, kBlockCycles = 5000;
    const double key = a.head_size, value = a.value_size;
    const double between = 5 * key + 4 * value + 6 * kBlock + 2 * key * value / kBlock;
    const double bytes = kBytes * between * a.batch * a.heads * a.query_length;
    traffic.activations += bytes;
    traffic.on_chip += bytes;
    out.add(Resource::overhead_cycles, Lane::overhead, kBlockCycles * blocks, 1,
            Parameter::kernel_floor_cycles);
    return kKernels;
}

void map_attention(const View& view, const SubgraphWork& work, Mapping& out) {
    const Sizes a = sizes_of(work);
    const double heads = a.batch * a.heads;
    const double keys = a.keys, row = a.row(view.param(Parameter::microbatch_rows, a.query_length));
    const double widths = a.head_size + a.value_size;
    const double macs = heads * a.query_length * keys * widths;
    const bool rows_only = a.query_length <= kRowKernelRows;
    const double kv_heads = a.batch * a.kv_heads;
    const Precision precision = multiplied_in(view, work.precision);
    const bool fused =
        bits_of(work.precision) <= view.param(Parameter::fused_attention_bits, 64) || rows_only;
    MultiplyEngine engine = view.engine(precision, false).multiply;
    if (const double stated = view.param(Parameter::attention_efficiency, 0); fused && stated > 0) {
        engine.efficiency = stated;
        engine.reason = Parameter::attention_efficiency;
    }
    TileChoice tile;
    double cycles = 0, extra_cycles = 0, stretch = 1, loaded = 0;
    const double rows = block_rows(view, a.query_length);
    if (rows_only) {
        const double instruction_rows =
            std::ceil(a.query_length * heads / kv_heads / kInstructionRows) * kInstructionRows;
        tile.waves = 1;
        tile.units_used = view.units;
        tile.padded_macs = kv_heads * instruction_rows * keys * widths;
        cycles = 2 * tile.padded_macs / engine.ops_per_cycle;
        MultiplyEngine vector;
        vector.ops_per_cycle = view.vector_fp32;
        vector.efficiency = view.param(Parameter::vector_efficiency, 1);
        vector.reason = Parameter::vector_efficiency;
        const double dot_products = 2 * macs / vector.ops_per_cycle;
        if (!engine.matrix || dot_products / vector.efficiency < cycles / engine.efficiency) {
            engine = vector;
            cycles = dot_products;
            tile.padded_macs = macs;
        }
    } else if (!fused) {
        const Products products(view, a, row, heads, precision, engine.efficiency);
        tile = products.scores;
        tile.padded_macs = products.padded_macs();
        cycles = products.cycles();
        extra_cycles = products.extra_cycles();
        loaded = products.l2_bytes();
    } else {
        const double blocks = heads * std::ceil(a.query_length / rows);
        const double padded_keys = padded_to_steps(keys);
        const double padded_widths = padded_head(view, a.head_size) + padded_head(view, a.value_size);
        tile.waves = blocks / view.units;
        tile.units_used = std::min(blocks, view.units);
        tile.tile_m = static_cast<std::uint16_t>(std::min(65535.0, rows));
        tile.tile_n = static_cast<std::uint16_t>(kKeyStep);
        tile.tile_k = static_cast<std::uint16_t>(std::min(65535.0, a.head_size));
        tile.padded_macs = blocks * rows * padded_keys * padded_widths;
        const double rounded =
            wave_count(blocks, view.units, view.param(Parameter::wave_rounding, 1), view.overlapped);
        const double scores = rounded * view.units * rows * padded_keys;
        cycles = scores * padded_widths * 2 / engine.ops_per_cycle;
        stretch = macs > 0 ? scores * widths / macs : 1;
    }
    out.add(engine.resource, Lane::compute, cycles, engine.efficiency, engine.reason);
    out.add(Resource::overhead_cycles, Lane::overhead, extra_cycles, 1, Parameter::kernel_floor_cycles);
    if (!rows_only)
        add_softmax(view, work, stretch, out);
    out.ideal_cycles += 2 * macs / engine.ops_per_cycle;
    const double element = bytes_of(precision);
    count_product(macs, precision, engine, tile, element, out.events);
    count_vector(work.vector_ops, work.special_ops, work.output_bytes, out.events);

    View::Traffic traffic;
    double kernels = 1;
    traffic.activations = work.activation_bytes();
    traffic.kv_cache = work.kv_bytes;
    traffic.weights = work.weight_bytes;
    traffic.units_used = tile.units_used;
    if (fused) {
        // Every block of query rows reads its head's keys and values; few rows come once per group of heads.
        const double readers = rows_only ? kv_heads : heads * std::ceil(a.query_length / rows);
        const double stored = rows_only ? bytes_of(view.network.precision.kv_cache) : element;
        traffic.on_chip = traffic.activations + readers * keys * widths * stored;
    } else {
        const double scores = heads * a.query_length * row;
        const double between = score_kernels(view, work, scores);
        // Written by the first product and read by the last, unless the stack says what passes through
        // memory.
        const double bytes = view.param(Parameter::score_bytes, (kKernelPasses * between + 2) * element);
        traffic.activations += bytes * scores;
        traffic.on_chip = loaded + kKernelPasses * between * scores * element;
        out.workspace_bytes = scores * element;
        kernels = 2 + between;
    }
    if (const double blocks = work.anchor != nullptr ? work.anchor->serial_steps : 1; blocks > 1)
        kernels = add_blocks(a, blocks, traffic, out);
    view.add_traffic(out, traffic, 1, Parameter::dram_efficiency);
    view.add_floor(out, false, kernels);
    view.add_copies(out, narrowing_of(work));

    out.allocation.units_total = view.units;
    out.allocation.units_used = tile.units_used;
    out.allocation.waves = tile.waves;
    out.allocation.tile_m = tile.tile_m;
    out.allocation.tile_n = tile.tile_n;
    out.allocation.tile_k = tile.tile_k;
    out.allocation.useful_fraction = tile.padded_macs > 0 ? std::min(1.0, macs / tile.padded_macs) : 1;
    out.allocation.scheme = fused ? "fused attention" : "attention in several kernels";
}

} // namespace archsim::gpu
