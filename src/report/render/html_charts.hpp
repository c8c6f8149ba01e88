#pragma once
#include "archsim/extend/renderer.hpp"

#include <string>

namespace archsim {

/// A chart as a <figure> that report.js draws from the data inside it; a heat map as a table of shaded cells,
/// which needs no script.
std::string html_chart(const Chart& chart);

} // namespace archsim
