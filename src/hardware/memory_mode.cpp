#include "hardware/memory_mode.hpp"

#include "archsim/core/finding.hpp"

#include <cmath>
#include <fmt/format.h>

namespace archsim {

namespace {

constexpr double kBytesPerGigabyte = 1e9;
constexpr double kBytesPerModuleGigabyte = 1024.0 * 1024 * 1024; ///< modules hold powers of two
/// 12 GB of a card are 12 GiB, of which drivers show 11.9.
constexpr double kSameSize = 0.08;

[[noreturn]] void cannot_have(const Device& device, double gigabytes, std::string hint) {
    Finding finding;
    finding.kind = FindingKind::unsupported;
    finding.message = device.dram && device.dram->capacity.known()
                          ? fmt::format("{} has {:g} GB of memory, not {:g} GB", device.id,
                                        device.dram->capacity.value / kBytesPerGigabyte, gigabytes)
                          : fmt::format("the size of {}'s memory is not known, so that it cannot be {:g} GB",
                                        device.id, gigabytes);
    finding.hint = std::move(hint);
    throw InputError(finding);
}

} // namespace

std::shared_ptr<const Device> with_memory(const Device& device, const StatedMemory& memory) {
    const bool known = device.dram && device.dram->capacity.known();
    const double capacity = known ? device.dram->capacity.value / kBytesPerGigabyte : 0;
    if (known && std::abs(memory.gigabytes / capacity - 1) <= kSameSize)
        return nullptr;
    const bool shares = device.host_link_type == "shared memory";
    if (!shares || !device.power_modes.empty() || !known) {
        if (memory.of_computer && !shares)
            return nullptr;
        cannot_have(
            device, memory.gigabytes,
            shares ? "leave the size out, or name the board that has it"
                   : fmt::format("write the memory of the computer behind a comma, as in \"{}, {:g} GB\"",
                                 device.id, memory.gigabytes));
    }
    if (memory.gigabytes > capacity)
        cannot_have(device, memory.gigabytes, "the size described is the largest that is sold");
    auto source = std::make_shared<Source>();
    source->kind = SourceKind::derived; // no estimate
    source->cite = "the size of memory that was asked for";
    PowerMode mode;
    mode.name = fmt::format("{:g}GB", memory.gigabytes);
    auto smaller = std::make_shared<Device>(device);
    smaller->dram->capacity.value = memory.gigabytes * kBytesPerModuleGigabyte;
    smaller->dram->capacity.source = std::move(source);
    smaller->default_power_mode = mode.name;
    smaller->power_modes.push_back(std::move(mode));
    return smaller;
}

} // namespace archsim
