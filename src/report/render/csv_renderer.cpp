// The tables of a report as CSV (RFC 4180), keys as headings, SI numbers where the cell has one. Tables with
// the same columns continue each other; a different one starts after an empty line.

#include "report/blocks/csv_text.hpp"
#include "report/render/renderers.hpp"

#include <fmt/format.h>

namespace archsim {

namespace {

std::string header_of(const Table& table) {
    std::string line;
    for (const Column& column : table.columns)
        line += (line.empty() ? "" : ",") + csv_field(column.key.empty() ? column.heading : column.key);
    return line;
}

} // namespace

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
            for (std::size_t c = 0; c < row.size(); ++c)
                out += (c == 0 ? "" : ",") +
                       (row[c].value ? fmt::format("{}", *row[c].value) : csv_field(row[c].text));
            out += "\n";
        }
    }
    return out;
}

} // namespace archsim
