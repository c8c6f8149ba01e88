#pragma once
#include "archsim/compare/result.hpp"
#include "archsim/extend/renderer.hpp"

#include <span>

namespace archsim {

/// For spreadsheets: one row per subgraph of every estimate, every column named after its SI unit.
Table all_subgraphs_table(std::span<const Result> results);

} // namespace archsim
