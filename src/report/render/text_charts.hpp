#pragma once
#include "archsim/extend/renderer.hpp"

#include <string>

namespace archsim {

/// A chart in characters: bars, lines, heat map; scatter and roofline as a grid of marks.
std::string draw_text_chart(const Chart& chart, const RenderOptions& options);

} // namespace archsim
