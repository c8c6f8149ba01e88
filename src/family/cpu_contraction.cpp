// Convolutions and matrix products on cores: blocks spread over the cores, each core fetching its copy of the
// operands it shares with others.

#include "family/cpu_view.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace archsim::cpu {

// Block of the output that one core works on at a time: matrix units keep a 2 x 2 arrangement of tiles in
// their accumulators, vector code 16 rows of a few vectors (oneDNN brgemm and ncnn micro-kernels).
constexpr double kTilesAcross = 2, kVectorBlockM = 16, kVectorBlockN = 16;
// Finest useful split of the rows over cores.
constexpr double kLeastRows = 8;
// Winograd pays from this many channels (ncnn: convolution_3x3_winograd is chosen from 16 in and out).
constexpr double kWinogradChannels = 16;

static double round_up(double x, double step) {
    return std::ceil(x / step) * step;
}

/// Winograd F(m x m, 3 x 3): `saving` in multiply-accumulates, with tiles that hang over the border.
struct Winograd {
    double outputs = 0, saving = 1;
    /// The input as overlapping transformed tiles, which the products read as a matrix.
    double transformed_elements(const Window& w) const {
        const double tiles = w.batch * std::ceil(w.out[1] / outputs) * std::ceil(w.out[2] / outputs);
        return tiles * (outputs + 2) * (outputs + 2) * w.in_channels;
    }
};

static Winograd best_winograd(const Window& w, bool integer) {
    Winograd best;
    static constexpr std::array kOutputs = {2.0, 4.0, 6.0};
    for (double m : kOutputs) {
        if (integer && m != 4) // 8-bit transforms overflow beyond, and F(2x2) saves too little
            continue;
        const double fill_h = w.out[1] / round_up(w.out[1], m), fill_w = w.out[2] / round_up(w.out[2], m);
        const double saving = 9 * m * m / ((m + 2) * (m + 2)) * fill_h * fill_w;
        if (saving > best.saving)
            best = {m, saving};
    }
    return best;
}

static bool winograd_shape(const Window& w) {
    return w.groups == 1 && !w.transposed && w.kernel[0] == 1 && w.kernel[1] == 3 && w.kernel[2] == 3 &&
           w.stride[1] == 1 && w.stride[2] == 1 && w.dilation[1] == 1 && w.dilation[2] == 1 &&
           w.in_channels >= kWinogradChannels && w.out_channels >= kWinogradChannels;
}

/// Rows of an output in blocks of one height, the last one padded.
struct RowBlocks {
    double height = 1, count = 1;
};

/// The height between half a block and a whole one, in steps of the instruction, that keeps the units busy
/// for the shortest time with `across` columns of blocks; of equals the largest. Every height is there for
/// every number of rows, so that twice the rows never take more than twice the time. Worked: 196 rows are 14
/// blocks of 14, where 13 of 16 would pad them to 208.
static RowBlocks split_rows(double rows, double step, double block, double across, double units) {
    RowBlocks best;
    double least = 0;
    for (double height = block; height >= std::min(block / 2, round_up(rows, step)); height -= step) {
        const double count = std::ceil(rows / height);
        if (least > 0 && height * count >= least) // imbalance only adds
            continue;
        const double time = height * count * View::imbalance(count * across, units);
        if (least == 0 || time < least) {
            least = time;
            best = {height, count};
        }
    }
    return best;
}

struct Product {
    double cycles = 0;
    double efficiency = 1;
    double blocks = 1, useful_fraction = 1, macs = 0;
    Parameter reason = Parameter::count_;
    bool winograd = false;
    double workspace_bytes = 0;
    double rows_shares = 1, column_shares = 1; ///< cores along M and along N
};

static Product multiply(const View& view, const SubgraphWork& work, const OperatorUse& use,
                        const Contraction& c, const MultiplyUnit& unit, double input_bytes,
                        double weight_bytes) {
    Product p;
    const double k = round_up(c.k, unit.k_step);
    p.efficiency = unit.efficiency;
    p.reason = unit.reason;
    p.macs = c.macs();
    double saved = 1;
    const Window* w =
        use.op->work.kind == OpKind::convolution && use.op->work.window ? &*use.op->work.window : nullptr;
    const Parameter fast =
        is_integer(work.precision) ? Parameter::integer_winograd_efficiency : Parameter::winograd_efficiency;
    if (const double efficiency = view.param(fast, 0);
        w && !unit.matrix && efficiency > 0 && winograd_shape(*w)) {
        const Winograd fastest = best_winograd(*w, is_integer(work.precision));
        if (fastest.saving * efficiency > unit.efficiency) {
            saved = fastest.saving;
            p.macs /= saved;
            // 8-bit tiles grow to 16 bits in the transform.
            p.workspace_bytes = fastest.transformed_elements(*w) * std::max(2.0, bytes_of(use.compute));
            p.efficiency = efficiency;
            p.reason = fast;
            p.winograd = true;
        }
    }
    // Groups that do not fill whole vectors of channels miss the kernel for blocked channels.
    if (w != nullptr && !p.winograd && w->groups > 1 && !unit.matrix &&
        (std::fmod(w->in_channels / w->groups, view.lanes) != 0 ||
         std::fmod(w->out_channels / w->groups, view.lanes) != 0))
        p.efficiency *= view.param(Parameter::grouped_efficiency, 1);
    const double block_m = unit.matrix ? kTilesAcross * unit.m_step : kVectorBlockM;
    const double block_n = unit.matrix ? kTilesAcross * unit.n_step : kVectorBlockN;
    const bool per_head = !c.weights_constant && view.param(Parameter::head_parallel_attention, 0) > 0;
    // Equal blocks, each padded to whole instructions; one core or one head takes all of its product.
    const bool split = unit.units > 1 && !per_head;
    const double blocks_n = split ? std::ceil(c.n / block_n) : 1;
    const RowBlocks by_rows = split ? split_rows(c.m, unit.m_step, block_m, blocks_n * c.groups, unit.units)
                                    : RowBlocks{round_up(c.m, unit.m_step), 1};
    const double block = by_rows.height * round_up(c.n / blocks_n, unit.n_step) * k;
    p.blocks = by_rows.count * blocks_n * c.groups;
    const double macs = p.blocks * block / saved;
    p.cycles = 2 * macs * View::imbalance(p.blocks, unit.units) / (unit.ops_per_cycle * unit.units);
    p.useful_fraction = p.macs / macs;
    // Cores along M and N in the ratio that moves the fewest bytes; what they share reads everything once.
    if (view.used > 1 && unit.units >= view.used && view.param(Parameter::operand_replication, 0) > 0) {
        if (!c.weights_constant) {
            p.rows_shares = std::min(std::max(1.0, c.groups), view.used);
            p.column_shares = p.rows_shares;
        } else {
            const double least_m = unit.matrix ? unit.m_step : kLeastRows;
            const double rows = std::ceil(c.m / least_m), columns = std::ceil(c.n / kVectorBlockN) * c.groups;
            const double ideal =
                weight_bytes > 0 ? std::sqrt(view.used * input_bytes / weight_bytes) : view.used;
            const double low = std::max(1.0, view.used / columns),
                         high = std::max(low, std::min(view.used, rows));
            p.rows_shares = std::clamp(ideal, low, high);
            p.column_shares = std::min(std::max(1.0, view.used / p.rows_shares), columns);
        }
    } else {
        p.rows_shares = p.column_shares = view.used;
    }
    return p;
}

static bool is_depthwise(const OperatorUse& use) {
    if (use.op->work.kind != OpKind::convolution || !use.op->work.window)
        return false;
    const Window& w = *use.op->work.window;
    return w.groups > 1 && w.in_channels <= w.groups;
}

static void map_depthwise(const View& view, const OperatorUse& use, Mapping& out) {
    const Window& w = *use.op->work.window;
    const double blocks = w.batch * std::ceil(w.out_channels / view.lanes) * w.out[1];
    // Native half precision doubles the lanes; 8-bit networks gain nothing.
    const double half =
        view.machine.vector_ops(Precision::fp16) > 0 && use.compute == Precision::fp16 ? 2 : 1;
    const double rate = view.vector_fp32 * half * view.used;
    if (const double widened = widened_depthwise_cycles(view, use); widened > 0)
        out.add(Resource::vector_cycles, Lane::compute, widened * view.imbalance(blocks));
    else
        out.add(Resource::vector_cycles, Lane::compute, 2 * use.op->work.macs * view.imbalance(blocks) / rate,
                view.param(Parameter::depthwise_efficiency, 1), Parameter::depthwise_efficiency);
    out.ideal_cycles += 2 * use.op->work.macs / rate;
    MultiplyUnit unit;
    unit.n_step = unit.macs_per_instruction = view.lanes * half;
    count_product(use.op->work.macs, use.compute, unit, out.events);
    out.allocation.scheme = "depthwise on vector units";
    out.allocation.units_used = std::min(view.used, blocks);
}

/// Elements of the unfolded columns of a convolution (im2col) per element of its input: 1 where it is
/// pointwise, 25 for 5 x 5 at stride 1, 7.1 for 11 x 11 at stride 4 (227 pixels to 55).
static double unfolding(const OperatorUse& use) {
    const Window& w = *use.op->work.window;
    return w.in_pixels() > 0 ? w.taps() * w.out_pixels() / w.in_pixels() : 1;
}

/// Times that weights are walked in one call, because the stack repacks them.
static double weight_passes(const View& view, const OperatorUse& use) {
    if (use.op->work.kind != OpKind::convolution || !use.op->work.window)
        return 1;
    return view.param(use.op->work.window->taps() > 1 ? Parameter::window_weight_passes
                                                      : Parameter::pointwise_weight_passes,
                      1);
}

void map_contraction(const View& view, const SubgraphWork& work, Mapping& out) {
    const bool convolution = work.kind == OpKind::convolution;
    View::Traffic traffic;
    traffic.input = work.input_bytes;
    traffic.output = work.output_bytes + work.extra_bytes;
    traffic.weights = work.weight_bytes;
    traffic.input_share = traffic.weight_share = traffic.output_share = 1 / view.used;
    double vector_work = relayout_cycles(view, work), kernels = 0, sum_bytes = 0;
    bool winograd = false, depthwise = false;
    for (const OperatorUse& use : work.operators) {
        vector_work += conversion_cycles(view, use) + unfold_cycles(view, use);
        if (use.op->work.contractions.empty()) {
            if (use.op->work.special_ops > 0) // simple element-wise work hides in the product's registers
                vector_work += vector_cycles(view, use, use.output_elements / view.lanes);
            continue;
        }
        vector_work += scaling_cycles(view, use);
        if (is_depthwise(use)) {
            map_depthwise(view, use, out);
            depthwise = true;
            kernels += view.param(Parameter::convolution_kernels, 1);
            continue;
        }
        const bool activations_only = !use.op->work.contractions.front().weights_constant;
        const OpKind kind = activations_only ? OpKind::attention : use.op->work.kind;
        const MultiplyUnit& unit = view.unit(use.compute, kind);
        kernels += kind == OpKind::attention     ? view.param(Parameter::attention_product_kernels, 1)
                   : kind == OpKind::convolution ? view.param(Parameter::convolution_kernels, 1)
                                                 : 1.0;
        double cycles = 0, time = 0;
        Parameter reason = unit.reason;
        for (const Contraction& c : use.op->work.contractions) {
            const Product p = multiply(view, work, use, c, unit, work.input_bytes, use.weight_bytes);
            cycles += p.cycles;
            time += p.cycles / p.efficiency;
            reason = p.reason;
            winograd = winograd || p.winograd;
            out.workspace_bytes = std::max(out.workspace_bytes, p.workspace_bytes);
            out.ideal_cycles += 2 * p.macs / (unit.ops_per_cycle * unit.units);
            count_product(p.macs, use.compute, unit, out.events);
            sum_bytes += wide_sums(view, use, c);
            traffic.input_share = 1 / p.rows_shares;
            traffic.weight_share = 1 / p.column_shares;
            out.allocation.units_used = std::max(out.allocation.units_used, std::min(view.used, p.blocks));
            out.allocation.useful_fraction = p.useful_fraction;
        }
        if (cycles > 0)
            out.add(unit.resource, Lane::compute, cycles, cycles / time, reason);
        out.allocation.scheme = winograd ? "Winograd" : unit.matrix ? "matrix tiles" : "vector blocks";
    }
    const double passes = view.param(winograd    ? Parameter::winograd_input_passes
                                     : depthwise ? Parameter::depthwise_input_passes
                                                 : Parameter::convolution_input_passes,
                                     1);
    if (convolution) {
        const OperatorUse& anchor = work.operators.front();
        const bool columns =
            !winograd && !depthwise && anchor.op->work.window && view.param(Parameter::column_packing, 0) > 0;
        const double unfolded = columns ? unfolding(anchor) : 1.0;
        if (unfolded > 1) // the columns are a buffer of their own
            out.workspace_bytes = std::max(out.workspace_bytes, work.input_bytes * unfolded);
        traffic.input *= passes * unfolded;
        traffic.output *= view.param(Parameter::convolution_output_passes, 1);
        traffic.weights *= weight_passes(view, work.operators.front());
    } else if (view.wide_bytes > 0) {
        traffic.output *= view.wide_bytes / bytes_of(view.network.precision.activations);
    }
    traffic.output += sum_bytes;
    out.add(Resource::vector_cycles, Lane::compute, vector_work);
    count_vector(view, work.vector_ops, work.special_ops, out.events);
    view.add_traffic(out, traffic);
    view.add_fork_join(out, std::max(kernels, work.anchor->serial_steps));
    out.allocation.units_total = view.cores;
}

} // namespace archsim::cpu
