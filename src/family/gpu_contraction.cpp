// Convolutions and matrix products: implicit GEMM in tiles, a row kernel for few rows, Winograd where the
// stack has it and the vector units multiply.

#include "family/gpu_product.hpp"
#include "map/neighbours.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace archsim::gpu {

// Few input channels are padded to this number (image input in the NHWC4 and NC/4HW4 layouts).
constexpr double kFewChannels = 4;
// Winograd F(2x2, 3x3): 16 products of transformed tiles replace 36 multiply-accumulates of 4 outputs;
// transforms take 32 additions per input tile and channel and 24 per output tile and channel (Lavin and Gray,
// CVPR 2016).
constexpr double kWinogradOutputs = 2, kWinogradProducts = 16, kWinogradInputOps = 32,
                 kWinogradOutputOps = 24;

// Formats whose experts have a scale for each block of weights (Parameter::narrow_expert_relative_rate).
constexpr double kNarrowExpertBits = 8;
// Range of a row, scale and rounding: an operation each per element.
constexpr double kQuantiseOps = 3;

/// Reduction length as the kernels see it: input channels padded to the alignment of vector loads.
static double padded_k(const View& view, const Window& w, double k, bool aligned, Precision precision) {
    const double channels = w.in_channels / w.groups;
    if (!aligned || channels <= 0 || w.transposed)
        return k;
    const double alignment = view.param(Parameter::alignment_bytes, 1) / bytes_of(precision);
    const double padded = channels <= kFewChannels ? std::min(kFewChannels, alignment)
                                                   : round_up(channels, std::max(1.0, alignment));
    return k * std::max(padded, channels) / channels;
}

static bool multiplies_floats_alone(const SubgraphWork& work) {
    return work.kind == OpKind::matmul && work.precision == Precision::fp32 &&
           std::ranges::any_of(work.operators, [](const OperatorUse& use) {
               return use.op->native_precision == Precision::fp32;
           });
}

/// Rows of the smallest tile in which the stack's kernels multiply weights on the matrix engine; 0: not
/// stated, as of experts, whose rows are those that each is picked by. Worked, H20, one row of 5120 x 5120
/// weights in bf16: 64 rows are 3.4 G operations, 43 us at 0.53 of 148 T/s, and its memory takes 14.
static double least_rows(const View& view, const SubgraphWork& work, const Contraction& c) {
    if (work.kind != OpKind::matmul || !c.weights_constant || has_experts(work) ||
        view.machine.matrix_ops(work.precision) <= 0)
        return 0;
    return view.param(has_packed_weights(view, work) ? Parameter::packed_product_block_rows
                                                     : Parameter::product_block_rows,
                      0);
}

static Product tiled(const View& view, const SubgraphWork& work, const Contraction& c) {
    const Window* window =
        work.kind == OpKind::convolution && work.anchor->window ? &*work.anchor->window : nullptr;
    Product p;
    p.multiplied = multiplied_in(view, work, c);
    const View::Engine& engine = view.engine(p.multiplied, window != nullptr);
    p.engine = engine.multiply;
    GemmEngine g = engine.tiles;
    g.output_bytes = bytes_of(work.precision);
    GemmShape shape{c.groups, c.m, c.n, c.k};
    if (window) {
        shape.k =
            padded_k(view, *window, shape.k, p.engine.matrix || is_integer(work.precision), work.precision);
        if (window->taps() > 1)
            g.operand_reuse = view.param(Parameter::convolution_reuse, 1);
        if (window->groups > 1)
            take_groups(view, work, shape, g, p);
    }
    if (const double rows = least_rows(view, work, c); rows > 0)
        g.smallest_m = rows;
    const bool packed =
        c.weights_constant && p.multiplied == work.precision && has_packed_weights(view, work);
    if (packed) {
        g.efficiency *= view.param(Parameter::weight_only_relative_efficiency, 1);
        if (p.engine.matrix && !is_integer(p.multiplied)) // whose engine has it already
            g.efficiency *= view.param(Parameter::warp_product_relative_rate, 1);
    }
    // Scales of blocks are applied between the products, and each expert's rows are gathered first.
    if (p.engine.matrix && has_experts(work) && bits_of(p.multiplied) <= kNarrowExpertBits)
        g.efficiency *= view.param(Parameter::narrow_expert_relative_rate, 1);
    // A product in fp32 beside narrower ones is a library's, which splits long reductions: 6.9 us for one row
    // of 6144 x 128 weights, 13.6 us for two, on B200 (vllm-project/vllm#44343).
    if (!p.engine.matrix && multiplies_floats_alone(work))
        g.split_cycles = view.param(Parameter::kernel_floor_cycles, -1);
    p.tile = view.tiles.of(shape, g);
    // Every row of tiles converts all weights for itself, between its products, where no kernel before it
    // expands them. Worked: a tile of 128 rows on a multiprocessor of A100 multiplies a weight in 128 / 1024
    // of a cycle, and converts it by 1.6 operations of 64 lanes in 1.6 / 64.
    if (packed && p.engine.matrix && p.tile.tile_m > 0)
        p.conversions =
            view.param(Parameter::weight_conversion_operations, 0) * c.groups * c.n * c.k *
            (expanded_weights(view, work, c.m) > 0 ? passes_over(view, c.m) : std::ceil(c.m / p.tile.tile_m));
    p.efficiency = g.efficiency;
    p.reason = p.engine.reason;
    p.cycles = p.tile.cycles;
    p.extra_cycles = p.tile.extra_cycles;
    p.l2_bytes = p.tile.l2_bytes;
    p.units_used = p.tile.units_used;
    p.macs = c.macs();
    if (p.tile.split >
        1) // partial sums in FP32, added up by a second kernel (CUTLASS, parallelized reductions)
        p.workspace_bytes = c.groups * c.m * c.n * p.tile.split * bytes_of(Precision::fp32);
    p.scheme = window ? "implicit GEMM" : p.tile.split > 1 ? "split-K GEMM" : "GEMM";
    return p;
}

/// Every weight meets few rows: a dot product per output on the vector units, spread over all
/// multiprocessors.
static Product row_kernel(const View& view, const SubgraphWork& work, const Contraction& c) {
    Product p;
    p.multiplied = work.precision;
    const double native = is_integer(work.precision) ? view.machine.vector_ops(work.precision) : 0;
    p.engine.ops_per_cycle = std::max(native, view.vector_fp32);
    p.efficiency = view.param(Parameter::vector_efficiency, 1);
    p.engine.efficiency = p.efficiency;
    p.reason = Parameter::vector_efficiency;
    p.cycles = 2 * c.macs() / p.engine.ops_per_cycle;
    p.macs = c.macs();
    // Worked: 68.7 G weights of Llama 2 70B at four operations take 6,912 lanes of A100 28 ms, beside 34 of
    // memory.
    if (c.weights_constant && has_packed_weights(view, work))
        p.conversions = view.param(Parameter::weight_conversion_operations, 0) * c.groups * c.n * c.k;
    p.units_used = view.units;
    p.tile.waves = 1;
    p.tile.padded_macs = p.macs;
    p.scheme = "row kernel";
    return p;
}

static bool winograd_applies(const View& view, const SubgraphWork& work) {
    if (work.kind != OpKind::convolution || !work.anchor->window || is_integer(work.precision) ||
        view.param(Parameter::winograd_efficiency, 0) <= 0)
        return false;
    const Window& w = *work.anchor->window;
    return w.groups == 1 && !w.transposed && w.kernel[0] == 1 && w.kernel[1] == 3 && w.kernel[2] == 3 &&
           w.stride[1] == 1 && w.stride[2] == 1 && w.dilation[1] == 1 && w.dilation[2] == 1;
}

static Product winograd(const View& view, const SubgraphWork& work) {
    const Window& w = *work.anchor->window;
    Product p;
    p.multiplied = work.precision;
    const View::Engine& engine = view.engine(work.precision, true);
    p.engine = engine.multiply;
    GemmEngine g = engine.tiles;
    g.efficiency = view.param(Parameter::winograd_efficiency, 1);
    g.split_cycles = -1;
    const double tiles =
        w.batch * std::ceil(w.out[1] / kWinogradOutputs) * std::ceil(w.out[2] / kWinogradOutputs);
    p.tile = view.tiles.of({kWinogradProducts, tiles, w.out_channels, w.in_channels}, g);
    p.efficiency = g.efficiency;
    p.reason = Parameter::winograd_efficiency;
    p.cycles = p.tile.cycles;
    p.vector_ops = tiles * (w.in_channels * kWinogradInputOps + w.out_channels * kWinogradOutputOps);
    p.l2_bytes = p.tile.l2_bytes;
    p.units_used = p.tile.units_used;
    p.macs = kWinogradProducts * tiles * w.out_channels * w.in_channels;
    p.scheme = "Winograd F(2x2, 3x3)";
    return p;
}

/// The single product of a subgraph that could run beside others on the same input; null otherwise.
static const Contraction* mergeable(const SubgraphWork& work) {
    if ((work.kind != OpKind::matmul && work.kind != OpKind::convolution) || !work.anchor ||
        work.anchor->contractions.size() != 1)
        return nullptr;
    const Contraction& c = work.anchor->contractions.front();
    return c.weights_constant && c.groups == 1 ? &c : nullptr;
}

static bool same_window(const OperatorWork& a, const OperatorWork& b) {
    if (!a.window || !b.window)
        return !a.window && !b.window;
    return a.window->kernel == b.window->kernel && a.window->stride == b.window->stride &&
           a.window->dilation == b.window->dilation;
}

/// Columns of all products of this subgraph's input with weights of the same kind (query, key and value; the
/// 1x1 convolutions of an Inception block), which the stack multiplies in one kernel.
static double merged_columns(const View& view, const SubgraphWork& work, const Contraction& c) {
    if (view.param(Parameter::merge_products, 0) <= 0 || !mergeable(work))
        return c.n;
    double columns = c.n;
    for_each_neighbour(*view.network.partition, work.index, [&](std::uint32_t i) {
        const SubgraphWork& other = view.network.subgraphs[i];
        const Contraction* candidate = mergeable(other);
        if (candidate && candidate->m == c.m && candidate->k == c.k && other.precision == work.precision &&
            same_window(*other.anchor, *work.anchor))
            columns += candidate->n;
    });
    return columns;
}

static Product fastest(const View& view, const SubgraphWork& work, const Contraction& c) {
    Product best = tiled(view, work, c);
    if (work.kind != OpKind::convolution && std::min(c.m, c.n) <= kRowKernelRows && view.vector_fp32 > 0 &&
        least_rows(view, work, c) <= 0) {
        const Product row = row_kernel(view, work, c);
        if (row.time() < best.time())
            best = row;
    }
    if (best.copied > 0 && view.param(Parameter::group_slice_operations, 0) > 0)
        if (const Product cut = sliced(view, work, c); cut.time() < best.time())
            best = cut;
    if (!best.engine.matrix && winograd_applies(view, work)) {
        const Product fast = winograd(view, work);
        if (fast.time() + fast.vector_ops / view.vector_fp32 < best.time())
            best = fast;
    }
    return best;
}

/// Sum of the products of one subgraph: one demand per kind of engine.
struct Total {
    std::array<double, 2> cycles{}, time{}; ///< on the vector engine, on the matrix engine
    std::array<Parameter, 2> reason{Parameter::count_, Parameter::count_};
    double extra_cycles = 0, transform_ops = 0, rows = 0, slowest = -1;

    void add(const Product& p, Mapping& out) {
        const std::size_t engine = p.engine.matrix ? 1 : 0;
        cycles[engine] += p.cycles;
        time[engine] += p.cycles / p.efficiency;
        reason[engine] = p.reason;
        extra_cycles += p.extra_cycles;
        transform_ops += p.vector_ops + kLaneOperations * p.conversions;
        if (p.time() <= slowest)
            return;
        slowest = p.time();
        Allocation& a = out.allocation;
        a.units_used = p.units_used;
        a.waves = p.tile.waves;
        a.tile_m = p.tile.tile_m;
        a.tile_n = p.tile.tile_n;
        a.tile_k = p.tile.tile_k;
        a.useful_fraction = p.tile.padded_macs > 0 ? std::min(1.0, p.macs / p.tile.padded_macs) : 1;
        a.scheme = p.scheme;
    }

    void emit(const View& view, Mapping& out) const {
        static constexpr std::array kResource = {Resource::vector_cycles, Resource::matrix_cycles};
        for (std::size_t e = 0; e < 2; ++e)
            if (cycles[e] > 0)
                out.add(kResource[e], Lane::compute, cycles[e], cycles[e] / time[e], reason[e]);
        out.add(Resource::overhead_cycles, Lane::overhead, extra_cycles, 1, Parameter::kernel_floor_cycles);
        if (transform_ops > 0)
            out.add(Resource::vector_cycles, Lane::compute, transform_ops / view.vector_fp32);
    }
};

/// A kernel of its own before the product reads the activations, finds their range and writes 8 bits each.
static void quantise(const View& view, const SubgraphWork& work, const Contraction& c, double share,
                     View::Traffic& traffic, Mapping& out) {
    const double elements = share * c.groups * c.m * c.k;
    traffic.activations += elements * (bytes_of(work.precision) + bytes_of(Precision::int8));
    view.add_vector_work(out, kQuantiseOps * elements, 0);
    count_vector(kQuantiseOps * elements, 0, 0, out.events);
    view.add_floor(out, true, share);
}

/// Tensor-core kernels of cuDNN read and write images with the channels last ("Deep Learning Performance
/// Guide: Tensor Layouts"): kernels before and after them copy what lies with the channels first. A 1x1
/// convolution is a plain product in either order where rows of pixels are as aligned as vector loads want.
static View::Copies relaying_of(const View& view, const SubgraphWork& work, bool matrix) {
    const double share = view.channels_last() ? 0 : view.param(Parameter::relayout_share, 0);
    if (share <= 0 || !matrix || work.kind != OpKind::convolution || !work.anchor->window)
        return {};
    const Window& w = *work.anchor->window;
    const double element = bytes_of(work.precision);
    const double pixels = w.out_pixels();
    const bool plain = w.taps() == 1 && w.groups == 1 && !w.transposed &&
                       std::ranges::all_of(w.stride, [](double s) { return s == 1; });
    if (plain && std::fmod(pixels * element, view.param(Parameter::alignment_bytes, 1)) == 0)
        return {};
    const double wider = group_widening(view, work, matrix);
    return {share * (1 + wider) * image_elements(w) * element, share * 2};
}

static View::Copies gathering_of(const SubgraphWork& work) {
    return {2 * work.gathered_elements * bytes_of(work.precision), work.gathered_tensors};
}

/// Experts are kernels after each other (vLLM's fused_moe, CUTLASS's grouped products, ggml's mul_mat_id): a
/// token's rows of every expert that it takes are written between them, and a kernel of its own reads those
/// of the last and adds them up. Worked: 8,192 tokens that take 8 experts of a width of 3,072 write and read
/// 2 x 403 MB in 16 bits. Returns what the last kernel reads.
static View::Copies expert_rows(const View& view, const SubgraphWork& work, View::Traffic& traffic) {
    if (!has_experts(work))
        return {};
    const double element = bytes_of(view.network.precision.activations);
    const bool joined = view.machine.runtime->fusion_on(view.machine.device->family).gated_activation;
    View::Copies sums;
    for (const OperatorUse& use : work.operators) {
        double first = 0, inner = 0, last = 0; // results of products, in order of execution
        for (const Contraction& c : use.op->work.contractions)
            if (c.weights_constant) {
                inner += last;
                last = c.groups * c.m * c.n;
                first = first > 0 ? first : last;
            }
        traffic.activations += (2 * (joined ? std::min(first, inner) : inner) + last) * element;
        sums.bytes += last * element;
    }
    return sums;
}

/// Where the framework adds the bias of a convolution by a kernel of its own, which finds an element's
/// channel as broadcasts do (index_operations). Worked: 134 M results in bf16 take 0.39 ms of an H100's
/// lanes, 0.17 of its memory.
static View::Copies bias_kernel(const View& view, const SubgraphWork& work, Mapping& out) {
    View::Copies shown;
    if (work.kind != OpKind::convolution || view.param(Parameter::convolution_bias_kernel, 0) <= 0)
        return shown;
    constexpr std::size_t kWithBias = 3;
    for (const OperatorUse& use : work.operators) {
        if (use.op->work.contractions.empty() || use.op->inputs.size() < kWithBias)
            continue;
        const double operations = view.param(Parameter::index_operations, 0) * use.output_elements;
        count_vector(operations, 0, 0, out.events);
        shown = shown + view.longer_of(view.index_cycles(operations), {2 * use.written_bytes, 1}, out);
    }
    return shown;
}

void map_contraction(const View& view, const SubgraphWork& work, Mapping& out) {
    View::Traffic traffic;
    Total total;
    double kernels = 1;
    bool matrix = false;
    View::Copies copies;
    for (const OperatorUse& use : work.operators)
        for (const Contraction& c : use.op->work.contractions) {
            const double columns = merged_columns(view, work, c);
            Contraction merged = padded_expert(view, work, c);
            if (columns != c.n)
                merged.n = columns;
            // Every pass gives each expert its part of the rows: tiles of few rows, and kernels of their own.
            const double passes = has_experts(work) ? passes_over(view, rows_of(view, work, c.m)) : 1;
            merged.m /= passes;
            Product p = fastest(view, work, merged);
            kernels = c.n / columns * passes;
            p.take_share(kernels);
            total.add(p, out);
            matrix = matrix || p.engine.matrix;
            copies = copies + group_copies(view, work, p, out);
            count_product(p.macs, p.multiplied, p.engine, p.tile, bytes_of(p.multiplied), out.events);
            if (p.multiplied != work.precision)
                quantise(view, work, c, kernels, traffic, out);
            count_vector(p.vector_ops + p.conversions, 0, 0, out.events);
            out.ideal_cycles += 2 * p.macs / p.engine.ops_per_cycle;
            traffic.on_chip += p.l2_bytes;
            traffic.units_used = std::max(traffic.units_used, p.units_used);
            total.rows = std::max(total.rows, c.m);
            out.workspace_bytes = std::max(out.workspace_bytes, p.workspace_bytes);
        }
    total.emit(view, out);
    out.allocation.units_total = view.units;
    traffic.activations += work.activation_bytes();
    copies = copies + expert_rows(view, work, traffic);
    traffic.kv_cache = work.kv_bytes;
    total.rows = rows_of(view, work, total.rows);
    const double expanded = expanded_weights(view, work, total.rows);
    traffic.weights = weight_traffic(view, work, total.rows, expanded);
    out.workspace_bytes += expanded;
    view.add_traffic(out, traffic, 1, Parameter::dram_efficiency);
    count_vector(work.vector_ops, work.special_ops, work.output_bytes, out.events);
    view.add_floor(out, false, kernels * std::max(1.0, work.anchor->serial_steps));
    view.add_copies(out, copies + narrowing_of(work) + gathering_of(work) + relaying_of(view, work, matrix) +
                             bias_kernel(view, work, out));
}

} // namespace archsim::gpu
