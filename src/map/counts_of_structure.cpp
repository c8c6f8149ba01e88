#include "map/counts_of_structure.hpp"

#include "hardware/energy_table.hpp"
#include "map/equivalence.hpp"

namespace archsim {

bool CountsOfStructure::counts_depend_on(Lever, const Machine&) const {
    return false;
}

const std::vector<std::uint32_t>& classes_for(const Mapper& mapper, const NetworkWork& work) {
    const auto* const known = dynamic_cast<const CountsOfStructure*>(&mapper);
    if (known == nullptr || !work.classes)
        return work.representatives;
    switch (known->looks_at()) {
    case LooksAt::work:
        return work.classes->by_work;
    case LooksAt::neighbours:
        return work.classes->by_place;
    case LooksAt::memory:
        break;
    }
    return work.representatives;
}

bool counts_depend_on(Lever lever, const Machine& machine) {
    const Mapper& mapper = machine.mapper ? *machine.mapper : mapper_for(machine.device->family);
    const auto* const known = dynamic_cast<const CountsOfStructure*>(&mapper);
    if (known == nullptr)
        return true;
    switch (lever) {
    case Lever::peak:
    case Lever::bandwidth:
    case Lever::on_chip:
        return known->counts_depend_on(lever, machine);
    case Lever::fixed_cost:
    case Lever::host_time:
        return true; // parameters, which mappers turn into demands
    default:
        return false; // limits and prices of events
    }
}

bool runs_alike(Precision a, Precision b, const Machine& machine) {
    if (a == b)
        return true;
    if (is_integer(a) || is_integer(b) || bits_of(a) != bits_of(b) ||
        machine.peak_ops(a) != machine.peak_ops(b))
        return false;
    if (machine.energy) {
        const Fact& price = machine.energy->mac[static_cast<std::size_t>(a)];
        const Fact& other = machine.energy->mac[static_cast<std::size_t>(b)];
        if (price.known() != other.known() || (price.known() && price.value != other.value))
            return false;
    }
    const Mapper& mapper = machine.mapper ? *machine.mapper : mapper_for(machine.device->family);
    const auto* const known = dynamic_cast<const CountsOfStructure*>(&mapper);
    return known != nullptr && !known->tells_apart(a, b, machine);
}

} // namespace archsim
