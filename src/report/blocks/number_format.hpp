#pragma once
// Numbers for people: three significant digits, a unit that fits.

#include "archsim/core/export.hpp"

#include <string>

namespace archsim {

/// "0.912", "18.4", "1240" (three significant digits, no exponent between 1e-3 and 1e7).
ARCHSIM_API std::string format_number(double value);
/// "431 us", "2.15 ms", "1.20 s".
ARCHSIM_API std::string format_time(double seconds, bool unicode = true);
/// "15.4 mJ".
ARCHSIM_API std::string format_energy(double joules, bool unicode = true);
/// "54.9 MB" (decimal, as vendors count).
ARCHSIM_API std::string format_bytes(double bytes);
/// "12.3 W", "850 mW".
ARCHSIM_API std::string format_power(double watts);
/// "25.6 M", "4.09 G".
ARCHSIM_API std::string format_count(double value);
/// "41.2 %".
ARCHSIM_API std::string format_percent(double fraction);
/// "+41.2 %".
ARCHSIM_API std::string signed_percent(double fraction);

} // namespace archsim
