#include "archsim/core/finding.hpp"
#include "core/parse_number.hpp"
#include "core/text.hpp"
#include "core/text_file.hpp"
#include "fit/rows/measurements.hpp"
#include "fit/rows/validate.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <string_view>

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

namespace {

std::int64_t number_after(std::string_view note, std::string_view phrase) {
    const auto at = note.find(phrase);
    if (at == std::string_view::npos)
        return 0;
    std::string_view text = mean_length(note.substr(at + phrase.size()));
    return take_number<std::int64_t>(text).value_or(0);
}

/// Servers are measured at the wall, boards at their own supply, accelerators by the sensor on theirs.
PowerBoundary boundary_in(std::string note) {
    note = lower_case(std::move(note));
    const auto says = [&](std::string_view words) { return note.find(words) != std::string::npos; };
    if (says("wall power") || says("wall energy"))
        return PowerBoundary::wall;
    if (says("board power") || says("board input power"))
        return PowerBoundary::board;
    return says("nvml") ? PowerBoundary::rail : PowerBoundary::chip;
}

} // namespace

void fill_from_note(MeasuredRow& row, bool boundary) {
    const auto says = [&](std::string_view words) { return row.note.find(words) != std::string::npos; };
    row.context = number_after(row.note, says("context length ") ? "context length " : "cache length ");
    row.transfers = says("data transfer included");
    row.sampled = says("top_p");
    row.decided_by = says("HOST-BOUND") ? "host" : says("SLOW KERNEL") ? "slow_kernel" : "";
    if (boundary)
        row.boundary = boundary_in(row.note);
}

} // namespace archsim
