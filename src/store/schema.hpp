#pragma once
// The tables of a file of results.

#include "archsim/compare/metric.hpp"
#include "store/sqlite.hpp"

namespace archsim {

/// Makes the tables of a new file and the view `rows` over the metrics that a view shows. Inside of a
/// transaction. Throws InputError for a file that holds something else.
void prepare_results_file(SqlFile& file, const MetricTable& metrics);
/// Throws InputError for a file that was not made by prepare_results_file, or by a newer one.
void expect_results_file(SqlFile& file, const std::string& name);

} // namespace archsim
