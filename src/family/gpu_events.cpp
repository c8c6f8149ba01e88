#include "family/gpu_view.hpp"

#include <algorithm>

namespace archsim::gpu {

namespace {

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

} // namespace

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
