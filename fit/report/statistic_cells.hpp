#pragma once
// Error statistics as columns of a table.

#include "fit/errors/validation.hpp"
#include "report/blocks/columns.hpp"

#include <functional>
#include <string>
#include <vector>

namespace archsim {

/// Kendall's tau with the pairs behind it: "0.40 (5)", where one pair the other way round is worth 0.4.
Cell tau_cell(const RankAgreement& agreement);
/// "+4.2 %".
Cell signed_cell(double share);
/// The first column holds the group's name.
std::vector<ColumnOf<ValidationGroup>> statistic_columns(std::string heading, std::string key);
/// "7.4 / 7.9": median and mean of sorted errors in per cent.
Cell error_cell(const std::vector<double>& errors);

} // namespace archsim
