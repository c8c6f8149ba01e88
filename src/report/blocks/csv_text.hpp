#pragma once
// The one place that quotes for CSV (RFC 4180).

#include "core/printable.hpp"

#include <string>
#include <string_view>

namespace archsim {

/// A field as it stands in a line: printable, and in quotes, with its own quotes doubled, where it holds a
/// comma, a quote or a line feed. (A carriage return is shown as "\x0d".)
inline std::string csv_field(std::string_view given) {
    std::string text = printable(std::string(given));
    if (text.find_first_of(",\"\n") == std::string::npos)
        return text;
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"')
            quoted += '"';
        quoted += c;
    }
    return quoted + "\"";
}

} // namespace archsim
