#pragma once
// Numbers in files for programs, with 9 significant digits: beyond the meaning of any estimate, in half the
// bytes of all 17.

#include <string>

namespace archsim {

/// Appends what printf("%.9g") prints in the C locale, in a third of the time. Worked: 0.00012 -> 0.00012,
/// 1.5e9 -> 1.5e+09, 1/3 -> 0.333333333.
void append_short_number(double value, std::string& text);

} // namespace archsim
