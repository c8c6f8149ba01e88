// Grouped convolutions: groups side by side in a tile, widened to what a kernel is made for, or cut out one
// by one, as cuDNN runs them (measured on an H100).

#include "family/gpu_product.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace archsim::gpu {

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
    const double bytes = 2 * p.copied * bytes_of(work.precision);
    const double meanwhile = p.copy_cycles * view.dram_per_cycle;
    out.add(Resource::vector_cycles, Lane::overhead, p.copy_cycles);
    count_hidden(std::min(bytes, meanwhile), out);
    count_vector(p.copy_operations, 0, 0, out.events);
    return {std::max(0.0, bytes - meanwhile), p.kernels};
}

} // namespace archsim::gpu
