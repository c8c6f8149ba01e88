#include "family/cpu_view.hpp"

namespace archsim::cpu {

namespace {

// Register blocking of vector micro-kernels (six rows by four vectors, oneDNN jit kernels): 24 multiply-adds
// take four vector loads and six broadcasts, so every product instruction brings 10 / 24 loads.
constexpr double kLoadsPerProduct = 10.0 / 24.0;
// Operands and result of a vector instruction; a matrix instruction reads two operands and its accumulators,
// and writes these (Intel's AMX: three 1 KiB tiles read, one written).
constexpr double kVectorOperands = 4;
constexpr double kBytesPerLane = 4;

} // namespace

void count_product(double macs, Precision precision, const MultiplyUnit& unit, EventCounts& events) {
    events.mac(precision) += macs;
    const double products = macs / unit.macs_per_instruction;
    events[Event::instruction] += products * (1 + kLoadsPerProduct);
    const double loaded = unit.matrix ? unit.operand_bytes : unit.n_step * bytes_of(precision) * unit.k_step;
    events[Event::register_byte] +=
        products * (unit.matrix ? 2 * (unit.operand_bytes + unit.result_bytes) : kVectorOperands * loaded);
    events[Event::l1_byte] += products * kLoadsPerProduct * loaded;
}

void count_vector(const View& view, double vector_ops, double special_ops, EventCounts& events) {
    events[Event::vector_op] += vector_ops;
    events[Event::special_op] += special_ops;
    const double instructions = (vector_ops + special_ops) / view.lanes;
    events[Event::instruction] += 2 * instructions; // with its load or store
    events[Event::register_byte] += instructions * kVectorOperands * view.lanes * kBytesPerLane;
}

} // namespace archsim::cpu
