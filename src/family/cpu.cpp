// CPU: cores with vector or tile units, private L2, a shared cache, DRAM. A parallel region per subgraph;
// saturated throughput is one independent inference per core where the stack works so.

#include "family/cpu_view.hpp"

#include <algorithm>

namespace archsim {

namespace {

class CpuMapper final : public Mapper {
  public:
    std::string_view name() const override { return "cpu"; }

    void map(const SubgraphWork& work, const NetworkWork& network, const Machine& machine,
             Mapping& out) const override {
        const cpu::View view(machine, network);
        switch (work.kind) {
        case OpKind::free:
            return;
        case OpKind::convolution:
        case OpKind::matmul:
        case OpKind::recurrent:
        case OpKind::attention:
            return cpu::map_contraction(view, work, out);
        default:
            return cpu::map_vector(view, work, out);
        }
    }

    NetworkMapping map_network(const NetworkWork& network, const Machine& machine) const override {
        NetworkMapping out = Mapper::map_network(network, machine);
        const cpu::View view(machine, network);
        out.scheme = view.streams ? "one stream per core" : "all cores on one inference";
        if (!view.streams)
            return out;
        out.instances = view.cores;
        // Efficiency cores take part in throughput at their own rate and clock.
        const Engine* first = nullptr;
        for (const Engine& engine : machine.device->engines) {
            if (engine.kind != EngineClass::vector || !engine.supports(Precision::fp32))
                continue;
            if (!first) {
                first = &engine;
                continue;
            }
            const double rate = engine.rate(Precision::fp32).value / first->rate(Precision::fp32).value;
            const double clock = engine.clock.value_or(1) / first->clock.value_or(engine.clock.value_or(1));
            out.instances += engine.count * machine.active_fraction * rate * clock *
                             machine.param(Parameter::efficiency_core_share, 1);
        }
        return out;
    }
};

} // namespace

std::unique_ptr<Mapper> make_cpu_mapper() {
    return std::make_unique<CpuMapper>();
}

} // namespace archsim
