#pragma once
// Published measurements as files: CSV with one cited value per row.

#include "archsim/core/finding.hpp"
#include "fit/errors/validation.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// Rows of a file, and what is wrong with it.
struct MeasuredTable {
    std::vector<MeasuredRow> rows;
    std::vector<Finding> findings; ///< rows that cannot be used, with line and column name
};

/// Reads a CSV file (RFC 4180) with the columns of tests/measured/calibration.csv in any order; further
/// columns are reported. Throws InputError when the file cannot be read or lacks a required column.
MeasuredTable read_measurements(const std::filesystem::path& file);
/// Several files, or folders of files, as one table; of a folder those whose first line has the columns.
MeasuredTable read_measurements(const std::vector<std::string>& files);
/// The same from text; `name` stands for the file in findings.
MeasuredTable parse_measurements(std::string_view text, std::string_view name);

} // namespace archsim
