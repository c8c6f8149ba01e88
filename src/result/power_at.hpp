#pragma once
// Power and energy of a result at the boundary that is asked for.

#include "archsim/compare/result.hpp"
#include "archsim/estimate/estimate.hpp"

namespace archsim {

/// Joules inside the boundary while the result's devices spend `joules` in `seconds`. A board and a host draw
/// for as long as the work takes. Worked: 100 J in 1 s on a board that draws 20 W beside its chip: 120 J.
double joules_at(const Result& result, double joules, double seconds, PowerBoundary boundary);

/// A factor on the power of the result: what lies inside the boundary draws that many times what the devices
/// draw.
double times_inside(const Result& result, PowerBoundary boundary);

/// The prompt and answer of a result that has them, every energy of it at the boundary: power x time =
/// energy.
GenerationEstimate generation_at(const Result& result, PowerBoundary boundary);

} // namespace archsim
