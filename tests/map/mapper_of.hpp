#pragma once
// Mappers and family facts by the names that flags and files use.

#include "archsim/extend/mapper.hpp"
#include "archsim/hardware/device.hpp"
#include "hardware/device_files.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace archsim::test {

/// The library's mapper of a family.
inline const Mapper* mapper_of(std::string_view family) {
    return &mapper_for(Family(family));
}

/// A number of the device's family, to be stated.
inline Fact& own(Device& device, std::string_view name) {
    return family_fact<Fact>(device, name);
}

/// Parameters that a machine's family assumes, where nothing states them: what make_machine does.
inline void assume(Machine& machine) {
    if (const auto assumed = machine.device->family.row().assumed; assumed != nullptr)
        for (const AssumedParameter& entry : assumed()) {
            Fact& fact = machine.parameters.facts[static_cast<std::size_t>(entry.parameter)];
            if (!fact.known())
                fact = entry.value;
        }
}

/// A level of on-chip memory.
inline MemoryLevel level(std::string name, std::string scope, Fact capacity, Fact bandwidth = {},
                         Fact bytes_per_clock = {}) {
    MemoryLevel result = memory_level(std::move(name), std::move(scope));
    result.capacity = std::move(capacity);
    result.bandwidth = std::move(bandwidth);
    result.bytes_per_clock = std::move(bytes_per_clock);
    return result;
}

} // namespace archsim::test
