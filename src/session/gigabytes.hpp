#pragma once

#include <string>

#include <fmt/format.h>

namespace archsim {

/// "1.5 GB" of 1.5e9 bytes.
inline std::string gigabytes_text(double bytes) {
    return fmt::format("{:.1f} GB", bytes / 1e9);
}

} // namespace archsim
