#pragma once
// Parts of the mapping report that other reports show too.

#include "archsim/compare/result.hpp"
#include "archsim/extend/renderer.hpp"
#include "fields/json_members.hpp"

namespace archsim {

/// A section with the `top` slowest subgraphs one by one; 0: all.
void add_slowest_subgraphs(const Result& result, int top, Report& report);

/// "subgraphs", each with its terms: empty without an estimate.
Member<Result> subgraphs_member();
/// "memory": the plan; null where there is none.
Member<Result> memory_plan_member();

} // namespace archsim
