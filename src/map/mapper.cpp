#include "archsim/map/mapper.hpp"

#include "map/accelerator.hpp"

#include <array>

namespace archsim {

Mapper::~Mapper() = default;

NetworkMapping Mapper::map_network(const NetworkWork& network, const Machine& machine) const {
    NetworkMapping result;
    accelerator::add_inference_overhead(network, machine, result.fixed);
    return result;
}

const Mapper& mapper_for(Family family) {
    static const std::array<std::unique_ptr<Mapper>, kFamilies.size()> kMappers = [] {
        std::array<std::unique_ptr<Mapper>, kFamilies.size()> table;
        const auto set = [&table](Family f, std::unique_ptr<Mapper> mapper) {
            table[static_cast<std::size_t>(f)] = std::move(mapper);
        };
        set(Family::cpu, make_cpu_mapper());
        set(Family::gpu, make_gpu_mapper());
        set(Family::tpu, make_systolic_mapper());
        set(Family::kpu, make_kpu_mapper());
        set(Family::dsp, make_dsp_mapper());
        set(Family::dpu, make_dpu_mapper());
        set(Family::cgra, make_cgra_mapper());
        set(Family::npu, make_npu_mapper());
        return table;
    }();
    return *kMappers[static_cast<std::size_t>(family)];
}

} // namespace archsim
