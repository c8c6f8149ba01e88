#pragma once
// Tables from a list of columns: each column says how it is headed and what it shows of a row. The same list
// makes the table for people, the CSV and the rows of a JSON document.

#include "archsim/extend/renderer.hpp"
#include "core/lists.hpp"
#include "fields/json_members.hpp"
#include "report/blocks/number_format.hpp"

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace archsim {

/// "12.3" of 0.0123 s in a column of ms (`unit` 1e-3); unknown where it is no number.
inline Cell cell_in(double unit, double value) {
    return std::isnan(value) ? Cell{} : Cell{format_number(value / unit), value};
}
/// The same of what may not be there, and of counts.
inline Cell quantity_cell(double unit, std::optional<double> value) {
    return value ? cell_in(unit, *value) : Cell{};
}
template <std::integral Count>
Cell quantity_cell(double unit, Count value) {
    return {unit == 1 ? fmt::format("{}", value) : format_number(static_cast<double>(value) / unit),
            static_cast<double>(value),
            Tone::plain,
            {},
            CellKind::count};
}
/// "0.74-1.12" of an interval in a column of intervals; ">= 0.74" where it has no end.
inline Cell interval_cell(double unit, double low, double value, double high) {
    return {std::isinf(high) ? ">= " + format_number(low / unit)
                             : fmt::format("{}-{}", format_number(low / unit), format_number(high / unit)),
            {},
            Tone::plain,
            {},
            CellKind::number,
            CellInterval{low, value, high}};
}
/// "> 3.2 M": no more is known than that it is above this.
inline Cell bound_cell(std::string text, double above) {
    constexpr double kNoEnd = std::numeric_limits<double>::infinity();
    return {
        "> " + std::move(text), {}, Tone::plain, {}, CellKind::number, CellInterval{above, above, kNoEnd}};
}
/// A unit in the head of a column, and how much of the SI unit it is.
struct UnitOfColumn {
    const char* name;
    double factor;
};
/// A number in words of its own: "1.23x".
inline Cell worded_cell(std::string text, double value) {
    return {std::move(text), value};
}
/// A text in another tone.
inline Cell toned_cell(std::string_view text, Tone tone) {
    return {std::string(text), {}, tone};
}
/// Microjoules, or millijoules where the largest value of the column has more than five digits of those.
inline UnitOfColumn energy_unit(double largest_j) {
    constexpr double kFiveDigits = 0.1;
    return largest_j < kFiveDigits ? UnitOfColumn{"µJ", 1e-6} : UnitOfColumn{"mJ", 1e-3};
}
/// "431 us", with its unit.
inline Cell time_cell(double seconds) {
    return {format_time(seconds), seconds};
}
/// "41.2 %", with its unit.
inline Cell share_cell(double fraction) {
    return {format_percent(fraction), fraction};
}
/// "41.2" in a column headed with %.
inline Cell percent_cell(double fraction) {
    return {fmt::format("{:.1f}", 100 * fraction), fraction};
}
/// "25.6 M": operations, parameters.
inline Cell amount_cell(double value) {
    return {format_count(value), value};
}
/// "12": a whole number, in JSON too.
inline Cell whole_cell(std::size_t value) {
    return {fmt::format("{}", value), static_cast<double>(value), Tone::plain, {}, CellKind::count};
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
inline Cell flag_cell(bool known, bool value) {
    return known ? Cell{value ? "yes" : "no", value ? 1.0 : 0.0, Tone::plain, {}, CellKind::flag} : Cell{};
}

/// The type of a column's cells for programs; all but `text` may be null.
enum class CellType : std::uint8_t { text, name, number, count, flag, number_or_word };

/// A value as the cell of a column of that type: a text, a whole number, true or false, or a number where it
/// is known.
template <class Value>
Cell typed_cell(CellType type, const Value& value) {
    if constexpr (std::convertible_to<Value, std::string_view>) {
        return type == CellType::text ? text_cell(std::string(value)) : Cell{std::string(value)};
    } else if constexpr (std::same_as<Value, bool>) {
        return flag_cell(true, value);
    } else if constexpr (std::is_arithmetic_v<Value>) {
        const auto number = static_cast<double>(value);
        return type == CellType::count  ? count_cell(true, number)
               : type == CellType::flag ? flag_cell(true, number != 0)
                                        : number_cell(true, number);
    } else {
        return value ? typed_cell(type, *value) : Cell{};
    }
}

/// A column and what it shows of a row: a cell, a value of its type, or a number in SI that is shown as so
/// many `unit`.
template <class Row>
struct ColumnOf {
    template <class Get>
    ColumnOf(Column shown, Get get, CellType in_json = CellType::name, std::string key_means = {})
        : column(std::move(shown)), type(in_json), meaning(std::move(key_means)) {
        if constexpr (std::convertible_to<std::invoke_result_t<Get, const Row&>, Cell>)
            cell = std::move(get);
        else
            cell = [in_json, get = std::move(get)](const Row& row) {
                return typed_cell(in_json, std::invoke(get, row));
            };
    }
    template <class Get>
    ColumnOf(Column shown, double unit, Get get)
        : column(std::move(shown)), cell([unit, get = std::move(get)](const Row& row) {
              return quantity_cell(unit, std::invoke(get, row));
          }),
          type(CellType::number) {}

    Column column;
    std::function<Cell(const Row&)> cell;
    CellType type = CellType::name; ///< in JSON
    std::string meaning = {};       ///< of its key, in a phrase
};

/// The columns, unknown in rows that do not have what they show.
template <class Row, class Has>
std::vector<ColumnOf<Row>> where(Has has, std::vector<ColumnOf<Row>> columns) {
    for (ColumnOf<Row>& c : columns)
        c.cell = [has, cell = std::move(c.cell)](const Row& row) { return has(row) ? cell(row) : Cell{}; };
    return columns;
}

/// Adds blocks behind the last of a report; those of a list one by one.
template <class... Blocks>
void add_blocks(Report& report, Blocks&&... blocks) {
    const auto add = [&report](auto&& more) {
        if constexpr (std::same_as<std::remove_cvref_t<decltype(more)>, std::vector<Block>>)
            append(report.blocks, std::move(more));
        else
            report.blocks.emplace_back(std::forward<decltype(more)>(more));
    };
    (add(std::forward<Blocks>(blocks)), ...);
}

/// "a, b": what a function says of each, where it says anything.
template <class Rows, class Text>
requires std::invocable<Text, std::ranges::range_reference_t<const Rows&>> std::string
joined(const Rows& rows, Text text_of, std::string_view separator = ", ") {
    std::string all;
    for (const auto& row : rows)
        if (const std::string text(std::invoke(text_of, row)); !text.empty())
            all.append(all.empty() ? std::string_view() : separator).append(text);
    return all;
}

/// Names by a text that they share, in the order in which the texts came up.
using NamesByText = std::vector<std::pair<std::string, std::vector<std::string>>>;
/// The names of a text, none yet where it is new.
std::vector<std::string>& names_under(std::string_view text, NamesByText& all);

/// Adds columns to a list, which may be written out.
template <class Row>
void append(std::vector<ColumnOf<Row>>& columns, std::vector<ColumnOf<Row>> more) {
    std::move(more.begin(), more.end(), std::back_inserter(columns));
}

template <class Row>
std::vector<Cell> cells_of(const std::vector<ColumnOf<Row>>& columns, const Row& row) {
    return mapped(columns, [&](const ColumnOf<Row>& c) { return c.cell(row); });
}

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

nlohmann::ordered_json json_of(const Cell& cell);

/// JSON Schema of json_of() the cells of a column.
nlohmann::ordered_json schema_of(CellType type);

/// The members of an object with the key of each column; columns without a key are left out.
template <class Row>
Members<Row> members_of(const std::vector<ColumnOf<Row>>& columns) {
    std::vector<Member<Row>> members;
    members.reserve(columns.size());
    for (const ColumnOf<Row>& c : columns)
        if (!c.column.key.empty())
            members.emplace_back(
                c.column.key, c.meaning, [cell = c.cell](const Row& row) { return json_of(cell(row)); },
                Shaped{[type = c.type] { return schema_of(type); }});
    return Members<Row>(std::move(members));
}

inline Column least_best(std::string heading, std::string unit, std::string key, int priority = 0) {
    return {std::move(heading), std::move(unit), std::move(key), Align::right, priority, BestIs::least};
}
inline Column most_best(std::string heading, std::string unit, std::string key, int priority = 0) {
    return {std::move(heading), std::move(unit), std::move(key), Align::right, priority};
}
/// A column of intervals, whose ends have a key each.
inline Column interval_column(std::string heading, std::string unit, std::string low, std::string high,
                              int priority = 0, BestIs best = BestIs::least) {
    return {std::move(heading), std::move(unit), std::move(low), Align::right, priority, best,
            std::move(high)};
}
/// The column of a document for programs, where the key is the heading.
inline Column plain_column(std::string key) {
    return {key, "", key};
}
struct TableOrder {
    std::string column;  ///< heading or key of a column, in any case: "bandwidth", "int8"; empty: as they are
    std::size_t top = 0; ///< rows that stay; 0: all
    /// False: everything stays as it is.
    bool asked() const { return !column.empty() || top > 0; }
};

/// Orders the rows of the report's first table and of those after it that have the same columns, which become
/// one table: numbers best first, as the column says; texts by letter; rows
/// without a value last. Throws UsageError that lists the columns where none has that name.
void order_tables(Report& report, const TableOrder& order);

} // namespace archsim
