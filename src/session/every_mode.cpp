#include "session/every_mode.hpp"

#include "archsim/core/finding.hpp"

#include "hardware/loose_names.hpp"

#include <string_view>

namespace archsim {

namespace {

/// A list that was cut at its commas cut "RTX 4070 laptop, 32GB" too: a size of memory belongs to the name
/// before it.
std::vector<std::string> with_sizes(const std::vector<std::string>& names) {
    std::vector<std::string> joined;
    for (const std::string& name : names)
        if (!joined.empty() && gigabytes_of(name))
            joined.back().append(",").append(name);
        else
            joined.push_back(name);
    return joined;
}

} // namespace

std::vector<std::string> with_every_mode(const HardwareDatabase& hardware,
                                         const std::vector<std::string>& names) {
    constexpr std::string_view kAll = "@all";
    std::vector<std::string> out;
    for (const std::string& name : with_sizes(names)) {
        if (!name.ends_with(kAll)) {
            out.push_back(name);
            continue;
        }
        const std::string base = name.substr(0, name.size() - kAll.size());
        const DeviceChoice choice = hardware.device(base);
        if (choice.device->power_modes.empty())
            throw InputError(Finding{.kind = FindingKind::unknown_name,
                                     .message = choice.device->id + " has no power modes",
                                     .hint = "write " + base});
        for (const PowerMode& mode : choice.device->power_modes)
            out.push_back(base + "@" + mode.name);
    }
    return out;
}

} // namespace archsim
