#pragma once
#include "answers/difference/difference.hpp"
#include "fields/json_members.hpp"

namespace archsim {

/// "metric", "sides", "before", "after", "difference", "causes", "by_change", "classes", "blocks".
Members<Difference> difference_members();

} // namespace archsim
