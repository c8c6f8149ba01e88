#pragma once
#include "archsim/extend/renderer.hpp"
#include "fit/errors/validation.hpp"

namespace archsim {

/// Predicted against measured time in milliseconds, one series per family: latency as it is, throughput as
/// time per item. Power and energy have no place on these axes.
Chart scatter_of(const Validation& validation);

} // namespace archsim
