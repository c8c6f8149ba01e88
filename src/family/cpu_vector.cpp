// Everything outside contractions: cycles per vector of elements, or bytes; and the events of what the cores
// run.

#include "family/cpu_view.hpp"

#include <algorithm>

namespace archsim::cpu {

// Softmax walks its row for the maximum, the exponentials and the scaling; a normalisation for moments and
// scaling.
constexpr double kSoftmaxFactor = 2;
// Windowed reductions load and combine every input element; the rest produce one output per element.
constexpr double kPoolingFactor = 2;

/// Core cycles per result of 8-bit kernels that compute one value at a time; 0: none such.
static double cycles_one_by_one(const View& view, const OperatorUse& use) {
    if (view.network.precision.activations != Precision::int8)
        return 0;
    if (use.op->type == "AveragePool")
        return view.param(Parameter::average_pooling_cycles, 0);
    if (use.op->work.kind == OpKind::softmax)
        return view.param(Parameter::integer_softmax_cycles, 0);
    if (view.looked_up(use))
        return view.param(Parameter::lookup_cycles, 0);
    return 0;
}

/// Normalisations that sum over their input; a batch normalisation scales by constants.
static bool sums_in_order(const OperatorUse& use) {
    return use.op->work.kind == OpKind::normalization && use.op->work.special_ops > 0;
}

static bool error_function(const OperatorUse& use) {
    return use.op->type == "Erf" || use.op->type == "Gelu" || use.op->type == "BiasGelu";
}

// Register blocking of vector micro-kernels (six rows by four vectors, oneDNN jit kernels): 24 multiply-adds
// take four vector loads and six broadcasts, so every product instruction brings 10 / 24 loads.
constexpr double kLoadsPerProduct = 10.0 / 24.0;
// Operands and result of a vector instruction; a matrix instruction reads two operands and its accumulators,
// and writes these (Intel's AMX: three 1 KiB tiles read, one written).
constexpr double kVectorOperands = 4;
constexpr double kBytesPerLane = 4;

double head_count(const View& view, const OperatorUse& use) {
    double heads = 1;
    if (use.op->outputs.empty() || use.op->outputs.front() == kNoTensor)
        return heads;
    const Shape& shape = view.network.graph->tensors[use.op->outputs.front()].shape;
    for (std::size_t i = 0; i + 2 < shape.size(); ++i)
        heads *= static_cast<double>(shape[i]);
    return heads;
}

double vector_cycles(const View& view, const OperatorUse& use, double blocks) {
    const double simple = view.param(Parameter::element_cycles, 1);
    double heavy = view.param(Parameter::transcendental_cycles, simple);
    if (error_function(use))
        heavy = view.param(Parameter::error_function_cycles, heavy);
    // Native half precision doubles the elements of a vector; softmax and normalisation accumulate in fp32.
    const bool half = use.compute == Precision::fp16 && view.machine.vector_ops(Precision::fp16) > 0;
    double lanes = view.lanes * (half ? 2 : 1);
    double cycles = 0;
    const double cores = view.cores_for(use);
    if (const double each = cycles_one_by_one(view, use); each > 0)
        return each * use.output_elements / cores * View::imbalance(use.output_elements, cores);
    if (const double each = view.param(Parameter::ordered_sum_cycles, 0); each > 0 && sums_in_order(use))
        return each * use.input_elements / cores * View::imbalance(blocks, cores);
    switch (use.op->work.kind) {
    case OpKind::pooling:
    case OpKind::reduction:
        cycles = use.input_elements * simple * kPoolingFactor;
        break;
    case OpKind::softmax:
        cycles = use.output_elements * heavy * kSoftmaxFactor;
        lanes = view.lanes;
        break;
    case OpKind::normalization:
        cycles = use.output_elements * heavy;
        lanes = view.lanes;
        break;
    default:
        cycles = use.output_elements * (use.op->work.special_ops > 0 ? heavy : simple);
        break;
    }
    return cycles / (lanes * cores) * View::imbalance(blocks, cores);
}

double relayout_cycles(const View& view, const SubgraphWork& work) {
    const double cycles = view.param(Parameter::relayout_cycles, 0);
    if (!(cycles > 0) || is_integer(view.network.precision.activations))
        return 0;
    const double vectors = work.relaid_elements / view.lanes;
    return cycles * vectors / view.used * view.imbalance(vectors);
}

void map_vector(const View& view, const SubgraphWork& work, Mapping& out) {
    double cycles = 0, blocks = 1;
    for (const OperatorUse& use : work.operators) {
        const bool per_head =
            use.op->work.kind == OpKind::softmax && view.param(Parameter::head_parallel_attention, 0) > 0;
        blocks = per_head ? head_count(view, use) : std::max(1.0, use.output_elements / view.lanes);
        cycles += vector_cycles(view, use, blocks) + conversion_cycles(view, use);
    }
    out.add(Resource::vector_cycles, Lane::compute, cycles + relayout_cycles(view, work));
    out.ideal_cycles =
        view.vector_fp32 > 0 ? (work.vector_ops + work.special_ops) / (view.vector_fp32 * view.used) : 0;
    count_vector(view, work.vector_ops, work.special_ops, out.events);
    const double wide = view.wide_bytes > 0 ? view.wide_bytes / bytes_of(view.network.precision.activations)
                                            : float_bytes_factor(view, work);
    View::Traffic traffic;
    traffic.input = work.input_bytes * wide;
    traffic.output = (work.output_bytes + work.extra_bytes) * wide;
    traffic.weights = work.weight_bytes;
    traffic.input_share = traffic.output_share = traffic.weight_share = 1 / view.used;
    view.add_traffic(out, traffic);
    view.add_fork_join(out, 1);
    out.allocation.units_total = view.cores;
    out.allocation.units_used = std::min(view.used, blocks);
    out.allocation.scheme = "vector loop";
}

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
