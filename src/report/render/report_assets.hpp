#pragma once
// Files that the build embeds into the library: what an HTML report carries so that it opens without a
// network.

#include <string_view>

namespace archsim {

std::string_view report_style();  ///< src/report/assets/report.css
std::string_view report_script(); ///< src/report/assets/report.js
std::string_view chart_library(); ///< Chart.js (MIT licence), from Debian's libjs-chart.js

} // namespace archsim
