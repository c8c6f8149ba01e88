// GPU: multiprocessors with a matrix engine and vector lanes, an L2 and DRAM. One kernel per subgraph.

#include "family/gpu_view.hpp"

namespace archsim {

namespace {

class GpuMapper final : public Mapper {
  public:
    std::string_view name() const override { return "gpu"; }

    void map(const SubgraphWork& work, const NetworkWork& network, const Machine& machine,
             Mapping& out) const override {
        const gpu::View view(machine, network);
        switch (work.kind) {
        case OpKind::free:
            return;
        case OpKind::convolution:
            if (gpu::is_depthwise(work))
                return gpu::map_depthwise(view, work, out);
            return gpu::map_contraction(view, work, out);
        case OpKind::matmul:
        case OpKind::recurrent:
            return gpu::map_contraction(view, work, out);
        case OpKind::attention:
            return gpu::map_attention(view, work, out);
        default:
            return gpu::map_simple(view, work, out);
        }
    }

    NetworkMapping map_network(const NetworkWork& network, const Machine& machine) const override {
        NetworkMapping out = Mapper::map_network(network, machine);
        out.scheme = machine.scenario == Scenario::throughput ? "overlapping streams" : "one stream";
        return out;
    }
};

} // namespace

std::unique_ptr<Mapper> make_gpu_mapper() {
    return std::make_unique<GpuMapper>();
}

} // namespace archsim
