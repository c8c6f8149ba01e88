#include "archsim/extend/mapper.hpp"

#include "map/accelerator.hpp"

namespace archsim {

NetworkMapping Mapper::map_network(const NetworkWork& network, const Machine& machine) const {
    NetworkMapping result;
    accelerator::add_inference_overhead(network, machine, result.fixed);
    return result;
}

const Mapper& mapper_for(Family family) {
    if (family.row().mapper == nullptr)
        throw InputError("a device of no family cannot be mapped; name its family or give a mapper");
    return family.row().mapper();
}

} // namespace archsim
