#pragma once
#include "archsim/compare/objective.hpp"

#include <string>

namespace archsim {

/// The unit that charts show an objective in: shown = SI value x scale.
struct ObjectiveAxis {
    double scale = 1;
    std::string unit;
};
ObjectiveAxis axis_of(Objective objective);

} // namespace archsim
