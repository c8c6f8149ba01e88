#pragma once
// What a comparison says beside what was asked: the same devices in their usual formats, and in other power
// modes.

#include "archsim/compare/decisions.hpp"
#include "archsim/run/session.hpp"

#include <span>
#include <vector>

namespace archsim {

/// The same results, each in the format that is usual for its device (usual_on()), totals only. Empty where
/// that says nothing more: a format was asked for, or is the model's own, or every device runs fp32.
std::vector<Result> in_usual_formats(const Session& session, const Workload& workload,
                                     const Conditions& asked, std::span<const Result> results);

/// Other power modes of devices that miss a limit, those in which they meet every one; totals only.
std::vector<Result> modes_within(const Session& session, const Workload& workload,
                                 std::span<const Result> results, const DecisionRequest& limits);

} // namespace archsim
