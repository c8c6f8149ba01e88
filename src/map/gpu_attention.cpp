// Fused attention: scores stay in registers and shared memory (Dao et al., FlashAttention, 2022). Without a fused
// kernel for the format the scores make four passes through memory.

#include "map/gpu_view.hpp"

#include <algorithm>
#include <cmath>

namespace archsim::gpu {

namespace {

// Query rows of one thread block, and the step along keys.
constexpr double kQueryRows = 64, kKeyStep = 64;
// Up to this many query rows the keys and values are streamed through dot products instead.
constexpr double kRowKernelRows = 8;
// Product, scale and mask, softmax, product: each writes or reads the score matrix once.
constexpr double kScorePasses = 4;

AttentionShape shape_of(const SubgraphWork& work) {
    for (const OperatorUse& use : work.operators)
        if (use.op->work.attention)
            return *use.op->work.attention;
    AttentionShape a;
    bool scores = true;
    for (const OperatorUse& use : work.operators)
        for (const Contraction& c : use.op->work.contractions) {
            if (scores) {
                a.heads = c.groups;
                a.kv_heads = c.groups;
                a.query_length = c.m;
                a.kv_length = c.n;
                a.head_size = c.k;
            }
            a.value_size = c.n;
            scores = false;
        }
    return a;
}

} // namespace

void map_attention(const View& view, const SubgraphWork& work, Mapping& out) {
    const AttentionShape a = shape_of(work);
    const double heads = a.batch * a.heads;
    // Causal attention visits the lower triangle only.
    const double keys = a.causal ? a.kv_length - (std::min(a.query_length, a.kv_length) - 1) / 2 : a.kv_length;
    const double widths = a.head_size + a.value_size;
    const double macs = heads * a.query_length * keys * widths;
    const bool rows_only = a.query_length <= kRowKernelRows;
    MultiplyEngine engine = view.engine(work.precision, false);
    TileChoice tile;
    double cycles = 0;
    if (rows_only) {
        engine = MultiplyEngine{};
        engine.ops_per_cycle = view.vector_fp32;
        engine.efficiency = view.param(Parameter::vector_efficiency, 1);
        engine.reason = Parameter::vector_efficiency;
        cycles = 2 * macs / engine.ops_per_cycle;
        tile.waves = 1;
        tile.units_used = view.units;
        tile.padded_macs = macs;
    } else {
        const double blocks = heads * std::ceil(a.query_length / kQueryRows);
        const double padded_keys = std::ceil(keys / kKeyStep) * kKeyStep;
        engine.efficiency = view.param(Parameter::attention_efficiency, engine.efficiency);
        engine.reason = Parameter::attention_efficiency;
        tile.waves = blocks / view.units;
        tile.units_used = std::min(blocks, view.units);
        tile.tile_m = static_cast<std::uint16_t>(kQueryRows);
        tile.tile_n = static_cast<std::uint16_t>(kKeyStep);
        tile.tile_k = static_cast<std::uint16_t>(std::min(65535.0, a.head_size));
        tile.padded_macs = blocks * kQueryRows * padded_keys * widths;
        const double rounded =
            wave_count(blocks, view.units, view.param(Parameter::wave_rounding, 1), view.overlapped);
        cycles = rounded * view.units * kQueryRows * padded_keys * widths * 2 / engine.ops_per_cycle;
    }
    out.add(engine.resource, Lane::compute, cycles, engine.efficiency, engine.reason);
    out.ideal_cycles += 2 * macs / engine.ops_per_cycle;
    const double element = bytes_of(work.precision);
    count_product(macs, work.precision, engine, tile, element, out.events);
    count_vector(work.vector_ops, work.special_ops, work.output_bytes, out.events);

    View::Traffic traffic;
    traffic.activations = work.activation_bytes();
    traffic.kv_cache = work.kv_bytes;
    traffic.weights = work.weight_bytes;
    traffic.units_used = tile.units_used;
    const bool fused = bits_of(work.precision) <= view.param(Parameter::fused_attention_bits, 64) || rows_only;
    if (!fused)
        traffic.activations += kScorePasses * heads * a.query_length * keys * element;
    // Every block of query rows reads its head's keys and values.
    const double query_blocks = rows_only ? 1 : std::ceil(a.query_length / kQueryRows);
    traffic.on_chip = traffic.activations + heads * query_blocks * keys * widths * element;
    view.add_traffic(out, traffic, 1, Parameter::dram_efficiency);
    view.add_floor(out, false, fused ? 1 : 3);
    view.add_collectives(out, work);

    out.allocation.units_total = view.units;
    out.allocation.units_used = tile.units_used;
    out.allocation.waves = tile.waves;
    out.allocation.tile_m = tile.tile_m;
    out.allocation.tile_n = tile.tile_n;
    out.allocation.tile_k = tile.tile_k;
    out.allocation.useful_fraction = tile.padded_macs > 0 ? std::min(1.0, macs / tile.padded_macs) : 1;
    out.allocation.scheme = fused ? "fused attention" : "attention in three kernels";
}

} // namespace archsim::gpu
