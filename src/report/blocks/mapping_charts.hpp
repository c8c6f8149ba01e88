#pragma once
// Charts of how networks sit on devices: results go in, a chart comes out.

#include "archsim/compare/result.hpp"
#include "archsim/extend/renderer.hpp"

#include <span>

namespace archsim {

/// Every subgraph of every result as a point under the roofs of its device; estimates only.
Chart roofline_chart(std::span<const Result> results);
/// Live activation bytes at every step of the schedule.
Chart memory_chart(const Result& result);

} // namespace archsim
