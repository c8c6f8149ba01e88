#pragma once
// Numbers for people: three significant digits, a unit that fits.

#include <string>

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
/// "25.6 M", "4.09 G".
std::string format_count(double value);
/// "41.2 %".
std::string format_percent(double fraction);
/// "+41.2 %".
std::string signed_percent(double fraction);

} // namespace archsim
