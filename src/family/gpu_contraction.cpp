// Convolutions and matrix products: implicit GEMM in tiles, a row kernel for few rows, Winograd where the
// stack has it and the vector units multiply.

#include "family/gpu_view.hpp"
#include "map/neighbours.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace archsim::gpu {

namespace {

// Group widths that cuDNN has grouped kernels for, each processed in blocks of 32 channels (cuDNN release
// notes).
constexpr std::array kGroupWidths = {4.0, 8.0, 16.0, 32.0};
constexpr double kGroupBlock = 32;
// Groups of other widths run one after the other through the library's ordinary kernels, whose tiles have at
// least this many columns (analytical pilot study on published measurements).
constexpr double kUngroupedColumns = 64;
// Few input channels are padded to this number (image input in the NHWC4 and NC/4HW4 layouts).
constexpr double kFewChannels = 4;
// Winograd F(2x2, 3x3): 16 products of transformed tiles replace 36 multiply-accumulates of 4 outputs;
// transforms take 32 additions per input tile and channel and 24 per output tile and channel (Lavin and Gray,
// CVPR 2016).
constexpr double kWinogradOutputs = 2, kWinogradProducts = 16, kWinogradInputOps = 32,
                 kWinogradOutputOps = 24;

// Kernels that cut groups out one by one step through channels by so many (cuDNN's kernels of CUTLASS:
// 256x64_32x4).
constexpr double kSlicedStep = 32;

// Range of a row, scale and rounding: an operation each per element.
constexpr double kQuantiseOps = 3;

/// Counts of one product, summed over the contractions of a subgraph.
struct Product {
    MultiplyEngine engine;
    Precision multiplied = Precision::fp32;
    TileChoice tile;
    double cycles = 0; ///< padded, with waves; efficiency not applied
    double efficiency = 1;
    double extra_cycles = 0;
    double vector_ops = 0; ///< of transforms
    double l2_bytes = 0;
    double units_used = 0;
    double macs = 0; ///< multiplied
    double workspace_bytes = 0;
    double copied = 0;          ///< channels of pixels that kernels before and after it copy
    double copy_operations = 0; ///< of the lanes in these
    double copy_cycles = 0;     ///< that they take
    double kernels = 0;         ///< beside its own
    Parameter reason = Parameter::count_;
    const char* scheme = "";

    /// This subgraph's part of a kernel that it shares with others.
    void take_share(double share) {
        for (double* count :
             {&cycles, &extra_cycles, &vector_ops, &l2_bytes, &macs, &tile.padded_macs, &workspace_bytes})
            *count *= share;
    }
    double time() const { return cycles / efficiency + extra_cycles + copy_cycles; }
};

double round_up(double x, double step) {
    return std::ceil(x / step) * step;
}

/// Reduction length as the kernels see it: input channels padded to the alignment of vector loads.
double padded_k(const View& view, const Window& w, double k, bool aligned, Precision precision) {
    const double channels = w.in_channels / w.groups;
    if (!aligned || channels <= 0 || w.transposed)
        return k;
    const double alignment = view.param(Parameter::alignment_bytes, 1) / bytes_of(precision);
    const double padded = channels <= kFewChannels ? std::min(kFewChannels, alignment)
                                                   : round_up(channels, std::max(1.0, alignment));
    return k * std::max(padded, channels) / channels;
}

/// The next power of two: widths of groups that grouped kernels are made for.
double kernel_width(double width) {
    double made = 1;
    while (made < width)
        made *= 2;
    return made;
}

/// Whether a grouped convolution's images are widened, group by group, to what a kernel is made for.
bool widens_groups(const View& view, const SubgraphWork& work, bool matrix) {
    if (!matrix || view.param(Parameter::group_copy_operations, 0) <= 0 || work.kind != OpKind::convolution ||
        !work.anchor->window)
        return false;
    const Window& w = *work.anchor->window;
    const double width = w.in_channels / w.groups;
    return w.groups > 1 && !w.transposed && kernel_width(width) > width;
}

/// Groups side by side in one tile, where the stack has kernels for their width.
void merge_groups(const View& view, double width, bool matrix, GemmShape& shape, GemmEngine& engine) {
    const bool made = matrix && view.param(Parameter::group_copy_operations, 0) > 0
                          ? kernel_width(width) == width
                          : std::find(kGroupWidths.begin(), kGroupWidths.end(), width) != kGroupWidths.end();
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

/// Bits per weight of the product that a checkpoint states tensor by tensor; 0: it leaves that to the
/// request.
double stated_weight_bits(const View& view, const SubgraphWork& work) {
    if (!view.network.graph || !view.network.graph->stored_weights)
        return 0;
    double bits = 0;
    for (const OperatorUse& use : work.operators)
        for (const TensorId id : use.op->inputs)
            if (use.anchor && id != kNoTensor && view.network.graph->tensors[id].constant)
                bits = std::max(bits, view.network.graph->tensors[id].storage_bits);
    return bits;
}

/// Channels of the pixels that a grouped convolution reads and writes.
double image_elements(const Window& w) {
    return w.batch * (w.in_channels * w.in_pixels() + w.out_channels * w.out_pixels());
}

/// The product with an output projection that a scheme keeps as wide as what it multiplies.
bool has_wide_weights(const View& view, const SubgraphWork& work) {
    if (view.network.precision.head_bits < bits_of(work.precision))
        return false;
    double weights = 0;
    for (const OperatorUse& use : work.operators)
        for (const Contraction& c : use.op->work.contractions)
            weights += c.weights_constant ? c.groups * c.n * c.k : 0;
    constexpr double kBetween = 0.75; // of the width: narrower schemes take half of it and their scales
    return work.weight_bytes * 8 > kBetween * weights * bits_of(work.precision);
}

/// Weights alone are stored in a narrower format than what is multiplied with them.
bool has_packed_weights(const View& view, const SubgraphWork& work) {
    return bits_of(view.network.precision.weights) < bits_of(work.precision) &&
           stated_weight_bits(view, work) < bits_of(work.precision) && !has_wide_weights(view, work);
}

/// Stacks that quantise activations on the way multiply them with integer weights in 8 bits, where enough
/// rows share the cost (OpenVINO blog, Dynamic quantization support from GPU with XMX, 2025).
Precision multiplied_in(const View& view, const SubgraphWork& work, const Contraction& c) {
    const double from = view.param(Parameter::dynamic_quantization_rows, 0);
    const bool quantises = from > 0 && c.m >= from && c.weights_constant && has_packed_weights(view, work) &&
                           is_integer(view.network.precision.weights) &&
                           view.machine.matrix_ops(Precision::int8) > 0;
    return quantises ? Precision::int8 : work.precision;
}

Product tiled(const View& view, const SubgraphWork& work, const Contraction& c) {
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
        if (window->groups > 1) {
            double width = window->in_channels / window->groups;
            if (widens_groups(view, work, p.engine.matrix)) {
                const double wider = kernel_width(width) / width;
                width *= wider;
                shape.n *= wider;
                shape.k = window->taps() * width;
                if (view.channels_last()) {
                    p.copied = wider * image_elements(*window);
                    p.copy_operations = view.param(Parameter::group_copy_operations, 0) * p.copied;
                    p.copy_cycles = view.index_cycles(p.copy_operations);
                    p.kernels = 2;
                }
            }
            merge_groups(view, width, p.engine.matrix, shape, g);
        }
    }
    const bool packed =
        c.weights_constant && p.multiplied == work.precision && has_packed_weights(view, work);
    if (packed) {
        g.efficiency *= view.param(Parameter::weight_only_efficiency, 1);
        if (p.engine.matrix && !is_integer(p.multiplied)) // whose engine has it already
            g.efficiency *= view.param(Parameter::warp_product_efficiency, 1);
    }
    p.tile = view.tiles.of(shape, g);
    // Every row of tiles converts all weights for itself, between its products. Worked: a tile of 128 rows on
    // a multiprocessor of A100 multiplies a weight in 128 / 1024 of a cycle, and converts it by 1.6
    // operations of 64 lanes in 1.6 / 64.
    if (packed && p.engine.matrix && p.tile.tile_m > 0)
        p.vector_ops += kLaneOperations * view.param(Parameter::weight_conversion_operations, 0) * c.groups *
                        c.n * c.k * std::ceil(c.m / p.tile.tile_m);
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

/// A grouped convolution of images that lie channels last, group after group: one kernel cuts a group's
/// channels out, one multiplies, one puts the result back.
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

/// Every weight meets few rows: a dot product per output on the vector units, spread over all
/// multiprocessors.
Product row_kernel(const View& view, const SubgraphWork& work, const Contraction& c) {
    Product p;
    p.multiplied = work.precision;
    const double native = is_integer(work.precision) ? view.machine.vector_ops(work.precision) : 0;
    p.engine.ops_per_cycle = std::max(native, view.vector_fp32);
    p.efficiency = view.param(Parameter::vector_efficiency, 1);
    p.engine.efficiency = p.efficiency;
    p.reason = Parameter::vector_efficiency;
    p.cycles = 2 * c.macs() / p.engine.ops_per_cycle;
    p.macs = c.macs();
    p.units_used = view.units;
    p.tile.waves = 1;
    p.tile.padded_macs = p.macs;
    p.scheme = "row kernel";
    return p;
}

bool winograd_applies(const View& view, const SubgraphWork& work) {
    if (work.kind != OpKind::convolution || !work.anchor->window || is_integer(work.precision) ||
        view.param(Parameter::winograd_efficiency, 0) <= 0)
        return false;
    const Window& w = *work.anchor->window;
    return w.groups == 1 && !w.transposed && w.kernel[0] == 1 && w.kernel[1] == 3 && w.kernel[2] == 3 &&
           w.stride[1] == 1 && w.stride[2] == 1 && w.dilation[1] == 1 && w.dilation[2] == 1;
}

Product winograd(const View& view, const SubgraphWork& work) {
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
const Contraction* mergeable(const SubgraphWork& work) {
    if ((work.kind != OpKind::matmul && work.kind != OpKind::convolution) || !work.anchor ||
        work.anchor->contractions.size() != 1)
        return nullptr;
    const Contraction& c = work.anchor->contractions.front();
    return c.weights_constant && c.groups == 1 ? &c : nullptr;
}

bool same_window(const OperatorWork& a, const OperatorWork& b) {
    if (!a.window || !b.window)
        return !a.window && !b.window;
    return a.window->kernel == b.window->kernel && a.window->stride == b.window->stride &&
           a.window->dilation == b.window->dilation;
}

/// Columns of all products of this subgraph's input with weights of the same kind (query, key and value; the
/// 1x1 convolutions of an Inception block), which the stack multiplies in one kernel.
double merged_columns(const View& view, const SubgraphWork& work, const Contraction& c) {
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

Product fastest(const View& view, const SubgraphWork& work, const Contraction& c) {
    Product best = tiled(view, work, c);
    if (work.kind != OpKind::convolution && std::min(c.m, c.n) <= kRowKernelRows && view.vector_fp32 > 0) {
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

/// Several layers of weights in one operator: experts of a mixture.
bool has_experts(const SubgraphWork& work) {
    return work.anchor && work.kind == OpKind::matmul &&
           std::count_if(work.anchor->contractions.begin(), work.anchor->contractions.end(),
                         [](const Contraction& c) { return c.weights_constant; }) > 1;
}

/// Rows that pass one layer of weights: of experts all tokens, which an expert has a part of.
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

/// Passes over the weights that so many rows take.
double passes_over(const View& view, double rows) {
    const double microbatch = view.param(Parameter::microbatch_rows, 0);
    return microbatch > 0 ? std::max(1.0, std::ceil(rows / microbatch)) : 1;
}

/// Bytes of packed weights that the stack expands before a product of that many rows; 0 when it unpacks them
/// on the fly.
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

/// Weight bytes that cross the memory interface: expanded weights are written once and read again.
double weight_traffic(const View& view, const SubgraphWork& work, double rows, double expanded) {
    const double passes = passes_over(view, rows);
    return (work.weight_bytes * view.weight_passes(work.precision) + 2 * expanded) * passes;
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
        transform_ops += p.vector_ops;
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
        out.add(Resource::overhead_cycles, Lane::overhead, extra_cycles, 1, Parameter::split_cycles);
        if (transform_ops > 0)
            out.add(Resource::vector_cycles, Lane::compute, transform_ops / view.vector_fp32);
    }
};

/// A kernel of its own before the product reads the activations, finds their range and writes 8 bits each.
void quantise(const View& view, const SubgraphWork& work, const Contraction& c, double share,
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
View::Copies relaying_of(const View& view, const SubgraphWork& work, bool matrix) {
    const double share = view.channels_last() ? 0 : view.param(Parameter::relayout_share, 0);
    if (share <= 0 || !matrix || work.kind != OpKind::convolution || !work.anchor->window)
        return {};
    const Window& w = *work.anchor->window;
    const double element = bytes_of(work.precision);
    const double pixels = w.out_pixels();
    const bool plain = w.taps() == 1 && w.groups == 1 && !w.transposed &&
                       std::all_of(w.stride.begin(), w.stride.end(), [](double s) { return s == 1; });
    if (plain && std::fmod(pixels * element, view.param(Parameter::alignment_bytes, 1)) == 0)
        return {};
    const double width = w.in_channels / w.groups;
    const double wider = widens_groups(view, work, matrix) ? kernel_width(width) / width : 1;
    return {share * (1 + wider) * image_elements(w) * element, share * 2};
}

/// Of operands that lie scattered.
View::Copies gathering_of(const SubgraphWork& work) {
    return {2 * work.gathered_elements * bytes_of(work.precision), work.gathered_tensors};
}

/// Energy of traffic that takes no time, since lanes take longer.
void count_hidden(double bytes, Mapping& out) {
    out.events[Event::l2_byte] += bytes;
    out.events[Event::dram_byte] += bytes;
}

/// Where the framework adds the bias of a convolution by a kernel of its own, which finds an element's
/// channel as broadcasts do (index_operations). Worked: 134 M results in bf16 take 0.39 ms of an H100's
/// lanes, 0.17 of its memory. Returns what of its traffic the lanes do not hide.
View::Copies bias_kernel(const View& view, const SubgraphWork& work, Mapping& out) {
    View::Copies shown;
    if (work.kind != OpKind::convolution || view.param(Parameter::convolution_bias_kernel, 0) <= 0)
        return shown;
    constexpr std::size_t kWithBias = 3;
    for (const OperatorUse& use : work.operators) {
        if (use.op->work.contractions.empty() || use.op->inputs.size() < kWithBias)
            continue;
        const double operations = view.param(Parameter::index_operations, 0) * use.output_elements;
        const double index_cycles = view.index_cycles(operations);
        count_vector(operations, 0, 0, out.events);
        const double bytes = 2 * use.written_bytes, meanwhile = index_cycles * view.dram_per_cycle;
        out.add(Resource::vector_cycles, Lane::overhead, index_cycles);
        count_hidden(std::min(bytes, meanwhile), out);
        shown = shown + View::Copies{std::max(0.0, bytes - meanwhile), 1};
    }
    return shown;
}

/// Kernels that copy the channels of groups: their lanes, and what of their traffic these do not hide.
View::Copies group_copies(const View& view, const SubgraphWork& work, const Product& p, Mapping& out) {
    if (p.copied <= 0)
        return {};
    const double bytes = 2 * p.copied * bytes_of(work.precision);
    const double meanwhile = p.copy_cycles * view.dram_per_cycle;
    out.add(Resource::vector_cycles, Lane::overhead, p.copy_cycles);
    count_hidden(std::min(bytes, meanwhile), out);
    count_vector(p.copy_operations, 0, 0, out.events);
    return {std::max(0.0, bytes - meanwhile), p.kernels};
}

} // namespace

void map_contraction(const View& view, const SubgraphWork& work, Mapping& out) {
    View::Traffic traffic;
    Total total;
    double kernels = 1;
    bool matrix = false;
    View::Copies copies;
    for (const OperatorUse& use : work.operators)
        for (const Contraction& c : use.op->work.contractions) {
            const double columns = merged_columns(view, work, c);
            Contraction merged = c;
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
            count_vector(p.vector_ops, 0, 0, out.events);
            out.ideal_cycles += 2 * p.macs / p.engine.ops_per_cycle;
            traffic.on_chip += p.l2_bytes;
            traffic.units_used = std::max(traffic.units_used, p.units_used);
            total.rows = std::max(total.rows, c.m);
            out.workspace_bytes = std::max(out.workspace_bytes, p.workspace_bytes);
        }
    total.emit(view, out);
    out.allocation.units_total = view.units;
    traffic.activations += work.activation_bytes();
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
