#pragma once

#include "archsim/extend/renderer.hpp"

#include <span>
#include <string>
#include <string_view>

namespace archsim {

/// Text as HTML content or as an attribute value in double quotes.
std::string html_escaped(std::string_view text);

/// A chart as a <figure> that report.js draws from the data inside it; a heat map as a table of shaded cells,
/// which needs no script.
std::string html_chart(const Chart& chart);

// Files that the build embeds into the library: what an HTML report carries so that it opens without a
// network.

std::string_view report_style();  ///< src/report/assets/report.css
std::string_view report_script(); ///< src/report/assets/report.js
std::string_view chart_library(); ///< Chart.js (MIT licence), from Debian's libjs-chart.js

/// The same elements that an HTML report has for these blocks, without the page around them. `name` begins
/// the identifiers of its tables, so that several fragments of one page differ. Text stays text whatever it
/// holds.
std::string html_fragment(std::span<const Block> blocks, std::string_view name);

} // namespace archsim
