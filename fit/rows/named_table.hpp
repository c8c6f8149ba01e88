#pragma once
// A CSV file whose first line names its columns: cells by name, and what is wrong with one by its line.

#include "core/csv_reader.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace archsim {

class NamedTable {
  public:
    /// Throws InputError for a file without a line.
    explicit NamedTable(const std::string& file);
    std::size_t rows() const { return records_.size() - 1; }
    const std::vector<std::string>& head() const { return records_[0].fields; }
    std::string where(std::size_t row) const;
    bool has(std::string_view column) const;
    /// Throws InputError for a column that the table lacks.
    const std::string& text(std::size_t row, std::string_view column) const;
    /// Empty where the row is shorter.
    const std::string& cell(std::size_t row, std::size_t column) const;
    /// Throws InputError for what is no number above 0.
    double number(std::size_t row, std::string_view column) const;

  private:
    std::string file_;
    std::vector<CsvRecord> records_;
};

} // namespace archsim
