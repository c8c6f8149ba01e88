#pragma once
// Counts of things.

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace archsim {

/// "1 device", "2 devices".
inline std::string plural(std::size_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

} // namespace archsim
