#include "map/on_chip.hpp"

#include <algorithm>

namespace archsim {

double on_chip_bytes(const Machine& machine) {
    double largest = 0;
    for (const MemoryLevel& level : machine.device->memory) {
        const double copies = level.copies(std::max(1.0, machine.units));
        largest = std::max(largest, level.capacity.value_or(0) * copies);
    }
    return largest;
}

double managed_memory_bytes(const Machine& machine) {
    const FamilyRow& family = machine.device->family.row();
    if (family.managed_memory != nullptr)
        return family.managed_memory(machine);
    return family.caches ? 0 : on_chip_bytes(machine);
}

double weight_memory_bytes(const Machine& machine) {
    const FamilyRow& family = machine.device->family.row();
    return family.weight_memory != nullptr ? family.weight_memory(machine) : 0;
}

} // namespace archsim
