#include "family/pipeline_layers.hpp"

#include "map/accelerator.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace archsim::npu {

using namespace accelerator;

double layers_of(const SubgraphWork& work, const Machine& machine) {
    double layers = 0, activations = 0;
    for (const OperatorUse& use : work.operators) {
        if (on_host(use, machine))
            continue;
        const OperatorWork& w = use.op->work;
        switch (w.kind) {
        case OpKind::free:
            break;
        case OpKind::normalization: // mean, difference, square, mean, root, quotient, scale, shift
            layers += 8;
            break;
        case OpKind::softmax: // maximum, difference, exponential, sum, reciprocal, product
            layers += 6;
            break;
        case OpKind::elementwise:
            activations += w.special_ops > 0;
            break;
        default:
            layers += 1;
        }
    }
    if (layers > 0 && activations > 0 && work.extra_bytes > 0)
        layers += 1;
    return std::max(1.0, layers);
}

double units_of_controller(const SubgraphWork& work, double unit_channels) {
    if (unit_channels <= 0)
        return 0;
    double channels = 0;
    for (const OperatorUse& use : work.operators)
        for (const Contraction& c : use.op->work.contractions)
            channels =
                std::max(channels, use.op->work.window ? use.op->work.window->out_channels : c.n * c.groups);
    return channels > 0 ? std::ceil(channels / unit_channels) : 1;
}

double largest_tensor_bytes(const SubgraphWork& work, const Machine& machine) {
    double bytes = 0;
    for (const OperatorUse& use : work.operators)
        if (!on_host(use, machine))
            bytes = std::max({bytes, use.written_bytes, use.read_bytes});
    return bytes;
}

std::vector<bool> decodes_results(const NetworkWork& network) {
    constexpr double kOfProducts = 1e-3; // the least share of the products that makes a layer
    const std::size_t count = network.subgraphs.size();
    std::vector<bool> decodes(count, network.macs > 0);
    for (std::size_t i = count; i-- > 0;) {
        const SubgraphWork& work = network.subgraphs[i];
        if (work.repeat * work.macs >= kOfProducts * network.macs)
            decodes[i] = false;
        if (!decodes[i] && network.partition != nullptr && i < network.partition->subgraphs.size())
            for (const std::uint32_t before : network.partition->subgraphs[i].predecessors)
                decodes[before] = false;
    }
    return decodes;
}

} // namespace archsim::npu
