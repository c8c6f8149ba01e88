#include "map/accelerator.hpp"

#include <algorithm>
#include <utility>

namespace archsim::accelerator {

bool is_depthwise(const OperatorWork& work) {
    return work.kind == OpKind::convolution && work.window && work.window->groups > 1 &&
           work.window->in_channels == work.window->groups;
}

static bool is_half(Precision p) {
    return p == Precision::fp16 || p == Precision::bf16 || p == Precision::int16;
}

static double rate_of(const std::array<double, kPrecisionCount>& rates, Precision p) {
    return rates[static_cast<std::size_t>(p)];
}

/// The format that stands in for one without a rate of its own: of the same kind (a product of floats in
/// float passes, not in integers) before others, at least as wide before narrower, then the fastest. A
/// quantised graph may prescribe a format that the device does not multiply in.
static Precision substitute(const std::array<double, kPrecisionCount>& rates, Precision p) {
    const auto merit = [&](Precision q) {
        const bool same_kind = is_integer(q) == is_integer(p), wide = bits_of(q) >= bits_of(p);
        // An integer may be held by a wider float; a float is not held by an integer.
        const int suits = is_integer(p) ? (wide ? 1 : 0) : (same_kind ? 2 : 0) + (wide ? 1 : 0);
        return std::pair(suits, rate_of(rates, q));
    };
    Precision best = p;
    for (Precision q : kPrecisions)
        if (rate_of(rates, q) > 0 && (rate_of(rates, best) <= 0 || merit(q) > merit(best)))
            best = q;
    return best;
}

MatrixFormat matrix_format(const Machine& machine, const PrecisionConfig& network, Precision compute) {
    const auto& matrix = machine.matrix_ops_per_cycle;
    const auto& vector = machine.vector_ops_per_cycle;
    MatrixFormat format{.efficiency = machine.param(Parameter::matrix_efficiency, 1.0),
                        .multiplies = compute};
    const bool mixed = is_half(compute) && is_integer(network.weights) && network.compute == compute &&
                       machine.parameters.fact(Parameter::mixed_width_relative_efficiency).known();
    if (mixed) {
        format.ops_per_cycle = rate_of(matrix, Precision::int8);
        format.efficiency *= machine.param(Parameter::mixed_width_relative_efficiency, 1.0);
    } else if (is_half(compute)) {
        format.efficiency *= machine.param(Parameter::half_relative_efficiency, 1.0);
    }
    if (format.ops_per_cycle <= 0)
        format.ops_per_cycle = rate_of(matrix, compute);
    if (format.ops_per_cycle > 0)
        return format;
    const Fact& passes = machine.parameters.fact(Parameter::wide_passes);
    const bool on_vector = rate_of(vector, compute) > 0 && !passes.known();
    format.multiplies = on_vector ? compute : substitute(matrix, compute);
    format.ops_per_cycle = on_vector ? 0 : rate_of(matrix, format.multiplies);
    if (format.ops_per_cycle <= 0) {
        format.multiplies = substitute(vector, compute);
        format.ops_per_cycle = rate_of(vector, format.multiplies);
        format.resource = Resource::vector_cycles;
    } else if (bits_of(format.multiplies) < bits_of(compute)) {
        format.passes = passes.value_or(1);
    }
    return format;
}

double vector_ops_per_cycle(const Machine& machine) {
    const double ratio = machine.param(Parameter::vector_per_matrix, 0.0);
    if (ratio > 0)
        return ratio *
               rate_of(machine.matrix_ops_per_cycle,
                       substitute(machine.matrix_ops_per_cycle, Precision::int8)) *
               machine.param(Parameter::matrix_efficiency, 1.0);
    static constexpr std::array kFormats = {Precision::fp16, Precision::bf16, Precision::fp32,
                                            Precision::int16};
    double rate = 0;
    for (Precision p : kFormats)
        rate = std::max(rate, machine.vector_ops(p));
    return rate > 0 ? rate : *std::ranges::max_element(machine.vector_ops_per_cycle);
}

double channel_padded_macs(const OperatorWork& work, const Contraction& c, double block, bool pack_rows) {
    if (!work.window || work.window->transposed || work.kind != OpKind::convolution) {
        if (c.m <= 1)
            return c.macs();
        return c.groups * c.m * padded(c.k, block) * padded(c.n, block);
    }
    const Window& w = *work.window;
    double inputs = padded(group_inputs(w), block);
    if (pack_rows && group_inputs(w) * 2 <= block)
        inputs = padded(group_inputs(w) * w.kernel[2], block) / w.kernel[2];
    if (w.groups > 1 && group_outputs(w) < block)
        return c.m * w.taps() * inputs * padded(w.out_channels, block);
    return c.m * w.taps() * inputs * padded(group_outputs(w), block) * w.groups;
}

double flat_padded_macs(const Contraction& c, double rows, double cols) {
    return c.groups * c.m * padded(c.k, rows) * padded(c.n, cols);
}

double grouped_macs(const OperatorWork& work, const Contraction& c, double rows, double cols) {
    const Window& w = *work.window;
    const double taps = w.taps(), in = group_inputs(w), out = group_outputs(w);
    const double apart = w.groups * taps * padded(in, rows) * padded(out, cols);
    const double dense = taps * w.in_channels * w.out_channels;
    return c.m * std::min(apart, dense);
}

static double rows_awaited(const OperatorWork& w, double batch) {
    if (w.window) {
        const double height = std::max(1.0, w.window->in[1]);
        const double reach = (w.window->kernel[1] - 1) * w.window->dilation[1] + 1;
        // With padding all around the first result needs no row above the image.
        const double padding =
            std::max(0.0, (w.window->out[1] - 1) * w.window->stride[1] + reach - height) / 2;
        return std::min(1.0, std::max(1.0, reach - padding) / height);
    }
    switch (w.kind) {
    case OpKind::attention:
        return 1;
    case OpKind::matmul: {
        double share = 0;
        for (const Contraction& c : w.contractions)
            share = std::max(share, c.weights_constant ? std::min(1.0, batch / std::max(1.0, c.m)) : 1.0);
        return share;
    }
    case OpKind::reduction:
        return 1;
    default:
        return 0;
    }
}

double rows_awaited(const SubgraphWork& work, double batch) {
    double share = 0;
    for (const OperatorUse& use : work.operators)
        share = std::max(share, rows_awaited(use.op->work, batch));
    return share;
}

/// The stack's costs per element; negative = unknown, the operator's own count stands.
struct VectorCosts {
    explicit VectorCosts(const Machine& machine)
        : drain(machine.param(Parameter::drain_cost, 0)),
          elementwise(machine.param(Parameter::elementwise_cost, -1)),
          pooling(machine.param(Parameter::pooling_cost, -1)),
          activation(machine.param(Parameter::activation_cost, -1)),
          normalization(machine.param(Parameter::normalization_cost, -1)),
          softmax(machine.param(Parameter::softmax_cost, -1)),
          special(machine.param(Parameter::special_function_cost, 1)) {}
    double drain, elementwise, pooling, activation, normalization, softmax, special;

    double own(const OperatorWork& w) const { return w.vector_ops + special * w.special_ops; }
    double moved(const OperatorUse& use) const {
        return elementwise < 0 ? own(use.op->work) : elementwise * (use.input_elements + use.output_elements);
    }
};

/// Mean, variance and scaling as separate operators that the partitioner joined.
static bool is_decomposed_normalization(const SubgraphWork& work) {
    int reductions = 0;
    bool root = false;
    for (const OperatorUse& use : work.operators) {
        reductions += use.op->work.kind == OpKind::reduction;
        root = root || (use.op->work.kind == OpKind::elementwise && use.op->work.special_ops > 0);
    }
    return reductions >= 2 && root;
}

/// Scores that masks leave: as many as the first product of two activations computes.
static double attention_softmax_elements(const OperatorWork& w) {
    const auto scores =
        std::ranges::find_if(w.contractions, [](const Contraction& c) { return !c.weights_constant; });
    if (scores != w.contractions.end())
        return scores->groups * scores->m * scores->n;
    const AttentionShape& a = *w.attention;
    return a.batch * a.heads * a.query_length * a.kv_length;
}

static double pooling_operations(const OperatorUse& use, const VectorCosts& costs) {
    const OperatorWork& w = use.op->work;
    if (costs.pooling < 0 || !w.window)
        return costs.moved(use);
    return costs.pooling * w.window->taps() * use.output_elements;
}

/// One exponential per score, which the stack's cost of a score holds.
static void add_softmax(double scores, const VectorCosts& costs, VectorWork& work) {
    work.operations += costs.softmax * scores;
    work.exponentials += std::max(0.0, costs.activation) * scores;
}

/// Element-wise members of one subgraph pass over the data together: the widest member is charged for its
/// traffic, and one activation for its functions however many operators spell it.
struct ElementwisePass {
    double traffic = 0, activation = 0, own = 0;
};

static void add_elementwise(const OperatorUse& use, bool epilogue, bool second_tensor,
                            ElementwisePass& pass) {
    const OperatorWork& w = use.op->work;
    pass.own = pass.own + w.vector_ops;
    if (w.special_ops > 0)
        pass.activation = std::max(pass.activation, use.output_elements);
    const bool two_inputs = use.input_elements > use.output_elements;
    if (!epilogue || (second_tensor && two_inputs))
        pass.traffic = std::max(pass.traffic, use.input_elements + use.output_elements);
}

VectorWork vector_work(const SubgraphWork& work, const Machine& machine) {
    const VectorCosts costs(machine);
    VectorWork result;
    ElementwisePass pass;
    const bool epilogue = work.kind == OpKind::convolution || work.kind == OpKind::matmul ||
                          work.kind == OpKind::attention || work.kind == OpKind::recurrent;
    const bool normalizes = work.kind == OpKind::reduction && is_decomposed_normalization(work);
    double widest = 0, special = 0;
    for (const OperatorUse& use : work.operators) {
        if (on_host(use, machine))
            continue;
        const OperatorWork& w = use.op->work;
        special += w.special_ops;
        widest = std::max(widest, use.output_elements);
        if (normalizes) {
            pass.own += costs.own(w);
            continue;
        }
        switch (w.kind) {
        case OpKind::free:
            break;
        case OpKind::convolution:
        case OpKind::matmul:
        case OpKind::recurrent:
            if (is_depthwise(w)) {
                result.depthwise_macs += w.macs;
                result.small_operators += 1;
            } else if (w.window && w.window->groups > 1) {
                result.small_operators += 1;
            }
            result.operations +=
                costs.drain * use.written_bytes + (w.kind == OpKind::recurrent ? costs.own(w) : 0);
            break;
        case OpKind::attention:
            result.operations += costs.drain * use.written_bytes;
            if (costs.softmax < 0 || !w.attention)
                result.operations += costs.own(w);
            else
                add_softmax(attention_softmax_elements(w), costs, result);
            break;
        case OpKind::elementwise:
            add_elementwise(use, epilogue, work.extra_bytes > 0, pass);
            break;
        case OpKind::normalization:
            if (w.passes > 1)
                result.operations +=
                    costs.normalization < 0 ? costs.own(w) : costs.normalization * use.output_elements;
            else
                result.operations += costs.moved(use);
            break;
        case OpKind::softmax:
            if (costs.softmax < 0)
                result.operations += costs.own(w);
            else
                add_softmax(use.output_elements, costs, result);
            break;
        case OpKind::pooling:
            result.operations += pooling_operations(use, costs);
            result.small_operators += w.window && w.window->out_pixels() == 1;
            break;
        case OpKind::reduction:
            result.operations += costs.moved(use);
            break;
        case OpKind::data_movement:
            result.operations += costs.moved(use);
            result.small_operators += 1;
            break;
        case OpKind::sorting:
            result.operations += costs.own(w);
            break;
        }
    }
    if (normalizes)
        result.operations += costs.normalization < 0 ? pass.own : costs.normalization * widest;
    else
        result.operations += costs.elementwise < 0 ? pass.own : costs.elementwise * pass.traffic;
    if (pass.activation > 0) {
        const double stated = std::max(0.0, costs.activation) * pass.activation;
        result.operations += costs.activation < 0 ? costs.special * special : stated;
        result.exponentials += stated;
    }
    result.small_operators += pass.traffic > 0;
    result.special = special;
    return result;
}

bool activations_stay(const NetworkWork& network, const SubgraphWork& work, double capacity, double shares) {
    const auto& timeline = network.memory.timeline;
    const double alive = work.index < timeline.size() ? timeline[work.index] : work.activation_bytes();
    return alive <= capacity * shares;
}

double outside_bytes(const SubgraphWork& work) {
    return std::min(work.kv_bytes + work.given_bytes, work.input_bytes + work.extra_bytes);
}

double result_bytes(const SubgraphWork& work, const NetworkWork& network) {
    if (network.partition == nullptr || network.graph == nullptr ||
        work.index >= network.partition->subgraphs.size())
        return 0;
    const auto& results = network.graph->outputs;
    double of_network = 0, all = 0;
    for (const TensorId out : network.partition->subgraphs[work.index].outputs) {
        const ShapedTensor& tensor = network.graph->tensors[out];
        const double elements = tensor.known ? tensor.elements() : 0;
        all += elements;
        if (!tensor.kv_cache && std::ranges::find(results, out) != results.end())
            of_network += elements;
    }
    return all > 0 ? work.output_bytes * of_network / all : 0;
}

void add_fallback(const SubgraphWork& work, const Machine& machine, Mapping& out) {
    if (machine.runtime->fallback != Fallback::host)
        return;
    // Products keep a processor's multipliers busy, what moves through its caches does not.
    const double gain = machine.param(Parameter::fallback_product_gain, 1);
    double operations = 0, bytes = 0, count = 0;
    bool any = false;
    for (const OperatorUse& use : work.operators)
        if (!use.supported) {
            const double products = 2 * use.op->work.macs;
            operations += use.op->work.operations() - products + products / gain;
            bytes += (use.fetches ? use.read_bytes : 0) + (use.returns ? use.written_bytes : 0);
            count += use.switches ? 1 : 0;
            any = true;
        }
    if (!any)
        return;
    const double host = operations * machine.param(Parameter::fallback_operation_time, 0);
    out.add(Resource::seconds, Lane::overhead, host, 1, Parameter::fallback_operation_time);
    out.add(Resource::seconds, Lane::overhead, count * machine.param(Parameter::fallback_switch, 0), 1,
            Parameter::fallback_switch);
    out.events[Event::host_busy_second] += host;
    // A host that shares the accelerator's memory exchanges tensors through it, any other over its link.
    if (machine.rate(Resource::host_link_bytes) > 0) {
        out.add(Resource::host_link_bytes, Lane::overhead, bytes);
        out.events[Event::host_link_byte] += bytes;
    } else if (machine.rate(Resource::dram_bytes) > 0) {
        add_dram(out, Resource::dram_bytes, Lane::overhead, bytes);
    }
    out.allocation.scheme = "host fallback";
}

void count_arithmetic(const SubgraphWork& work, const NetworkWork& network, const Machine& machine,
                      Mapping& out) {
    for (const OperatorUse& use : work.operators) {
        if (on_host(use, machine))
            continue;
        if (use.op->work.macs > 0) {
            const MatrixFormat format = matrix_format(machine, network.precision, use.compute);
            out.events.mac(format.multiplies) += use.op->work.macs * format.passes;
        }
        out.events[Event::vector_op] += use.op->work.vector_ops;
        out.events[Event::special_op] += use.op->work.special_ops;
    }
}

void add_start_time(const Machine& machine, Parameter reason, double times, Mapping& out) {
    // With many requests in flight the host prepares one while the device runs another; whether it also
    // starts one while another runs is the stack's.
    const bool flowing = machine.scenario == Scenario::throughput;
    const double visible = flowing ? machine.param(Parameter::stream_overlap, 1) : 1;
    if (visible > 0)
        out.add(Resource::seconds, Lane::overhead, times * visible * machine.param(reason, 0), 1, reason);
}

void add_inference_overhead(const NetworkWork& network, const Machine& machine, Mapping& out, double starts) {
    add_start_time(machine, Parameter::inference_overhead, starts, out);
    const bool flowing = machine.scenario == Scenario::throughput;
    if (machine.scope != Scope::end_to_end)
        return;
    const double bytes = network.input_bytes + network.output_bytes;
    const bool linked = machine.rate(Resource::host_link_bytes) > 0;
    if (linked)
        out.events[Event::host_link_byte] += bytes;
    if (flowing)
        return;
    out.add(Resource::seconds, Lane::overhead, machine.param(Parameter::host_time, 0), 1,
            Parameter::host_time);
    if (!linked)
        return;
    out.add(Resource::host_link_bytes, Lane::overhead, bytes);
    // Memory that the operating system may page out is copied, piece by piece, into memory that it may not.
    if (const double copied = machine.param(Parameter::host_copy_bandwidth, 0); copied > 0)
        out.add(Resource::seconds, Lane::overhead, bytes / copied, 1, Parameter::host_copy_bandwidth);
}

void add_layer_overhead(const Machine& machine, double layers, double shared_by, Mapping& out) {
    out.add(Resource::seconds, Lane::overhead,
            machine.param(Parameter::kernel_overhead, 0) * layers / shared_by, 1, Parameter::kernel_overhead);
    out.add(Resource::overhead_cycles, Lane::overhead,
            machine.param(Parameter::layer_cycles, 0) * layers / shared_by, 1, Parameter::layer_cycles);
}

} // namespace archsim::accelerator

namespace archsim {

NetworkMapping Mapper::map_network(const NetworkWork& network, const Machine& machine) const {
    NetworkMapping result;
    accelerator::add_inference_overhead(network, machine, result.fixed);
    return result;
}

const Mapper& mapper_for(Family family) {
    if (family.row().mapper == nullptr)
        throw InputError("a device of no family cannot be mapped; name its family or give a mapper");
    return family.row().mapper();
}

} // namespace archsim
