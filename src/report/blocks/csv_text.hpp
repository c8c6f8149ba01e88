#pragma once
// The one place that quotes for CSV (RFC 4180).

#include <string>
#include <string_view>

namespace archsim {

/// A field as it stands in a line: printable, and in quotes, with its own quotes doubled, where it holds a
/// comma, a quote or a line feed. (A carriage return is shown as "\x0d".) A text that a spreadsheet would
/// take for a formula begins with an apostrophe, which spreadsheets do not show; numbers stay numbers.
std::string csv_field(std::string_view given);

} // namespace archsim
