#pragma once
// What an estimate is bound by.

#include "archsim/core/export.hpp"
#include "archsim/estimate/estimate.hpp"

#include <string>

namespace archsim {

/// What most of the time goes to: "compute", "memory" or "overhead". The estimate keeps its subgraphs.
ARCHSIM_API std::string regime_of(const Estimate& estimate);

} // namespace archsim
