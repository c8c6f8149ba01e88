#include "archsim/hardware/device.hpp"

#include "core/text.hpp"
#include "hardware/device_files.hpp"

namespace archsim {

struct RankPrefix {
    std::string_view prefix;
    MemoryRank rank;
};
constexpr std::array kRankPrefixes = {RankPrefix{"L1", MemoryRank::l1}, RankPrefix{"L2", MemoryRank::l2},
                                      RankPrefix{"L3", MemoryRank::last}, RankPrefix{"LLC", MemoryRank::last},
                                      RankPrefix{"SLC", MemoryRank::last}};
constexpr std::array<std::string_view, 3> kWholeChip = {"chip", "socket", "SoC"};

MemoryLevel memory_level(std::string name, std::string scope) {
    MemoryLevel level;
    for (const RankPrefix& known : kRankPrefixes)
        if (name.starts_with(known.prefix))
            level.rank = known.rank;
    if (std::ranges::find(kWholeChip, scope) != kWholeChip.end())
        level.scope = MemoryScope::chip;
    level.name = std::move(name);
    level.scope_name = std::move(scope);
    return level;
}

const MemoryLevel* Device::level(std::string_view level_name) const {
    for (const MemoryLevel& candidate : memory)
        if (same_ignoring_case(candidate.name, level_name))
            return &candidate;
    return nullptr;
}

const PowerMode* Device::power_mode(std::string_view mode_name) const {
    for (const PowerMode& mode : power_modes)
        if (same_ignoring_case(mode.name, mode_name) ||
            std::ranges::any_of(
                mode.aliases, [&](const std::string& alias) { return same_ignoring_case(alias, mode_name); }))
            return &mode;
    return nullptr;
}

} // namespace archsim
