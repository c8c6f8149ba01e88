#include "map/buffers.hpp"

#include "map/accelerator.hpp"

#include <algorithm>
#include <cmath>

namespace archsim {

using namespace tiling;

static constexpr std::size_t at(Operand operand) {
    return static_cast<std::size_t>(operand);
}

static bool is_tiled(const OperatorUse& use, const Machine& machine) {
    return !accelerator::on_host(use, machine) && !use.op->work.attention &&
           !use.op->work.contractions.empty();
}

/// `limits` with the bytes of an element of each operand: those that the operator moves, over its elements,
/// times the widths that `limits` has.
static Limits with_widths(const OperatorUse& use, const Contraction& c, const Limits& limits) {
    Limits own = limits;
    const double activation =
        use.input_elements > 0 ? use.read_bytes / use.input_elements : bytes_of(use.compute);
    const double weights = c.groups * c.k * c.n;
    double weight = c.weights_constant && use.weight_bytes > 0 ? bytes_of(use.compute) : activation;
    if (c.weights_constant && use.op->work.contractions.size() == 1 && weights > 0 && use.weight_bytes > 0)
        weight = use.weight_bytes / weights;
    own.width[at(Operand::input)] *= activation;
    own.width[at(Operand::weight)] *= weight;
    own.width[at(Operand::output)] *=
        use.output_elements > 0 ? use.written_bytes / use.output_elements : activation;
    return own;
}

Limits limits_of(const BufferFacts& facts, double capacity, double channels) {
    Limits limits;
    // A capacity that nobody published bounds nothing: traffic is then what is compulsory.
    const bool known = capacity > 0 || facts.input_buffer.known() || facts.weight_buffer.known() ||
                       facts.output_buffer.known();
    limits.shared = known ? capacity : std::numeric_limits<double>::infinity();
    limits.own = {facts.input_buffer.value_or(0), facts.weight_buffer.value_or(0),
                  facts.output_buffer.value_or(0)};
    limits.output_grain = facts.output_grain.value_or(channels);
    for (std::size_t i = 0; i < kTileOrders.size(); ++i)
        limits.runs[i] = facts.tile_orders.empty() ||
                         std::ranges::find(facts.tile_orders, kTileOrders[i]) != facts.tile_orders.end();
    limits.whole_rows = facts.whole_rows;
    limits.all_inputs = facts.all_inputs;
    limits.keeps_rows = facts.keeps_rows;
    limits.keeps_smaller = facts.keeps_smaller;
    limits.double_buffered = facts.double_buffered;
    return limits;
}

double between_layers(const BufferFacts& facts, double capacity) {
    return facts.output_buffer.known() ? 0 : capacity;
}

/// A product as loops; `parts` divides its images, or rows.
static Nest nest_of(const OperatorUse& use, const Contraction& c, double parts) {
    const OperatorWork& w = use.op->work;
    Nest nest{.outputs = c.n, .inputs = c.k, .groups = c.groups};
    if (!w.window || w.window->transposed || w.kind != OpKind::convolution) {
        nest.rows = std::max(1.0, c.m / parts);
        return nest;
    }
    const Window& window = *w.window;
    nest.groups = window.groups;
    nest.outputs = accelerator::group_outputs(window);
    nest.inputs = accelerator::group_inputs(window) * window.kernel[0];
    nest.images = std::max(1.0, std::ceil(window.batch / parts)) * window.out[0];
    nest.rows = window.out[1];
    nest.cols = window.out[2];
    for (std::size_t axis = 0; axis < 2; ++axis) {
        nest.kernel[axis] = window.kernel[axis + 1];
        nest.stride[axis] = window.stride[axis + 1];
        nest.dilation[axis] = window.dilation[axis + 1];
        nest.extent[axis] = window.in[axis + 1];
    }
    return nest;
}

Again moved_again(const SubgraphWork& work, const Machine& machine, const Limits& limits, double parts) {
    Again again;
    for (const OperatorUse& use : work.operators) {
        if (!is_tiled(use, machine))
            continue;
        double weights = 0;
        for (const Contraction& c : use.op->work.contractions)
            weights += c.weights_constant ? c.groups * c.k * c.n : 0;
        for (const Contraction& c : use.op->work.contractions) {
            const Limits own = with_widths(use, c, limits);
            const auto [input, weight, output] = least_traffic(nest_of(use, c, parts), own).passes;
            const double of_operator = c.macs() / std::max(1.0, use.op->work.macs);
            again.activations +=
                of_operator * ((input - 1) * use.read_bytes + (output - 1) * use.written_bytes);
            if (c.weights_constant)
                again.weights += (weight - 1) * use.weight_bytes * c.groups * c.k * c.n / weights;
            else // keys and values, say: both operands are activations
                again.activations += (weight - 1) * c.groups * c.k * c.n * own.width[at(Operand::weight)];
        }
    }
    return again;
}

std::optional<KnowsTiling::Tiled> largest_tiled(const SubgraphWork& work, const Machine& machine,
                                                const Limits& limits, double parts, bool on_chip) {
    const OperatorUse* largest = nullptr;
    const Contraction* product = nullptr;
    for (const OperatorUse& use : work.operators)
        if (is_tiled(use, machine))
            for (const Contraction& c : use.op->work.contractions)
                if (product == nullptr || c.macs() > product->macs()) {
                    largest = &use;
                    product = &c;
                }
    if (product == nullptr)
        return std::nullopt;
    KnowsTiling::Tiled tiled{
        nest_of(*largest, *product, parts), with_widths(*largest, *product, limits), {}, on_chip};
    tiled.tiling = least_traffic(tiled.nest, tiled.limits);
    return tiled;
}

} // namespace archsim
