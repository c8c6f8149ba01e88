#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace archsim {

struct CsvRecord {
    std::vector<std::string> fields;
    std::size_t line = 1; ///< where it starts
};

/// Splits RFC 4180 text: quoted fields with doubled quotes and line ends inside, LF or CRLF, an optional byte
/// order mark; empty lines are skipped. An unclosed quote takes the rest of the text.
std::vector<CsvRecord> parse_csv(std::string_view text);

} // namespace archsim
