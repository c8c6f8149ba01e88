#pragma once
// ARCHSIM_BUDGET: what one model file may cost, for a user who knows that his is large.

#include "archsim/core/budget.hpp"

namespace archsim::cli {

/// The budget that the environment states ("bytes=1e9,steps=1e6,seconds=60", each of them optional), or the
/// default. Throws UsageError for what is none.
Budget allowed_budget();

} // namespace archsim::cli
