#pragma once
// Parts of the mapping report that other reports show too.

#include "archsim/compare/result.hpp"
#include "archsim/extend/renderer.hpp"

#include <nlohmann/json.hpp>

namespace archsim {

/// A section with the `top` slowest subgraphs one by one; 0: all.
void add_slowest_subgraphs(const Result& result, int top, Report& report);

/// Every subgraph with its terms; empty without an estimate.
nlohmann::ordered_json subgraphs_json(const Result& result);
/// The memory plan; null where there is none.
nlohmann::ordered_json memory_json(const Result& result);

} // namespace archsim
