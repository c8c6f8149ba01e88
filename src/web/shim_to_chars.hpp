#pragma once
// Writes numbers with so many digits, which that library lacks too. Included ahead of the one file that needs
// it.

#include <charconv>
#include <cstdio>

namespace std { // NOLINT(cert-dcl58-cpp): as in shim.hpp

/// As printf's %g, which knows no other locale here.
inline to_chars_result to_chars(char* first, char* last, double value, chars_format, int precision) {
    const int written = snprintf(first, static_cast<size_t>(last - first), "%.*g", precision, value);
    if (written < 0 || written >= last - first)
        return {last, errc::value_too_large};
    return {first + written, errc{}};
}

} // namespace std
