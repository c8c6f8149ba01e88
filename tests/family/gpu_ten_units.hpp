#pragma once
// The machine of the tests of GPU formulas: 10 multiprocessors of 1024 fp16 operations per cycle on the
// matrix engine and 128 on fp32 lanes, 4000 bytes of L2 and 1000 of DRAM per cycle; an L2 that holds next to
// nothing.

#include "map/gpu_machine.hpp"

namespace archsim::test {

inline Machine ten_units() {
    Machine m = with_cache(gpu_machine(10), 1000);
    set(m, Parameter::matrix_efficiency, 0.8);
    set(m, Parameter::vector_efficiency, 0.5);
    set(m, Parameter::kernel_floor_cycles, 6000);
    set(m, Parameter::simple_kernel_floor_cycles, 3000);
    set(m, Parameter::kernel_overhead, 1e-6);
    return m;
}

// m16n8k16 on 16-bit operands: 2048 multiply-accumulates; A 16 x 16 and B 16 x 8 of two bytes, C and D 16 x 8
// of four.
inline constexpr double kPerInstruction = 2048, kRegisters = 512 + 256 + 2 * 512;
// Shared memory per operand byte in warp tiles of 64 x 32.
inline constexpr double kShared = 1.0 / 64 + 1.0 / 32;

} // namespace archsim::test
