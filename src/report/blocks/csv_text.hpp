#pragma once
// The one place that quotes for CSV (RFC 4180).

#include <string>
#include <string_view>

namespace archsim {

/// A field as it stands in a line: in quotes, with its own quotes doubled, where it holds a comma, a quote, a
/// line feed or a carriage return.
inline std::string csv_field(std::string_view text) {
    if (text.find_first_of(",\"\n\r") == std::string_view::npos)
        return std::string(text);
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"')
            quoted += '"';
        quoted += c;
    }
    return quoted + "\"";
}

} // namespace archsim
