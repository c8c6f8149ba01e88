#include "estimate/memory_pools.hpp"

#include "archsim/hardware/family.hpp"
#include "map/on_chip.hpp"

namespace archsim {

MemoryPools memory_pools(const MemoryEstimate& memory, const Machine& machine) {
    const double weights = memory.weight_bytes, rest = memory.peak_bytes - weights,
                 capacity = memory.capacity_bytes;
    const Device& device = *machine.device;
    if (const Fact& ram = family_number(device, "ram"); ram.known())
        return {{{{"RAM", rest, ram.value + family_number(device, "external_ram").value_or(0)},
                  {"flash for its weights", weights, capacity}}}};
    const double of_weights = weight_memory_bytes(machine);
    if (device.dram || machine.runtime->streams_weights || of_weights <= 0)
        return {{{{"", memory.peak_bytes, capacity}, {}}}};
    const MemoryPool held{"memory for weights", weights, of_weights};
    if (const Fact& data = family_number(device, "data_memory"); data.known())
        return {{{held, {"memory for data", rest, data.value}}}};
    return {{{held, {"", memory.peak_bytes, capacity}}}};
}

} // namespace archsim
