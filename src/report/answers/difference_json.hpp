#pragma once
#include "compare/difference.hpp"

#include <nlohmann/json.hpp>

namespace archsim {

/// "metric", "sides", "before", "after", "difference", "causes", "by_change", "classes", "blocks".
nlohmann::ordered_json difference_json(const Difference& difference);

} // namespace archsim
