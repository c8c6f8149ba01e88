#pragma once
#include "ask/json_members.hpp"
#include "compare/difference.hpp"

namespace archsim {

/// "metric", "sides", "before", "after", "difference", "causes", "by_change", "classes", "blocks".
Members<Difference> difference_members();

} // namespace archsim
