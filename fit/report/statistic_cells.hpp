#pragma once
// Error statistics as columns and cells of a table.

#include "archsim/extend/renderer.hpp"
#include "fit/errors/validation.hpp"

#include <string>
#include <vector>

namespace archsim {

/// Kendall's tau with the pairs behind it: "0.40 (5)", where one pair the other way round is worth 0.4.
Cell tau_cell(const RankAgreement& agreement);
/// The first column holds the group's name.
std::vector<Column> statistic_columns(std::string heading, std::string key);
std::vector<Cell> statistic_cells(const ValidationGroup& group);

} // namespace archsim
