#include "estimate/memory_pools.hpp"

#include "archsim/hardware/family.hpp"
#include "map/on_chip.hpp"

namespace archsim {

namespace {

/// RAM of a microcontroller and what lies beside it; 0 for other devices, whose memory is one or is managed.
double ram_of(const Device& device) {
    const Fact& ram = family_number(device, "ram");
    return ram.known() ? ram.value + family_number(device, "external_ram").value_or(0) : 0;
}

} // namespace

double memory_of_pools(const Machine& machine) {
    const double capacity = machine.memory_capacity_bytes;
    return capacity > 0 ? capacity + ram_of(*machine.device) : 0;
}

MemoryPools memory_pools(const MemoryEstimate& memory, const Machine& machine) {
    const double weights = memory.weight_bytes, rest = memory.peak_bytes - weights,
                 capacity = memory.capacity_bytes;
    const Device& device = *machine.device;
    if (const double ram = ram_of(device); ram > 0)
        return {{{{"RAM", rest, ram}, {"flash for its weights", weights, machine.memory_capacity_bytes}}}};
    const double of_weights = weight_memory_bytes(machine);
    if (device.dram || machine.runtime->streams_weights || of_weights <= 0)
        return {{{{"", memory.peak_bytes, capacity}, {}}}};
    const MemoryPool held{"memory for weights", weights, of_weights};
    if (const Fact& data = family_number(device, "data_memory"); data.known())
        return {{{held, {"memory for data", rest, data.value}}}};
    return {{{held, {"", memory.peak_bytes, capacity}}}};
}

} // namespace archsim
