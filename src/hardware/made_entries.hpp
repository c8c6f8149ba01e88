#pragma once
#include "hardware/made_entry.hpp"

#include <optional>
#include <string_view>

namespace archsim {

struct MadeEntry {
    std::string id;
    MakeEntry make;
};

/// The entry of that name in any case; nothing when there is none.
std::optional<MadeEntry> find_made_entry(std::string_view name);

} // namespace archsim
