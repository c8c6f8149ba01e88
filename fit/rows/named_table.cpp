#include "fit/rows/named_table.hpp"

#include "archsim/core/finding.hpp"
#include "core/parse_number.hpp"
#include "core/text_file.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace archsim {

NamedTable::NamedTable(const std::string& file) : file_(file), records_(parse_csv(read_text_file(file))) {
    if (records_.empty())
        throw InputError(fmt::format("{}: no row in it", file));
}

std::string NamedTable::where(std::size_t row) const {
    return fmt::format("{}: line {}", file_, records_[row + 1].line);
}

bool NamedTable::has(std::string_view column) const {
    return std::find(head().begin(), head().end(), column) != head().end();
}

const std::string& NamedTable::text(std::size_t row, std::string_view column) const {
    const auto found = std::find(head().begin(), head().end(), column);
    if (found == head().end())
        throw InputError(fmt::format("{}: line 1: no column {}", file_, column));
    return cell(row, static_cast<std::size_t>(found - head().begin()));
}

const std::string& NamedTable::cell(std::size_t row, std::size_t column) const {
    static const std::string none;
    const auto& fields = records_[row + 1].fields;
    return column < fields.size() ? fields[column] : none;
}

double NamedTable::number(std::size_t row, std::string_view column) const {
    const auto value = parse_real(text(row, column));
    if (!value || !(*value > 0))
        throw InputError(
            fmt::format("{}: {}: \"{}\" is no number above 0", where(row), column, text(row, column)));
    return *value;
}

} // namespace archsim
