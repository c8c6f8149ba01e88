#include "estimate/memory_pools.hpp"

#include "archsim/hardware/family.hpp"

#include "estimate/cold_start.hpp"
#include "map/on_chip.hpp"

#include <limits>

namespace archsim {

/// RAM of a microcontroller and what lies beside it; 0 for other devices, whose memory is one or is managed.
static double ram_of(const Device& device) {
    const Fact& ram = family_number(device, "ram");
    return ram.known() ? ram.value + family_number(device, "external_ram").value_or(0) : 0;
}

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

ColdStart cold_start(const Machine& machine, double operators, double weight_bytes, double warm_s,
                     double largest_part) {
    ColdStart result{.warm_s = warm_s};
    const Runtime& stack = *machine.runtime;
    result.before = stack.compiled_for(machine.device->generation);
    result.build = result.before != nullptr ? &result.before->build : &stack.compile_per_operator;
    const auto build = [&](double count) {
        return result.before != nullptr ? 0
                                        : stack.compile_base.value + stack.compile_per_operator.value * count;
    };
    result.build_s = build(operators);
    result.largest_build_s = largest_part > 0 ? build(largest_part) : result.build_s;
    const double link = machine.rate(Resource::host_link_bytes), dram = machine.rate(Resource::dram_bytes);
    if (link > 0) {
        result.upload_s = weight_bytes / link;
        result.link = &machine.device->host_link_bandwidth;
    } else if (dram > 0) {
        result.upload_s = 2 * weight_bytes / dram;
        result.link = &machine.device->dram->bandwidth;
    } else {
        result.upload_s = std::numeric_limits<double>::quiet_NaN();
    }
    return result;
}

} // namespace archsim
