#pragma once
// The tables of a file of results.

#include "archsim/compare/metric.hpp"
#include "store/sqlite.hpp"

#include <cstdint>
#include <string>

namespace archsim {

/// Makes the tables of a new file, or brings those of an older version up to date, and the view `rows` over
/// the metrics that a view shows. Inside of a transaction. Throws InputError for a file that holds something
/// else.
void prepare_results_file(SqlFile& file, const MetricTable& metrics);
/// The layout of its tables. Throws InputError for a file that was not made by prepare_results_file, or by a
/// newer one.
std::int64_t expect_results_file(SqlFile& file, const std::string& name);
/// Throws InputError where the file is damaged: a page that stands in several places would be read as often.
void expect_sound_pages(SqlFile& file);
/// The expression that gives CellKey::question in a query over `conditions` and `runs`.
std::string question_of_row(std::int64_t layout);

} // namespace archsim
