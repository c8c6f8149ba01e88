#pragma once
// The cells that most tables are made of: a number for people and, for sorting, CSV and JSON, in SI.

#include "archsim/extend/renderer.hpp"

#include "report/blocks/number_format.hpp"

#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>

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

} // namespace archsim
