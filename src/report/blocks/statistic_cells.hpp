#pragma once
// Error statistics as columns and cells of a table.

#include "archsim/compare/validation.hpp"
#include "archsim/report/report.hpp"

#include <string>
#include <vector>

namespace archsim {

/// The first column holds the group's name.
std::vector<Column> statistic_columns(std::string heading, std::string key);
std::vector<Cell> statistic_cells(const ValidationGroup& group);

} // namespace archsim
