#include "hardware/limit_mode.hpp"

#include "archsim/hardware/device_changes.hpp"
#include "core/parse_number.hpp"
#include "core/text.hpp"
#include "hardware/family_facts.hpp"

#include <fmt/format.h>

namespace archsim {

/// A number that was asked for, and is no estimate, which would lower no clock.
static void give(Fact& fact, double value, const char* what) {
    auto source = std::make_shared<Source>();
    source->kind = SourceKind::derived;
    source->cite = what;
    fact.value = value;
    fact.source = std::move(source);
}

/// The device in that mode alone.
static std::shared_ptr<const Device> in_mode(Device device, PowerMode mode) {
    device.default_power_mode = mode.name;
    device.power_modes.assign(1, std::move(mode));
    return std::make_shared<const Device>(std::move(device));
}

std::optional<double> limit_of_mode(std::string_view mode) {
    if (mode.empty() || (mode.back() != 'W' && mode.back() != 'w'))
        return std::nullopt;
    const auto watts = plain_number<double>(mode.substr(0, mode.size() - 1));
    return watts && *watts > 0 ? watts : std::nullopt;
}

std::shared_ptr<const Device> held_to(const Device& device, std::string_view mode) {
    const auto watts = limit_of_mode(mode);
    if (!watts || !device.power_modes.empty())
        return nullptr;
    if (*watts > device.tdp.value_or(*watts))
        throw InputError(
            fmt::format("{}: a limit of {:g} W exceeds its {:g} W", device.id, *watts, device.tdp.value));
    PowerMode limited{.name = fmt::format("{:g}W", *watts)};
    give(limited.limit, *watts, "the power limit that was asked for");
    return in_mode(device, std::move(limited));
}

constexpr double kBytesPerGigabyte = 1e9;
constexpr double kBytesPerModuleGigabyte = 1024.0 * 1024 * 1024; ///< modules hold powers of two
/// 12 GB of a card are 12 GiB, of which drivers show 11.9.
constexpr double kSameSize = 0.08;

/// 16 of a module of 16 GiB, as it is sold.
double sold_gigabytes(double bytes) {
    const double module = bytes / kBytesPerModuleGigabyte;
    return module == std::round(module) ? module : bytes / kBytesPerGigabyte;
}

[[noreturn]] void cannot_have(const Device& device, double gigabytes, std::string hint) {
    throw InputError(Finding{
        .kind = FindingKind::unsupported,
        .message = device.dram && device.dram->capacity.known()
                       ? fmt::format("{} has {:.3g} GB of memory, not {:g} GB", device.id,
                                     sold_gigabytes(device.dram->capacity.value), gigabytes)
                       : fmt::format("the size of {}'s memory is not known, so that it cannot be {:g} GB",
                                     device.id, gigabytes),
        .hint = std::move(hint)});
}

std::shared_ptr<const Device> with_memory(const Device& device, const StatedMemory& memory) {
    const bool known = device.dram && device.dram->capacity.known();
    const double capacity = known ? device.dram->capacity.value / kBytesPerGigabyte : 0;
    if (known && std::abs(memory.gigabytes / capacity - 1) <= kSameSize)
        return nullptr;
    // Behind no link lies the memory of its own computer, of whatever size.
    const bool any = device.host_link_type.empty();
    const bool shares = any || device.host_link_type == "shared memory";
    if (!shares || !device.power_modes.empty() || !known) {
        if (memory.of_computer && (any || !shares))
            return nullptr;
        cannot_have(
            device, memory.gigabytes,
            shares && !any
                ? "leave the size out, or name the board that has it"
                : fmt::format("write the memory of the computer behind a comma, as in \"{}, {:g} GB\"",
                              device.id, memory.gigabytes));
    }
    if (!any && memory.gigabytes > capacity)
        cannot_have(device, memory.gigabytes, "the size described is the largest that is sold");
    Device smaller = device;
    give(smaller.dram->capacity, memory.gigabytes * kBytesPerModuleGigabyte,
         "the size of memory that was asked for");
    return in_mode(std::move(smaller), {.name = fmt::format("{:g}GB", memory.gigabytes)});
}

std::shared_ptr<const Device> slice_of(const Device& device, std::string_view name) {
    const auto slice = std::ranges::find_if(
        device.slices, [&](const DeviceSlice& s) { return same_ignoring_case(s.name, name); });
    if (slice == device.slices.end() || device.engines.empty() || !device.dram)
        return nullptr; // of a chip whose units or memory nobody states there is no part
    const double compute = slice->compute / device.slices.back().compute,
                 memory = slice->memory / device.slices.back().memory;
    DeviceChanges fewer;
    fewer[Structure::units] = slice->units / device.engines.front().count;
    Device part = *changed(device, fewer);
    const auto shared = [](double factor, std::initializer_list<Fact*> facts) {
        for (Fact* const fact : facts)
            scale(*fact, factor);
    };
    for (MemoryLevel& level : part.memory)
        if (level.scope == MemoryScope::chip)
            shared(memory, {&level.capacity, &level.bandwidth});
    shared(memory, {&part.dram->capacity, &part.dram->bandwidth});
    shared(compute, {&part.tdp, &part.idle, &part.active_idle});
    part.unit_change = 1; // its part of what the whole draws is given, not another design
    part.list_price = part.server_price = {};
    if (part.cloud_price)
        part.cloud_price->amount = {.note = "a slice has no price of its own"};
    part.link_bandwidth = {};
    part.slices.clear();
    return in_mode(std::move(part), {.name = slice->name});
}

} // namespace archsim
