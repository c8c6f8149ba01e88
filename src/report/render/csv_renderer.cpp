// The tables of a report as CSV (RFC 4180), keys as headings, SI numbers where the cell has one. Tables with
// the same columns continue each other; a different one starts after an empty line.

#include "report/blocks/number_format.hpp"
#include "report/render/renderers.hpp"

#include <cmath>
#include <fmt/format.h>

namespace archsim {

static std::string header_of(const Table& table) {
    std::string line;
    for (const Column& column : table.columns) {
        if (column.key.empty()) // for people alone: a drawing
            continue;
        line += (line.empty() ? "" : ",") + csv_field(column.key);
        if (!column.high_key.empty())
            line += "," + csv_field(column.high_key);
    }
    return line;
}

/// Empty where it is no number: nobody knows how far an interval reaches.
static std::string number_field(double value) {
    return std::isfinite(value) ? fmt::format("{}", value) : std::string();
}

static std::string field_of(const Column& column, const Cell& cell) {
    if (!column.high_key.empty())
        return cell.interval ? number_field(cell.interval->low) + "," + number_field(cell.interval->high)
                             : std::string(",");
    if (cell.value)
        return number_field(*cell.value);
    return cell.interval ? std::string() : csv_field(cell.text); // a bound is no value
}

std::string render_csv(const Report& report) {
    std::string out, last;
    for (const Block& block : report.blocks) {
        const Table* table = std::get_if<Table>(&block);
        if (!table)
            continue;
        const std::string header = header_of(*table);
        if (header != last)
            out += (out.empty() ? "" : "\n") + header + "\n";
        last = header;
        for (const auto& row : table->rows) {
            std::string line;
            for (std::size_t c = 0; c < row.size(); ++c)
                if (!table->columns[c].key.empty())
                    line += (c == 0 ? "" : ",") + field_of(table->columns[c], row[c]);
            out += line + "\n";
        }
    }
    return out;
}

} // namespace archsim
