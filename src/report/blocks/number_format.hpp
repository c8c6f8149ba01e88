#pragma once
// Numbers for people: three significant digits, a unit that fits.

#include <cstddef>
#include <fmt/format.h>
#include <string>
#include <string_view>

namespace archsim {

/// "0.912", "18.4", "1240" (three significant digits, no exponent between 1e-3 and 1e7).
std::string format_number(double value);
/// "431 us", "2.15 ms", "1.20 s".
std::string format_time(double seconds, bool unicode = true);
/// "15.4 mJ".
std::string format_energy(double joules, bool unicode = true);
/// "54.9 MB" (decimal, as vendors count).
std::string format_bytes(double bytes);
/// "12.3 W", "850 mW".
std::string format_power(double watts);
/// "18.5 h", "12.3 days", "15.4 years".
std::string format_lasting(double hours);
/// "25.6 M", "4.09 G".
std::string format_count(double value);
/// " (82 % likely)"; empty where it is as good as certain.
std::string likely_text(double probability);
/// "41.2 %".
std::string format_percent(double fraction);
/// "+41.2 %".
std::string signed_percent(double fraction);

/// "1 device", "2 devices".
inline std::string plural(std::size_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// A field as it stands in a line: printable, and in quotes, with its own quotes doubled, where it holds a
/// comma, a quote or a line feed. (A carriage return is shown as "\x0d".) A text that a spreadsheet would
/// take for a formula begins with an apostrophe, which spreadsheets do not show; numbers stay numbers.
std::string csv_field(std::string_view given);

} // namespace archsim
