#pragma once
// What a comparison says beside what was asked: the same devices in other power modes.

#include "archsim/compare/decisions.hpp"
#include "archsim/run/session.hpp"

#include <span>
#include <vector>

namespace archsim {

/// Other power modes of devices that miss a limit, those in which they meet every one; totals only.
std::vector<Result> modes_within(const Session& session, const Workload& workload,
                                 std::span<const Result> results, const DecisionRequest& limits);

} // namespace archsim
