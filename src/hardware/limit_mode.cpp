#include "hardware/limit_mode.hpp"

#include "archsim/core/finding.hpp"
#include "core/parse_number.hpp"

#include <cmath>
#include <fmt/format.h>

namespace archsim {

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
    auto source = std::make_shared<Source>();
    source->kind = SourceKind::derived; // no estimate, which would lower no clock
    source->cite = "the power limit that was asked for";
    PowerMode limited;
    limited.name = fmt::format("{:g}W", *watts);
    limited.limit.value = *watts;
    limited.limit.source = std::move(source);
    auto held = std::make_shared<Device>(device);
    held->power_modes.push_back(std::move(limited));
    held->default_power_mode = held->power_modes.front().name;
    return held;
}

} // namespace archsim
