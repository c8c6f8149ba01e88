#pragma once
// The cells that most tables are made of: a number for people and, for sorting, CSV and JSON, in SI.

#include "archsim/extend/renderer.hpp"

#include "report/blocks/number_format.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>

namespace archsim {

/// "12.3" of 0.0123 s in a column of ms (`unit` 1e-3); "-" where it is not known.
inline Cell cell_in(double unit, double value) {
    return std::isnan(value) ? Cell{"-"} : Cell{format_number(value / unit), value};
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
