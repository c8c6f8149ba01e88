#pragma once
// Tables from a list of columns: each column says how it is headed and what it shows of a row. The same list
// makes the table for people, the CSV and the rows of a JSON document.

#include "archsim/extend/renderer.hpp"

#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace archsim {

/// A column and what it shows of a row.
template <class Row>
struct ColumnOf {
    Column column;
    std::function<Cell(const Row&)> cell;
};

/// The cells of one row.
template <class Row>
std::vector<Cell> cells_of(const std::vector<ColumnOf<Row>>& columns, const Row& row) {
    std::vector<Cell> cells;
    cells.reserve(columns.size());
    for (const ColumnOf<Row>& c : columns)
        cells.push_back(c.cell(row));
    return cells;
}

/// A table of all rows.
template <class Row, class Rows>
Table table_of(std::string title, const std::vector<ColumnOf<Row>>& columns, const Rows& rows) {
    Table table;
    table.title = std::move(title);
    for (const ColumnOf<Row>& c : columns)
        table.columns.push_back(c.column);
    for (const Row& row : rows)
        table.rows.push_back(cells_of(columns, row));
    return table;
}

/// A cell as a JSON value.
nlohmann::ordered_json json_of(const Cell& cell);

/// An object with the key of each column; columns without a key are left out.
template <class Row>
nlohmann::ordered_json object_of(const std::vector<ColumnOf<Row>>& columns, const Row& row) {
    auto object = nlohmann::ordered_json::object();
    auto& members = object.template get_ref<nlohmann::ordered_json::object_t&>();
    members.reserve(columns.size());
    for (const ColumnOf<Row>& c : columns)
        if (!c.column.key.empty())
            members.emplace_back(c.column.key, json_of(c.cell(row)));
    return object;
}

/// An array with an object for each row.
template <class Row, class Rows>
nlohmann::ordered_json array_of(const std::vector<ColumnOf<Row>>& columns, const Rows& rows) {
    auto array = nlohmann::ordered_json::array();
    for (const Row& row : rows)
        array.push_back(object_of(columns, row));
    return array;
}

/// The column of a document for programs, where the key is the heading.
inline Column plain_column(std::string key) {
    return {key, "", key};
}
/// A text, also where it is empty.
inline Cell text_cell(std::string text) {
    return {std::move(text), {}, Tone::plain, {}, CellKind::text};
}
/// A number as it is; empty where it is not known.
inline Cell number_cell(bool known, double value) {
    return known && std::isfinite(value) ? Cell{{}, value} : Cell{};
}
/// A whole number.
inline Cell count_cell(bool known, double value) {
    return known ? Cell{fmt::format("{:.0f}", value), value, Tone::plain, {}, CellKind::count} : Cell{};
}
/// True or false.
inline Cell flag_cell(bool known, bool value) {
    return known ? Cell{value ? "yes" : "no", value ? 1.0 : 0.0, Tone::plain, {}, CellKind::flag} : Cell{};
}

} // namespace archsim
