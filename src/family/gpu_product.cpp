// Grouped convolutions: groups side by side in a tile, widened to what a kernel is made for, or cut out one
// by one, as cuDNN runs them (measured on an H100).

#include "family/gpu_product.hpp"

#include "core/product_format.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace archsim::gpu {

// Weights of a product: how a checkpoint stores them, in what they are multiplied, and how often they are
// read.

/// Bits per weight of the product that a checkpoint states tensor by tensor; 0: it leaves that to the
/// request.
static double stated_weight_bits(const View& view, const SubgraphWork& work) {
    if (!view.network.graph || !view.network.graph->stored_weights)
        return 0;
    double bits = 0;
    for (const OperatorUse& use : work.operators)
        for (const TensorId id : use.op->inputs)
            if (use.anchor && id != kNoTensor && view.network.graph->tensors[id].constant)
                bits = std::max(bits, view.network.graph->tensors[id].storage_bits);
    const PrecisionConfig& precision = view.network.precision;
    return precision.requantized && bits < bits_of(Precision::bf16)
               ? bits_of(precision.weights) + precision.weight_bits_overhead
               : bits;
}

static bool has_four_bits(const View& view, const SubgraphWork& work) {
    const double stated = stated_weight_bits(view, work);
    return stated > 0 ? is_four_bit(stated) : is_four_bit(bits_of(view.network.precision.weights));
}

/// The product with an output projection that a scheme keeps as wide as what it multiplies.
static bool has_wide_weights(const View& view, const SubgraphWork& work) {
    if (view.network.precision.head_bits < bits_of(work.precision))
        return false;
    double weights = 0;
    for (const OperatorUse& use : work.operators)
        for (const Contraction& c : use.op->work.contractions)
            weights += c.weights_constant ? c.groups * c.n * c.k : 0;
    constexpr double kBetween = 0.75; // of the width: narrower schemes take half of it and their scales
    return work.weight_bytes * 8 > kBetween * weights * bits_of(work.precision);
}

bool has_packed_weights(const View& view, const SubgraphWork& work) {
    return bits_of(view.network.precision.weights) < bits_of(work.precision) &&
           stated_weight_bits(view, work) < bits_of(work.precision) && !has_wide_weights(view, work);
}

Precision multiplied_in(const View& view, const SubgraphWork& work, const Contraction& c) {
    const double from = view.param(Parameter::dynamic_quantization_rows, 0);
    const bool quantises = from > 0 && c.m >= from && c.weights_constant && has_packed_weights(view, work) &&
                           is_integer(view.network.precision.weights) &&
                           view.machine.matrix_ops(Precision::int8) > 0;
    return quantises ? Precision::int8 : work.precision;
}

bool has_experts(const SubgraphWork& work) {
    return work.anchor && work.kind == OpKind::matmul &&
           std::ranges::count_if(work.anchor->contractions, &Contraction::weights_constant) > 1;
}

Contraction padded_expert(const View& view, const SubgraphWork& work, Contraction c) {
    if (!c.weights_constant || !has_experts(work) || !has_four_bits(view, work))
        return c;
    const auto& all = work.anchor->contractions;
    // The last product leads back from the inner width, the others to it.
    const bool back = c.n == all.back().n && c.k == all.back().k && all.front().n == c.k;
    const double inner = view.param(Parameter::packed_expert_inner_step, 1),
                 outer = view.param(Parameter::packed_expert_outer_step, 1);
    c.n = round_up(c.n, back ? outer : inner);
    c.k = round_up(c.k, back ? inner : outer);
    return c;
}

double rows_of(const View& view, const SubgraphWork& work, double most) {
    if (!has_experts(work))
        return most;
    const double inputs = work.anchor->contractions.front().k;
    for (const OperatorUse& use : work.operators)
        if (use.anchor && view.network.graph && inputs > 0 && !use.op->inputs.empty() &&
            use.op->inputs.front() != kNoTensor)
            return view.network.graph->tensors[use.op->inputs.front()].elements() / inputs;
    return most;
}

double passes_over(const View& view, double rows) {
    const double microbatch = view.param(Parameter::microbatch_rows, 0);
    return microbatch > 0 ? std::max(1.0, std::ceil(rows / microbatch)) : 1;
}

double expanded_weights(const View& view, const SubgraphWork& work, double rows) {
    const double expand_from = view.param(Parameter::dequantization_rows, 0);
    const PrecisionConfig& precision = view.network.precision;
    // Products with the weights of experts read them packed however many rows they have (llama.cpp,
    // ggml_cuda_mul_mat_id and ggml_cuda_should_use_mmq).
    if (expand_from <= 0 || rows < expand_from || !has_packed_weights(view, work) || has_experts(work))
        return 0;
    const double stated = stated_weight_bits(view, work);
    const double bits = stated > 0 ? stated : bits_of(precision.weights) + precision.weight_bits_overhead;
    return work.weight_bytes * 8 / bits * bytes_of(work.precision);
}

double weight_traffic(const View& view, const SubgraphWork& work, double rows, double expanded) {
    const double passes = passes_over(view, rows);
    double stored = 0, padded = 0;
    if (has_experts(work))
        for (const Contraction& c : work.anchor->contractions)
            if (const Contraction whole = padded_expert(view, work, c); c.weights_constant) {
                stored += c.groups * c.n * c.k;
                padded += whole.groups * whole.n * whole.k;
            }
    const double wider = stored > 0 ? padded / stored : 1;
    return (work.weight_bytes * wider * view.weight_passes(work.precision) + 2 * expanded) * passes;
}

// Group widths that cuDNN has grouped kernels for, each processed in blocks of 32 channels (cuDNN release
// notes).
constexpr std::array kGroupWidths = {4.0, 8.0, 16.0, 32.0};
constexpr double kGroupBlock = 32;
// Groups of other widths run one after the other through the library's ordinary kernels, whose tiles have at
// least this many columns (analytical pilot study on published measurements).
constexpr double kUngroupedColumns = 64;
// Kernels that cut groups out one by one step through channels by so many (cuDNN's kernels of CUTLASS:
// 256x64_32x4).
constexpr double kSlicedStep = 32;

/// The next power of two: widths of groups that grouped kernels are made for.
static double kernel_width(double width) {
    double made = 1;
    while (made < width)
        made *= 2;
    return made;
}

/// Whether a grouped convolution's images are widened, group by group, to what a kernel is made for.
static bool widens_groups(const View& view, const SubgraphWork& work, bool matrix) {
    if (!matrix || view.param(Parameter::group_copy_operations, 0) <= 0 || work.kind != OpKind::convolution ||
        !work.anchor->window)
        return false;
    const Window& w = *work.anchor->window;
    const double width = w.in_channels / w.groups;
    return w.groups > 1 && !w.transposed && kernel_width(width) > width;
}

/// Groups side by side in one tile, where the stack has kernels for their width.
static void merge_groups(const View& view, double width, bool matrix, GemmShape& shape, GemmEngine& engine) {
    const bool made = matrix && view.param(Parameter::group_copy_operations, 0) > 0
                          ? kernel_width(width) == width
                          : std::ranges::find(kGroupWidths, width) != kGroupWidths.end();
    if (!made) {
        engine.efficiency *= view.param(Parameter::grouped_efficiency, 1);
        engine.smallest_n = kUngroupedColumns;
        return;
    }
    const double merged = std::max(1.0, std::min(shape.groups, kGroupBlock / width));
    shape.groups = std::ceil(shape.groups / merged);
    shape.n *= merged;
    shape.k *= merged;
}

double image_elements(const Window& w) {
    return w.batch * (w.in_channels * w.in_pixels() + w.out_channels * w.out_pixels());
}

double group_widening(const View& view, const SubgraphWork& work, bool matrix) {
    if (!widens_groups(view, work, matrix))
        return 1;
    const double width = work.anchor->window->in_channels / work.anchor->window->groups;
    return kernel_width(width) / width;
}

void take_groups(const View& view, const SubgraphWork& work, GemmShape& shape, GemmEngine& engine,
                 Product& p) {
    const Window& window = *work.anchor->window;
    double width = window.in_channels / window.groups;
    if (widens_groups(view, work, p.engine.matrix)) {
        const double wider = kernel_width(width) / width;
        width *= wider;
        shape.n *= wider;
        shape.k = window.taps() * width;
        if (view.channels_last()) {
            p.copied = wider * image_elements(window);
            p.copy_operations = view.param(Parameter::group_copy_operations, 0) * p.copied;
            p.copy_cycles = view.index_cycles(p.copy_operations);
            p.kernels = 2;
        }
    }
    merge_groups(view, width, p.engine.matrix, shape, engine);
}

Product sliced(const View& view, const SubgraphWork& work, const Contraction& c) {
    const Window& w = *work.anchor->window;
    Product p;
    p.multiplied = multiplied_in(view, work, c);
    const View::Engine& engine = view.engine(p.multiplied, true);
    p.engine = engine.multiply;
    GemmEngine g = engine.tiles;
    g.output_bytes = bytes_of(work.precision);
    g.operand_reuse = view.param(Parameter::convolution_reuse, 1);
    g.smallest_n = kUngroupedColumns;
    p.tile = view.tiles.of({1, c.m, c.n, w.taps() * round_up(w.in_channels / w.groups, kSlicedStep)}, g);
    p.efficiency = g.efficiency;
    p.reason = p.engine.reason;
    p.cycles = c.groups * p.tile.cycles;
    p.extra_cycles = c.groups * p.tile.extra_cycles;
    p.l2_bytes = c.groups * p.tile.l2_bytes;
    p.tile.padded_macs *= c.groups;
    p.units_used = p.tile.units_used;
    p.macs = c.macs();
    p.copied = image_elements(w);
    p.copy_operations = view.param(Parameter::group_slice_operations, 0) * p.copied;
    p.copy_cycles = view.index_cycles(p.copy_operations);
    p.kernels = 3 * c.groups - 1;
    p.scheme = "group by group";
    return p;
}

View::Copies group_copies(const View& view, const SubgraphWork& work, const Product& p, Mapping& out) {
    if (p.copied <= 0)
        return {};
    count_vector(p.copy_operations, 0, 0, out.events);
    return view.longer_of(p.copy_cycles, {2 * p.copied * bytes_of(work.precision), p.kernels}, out);
}

} // namespace archsim::gpu
