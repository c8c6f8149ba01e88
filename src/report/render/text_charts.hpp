#pragma once

#include "archsim/extend/renderer.hpp"

#include <string>

namespace archsim {

/// A chart in characters: bars, lines, heat map; scatter and roofline as a grid of marks.
std::string draw_text_chart(const Chart& chart, const RenderOptions& options);

/// Points on two axes as a grid of characters; joined series (roofs, fronts) as dotted lines:
///
///   operations per second
///    310 T |                    ..............
///          |              ......
///          |         .....          o o o
///    144 G |    .....           o
///          +----------------------------------
///           0.85             30            1048  operations per byte
///   o A100   . A100 roof, fp16
std::string draw_plot(const Chart& chart, const RenderOptions& options);

/// The first series as filled columns over its index, the others' level as a dotted line.
std::string draw_steps(const Chart& chart, const RenderOptions& options);

} // namespace archsim
