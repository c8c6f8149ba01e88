#pragma once
// Which columns of a table a terminal has room for, and where long cells break:
//
//   Hardware  Best for                       a long text takes several lines before
//   --------------------------------         a column is left out
//   TPU-v4    energy, latency,
//             throughput
//
// Only texts break, at spaces, then at joints of names ("a-b/c"); numbers never do.

#include "archsim/extend/renderer.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// Columns a UTF-8 text takes on a terminal: code points, combining marks not counted.
std::size_t display_width(std::string_view text);

/// UTF-8 text in ASCII: signs that the reports use as their usual stand-ins ("u" for micro), the rest as "?".
std::string to_ascii(std::string_view text);

/// `text` padded with spaces to `width` columns.
std::string pad(std::string_view text, std::size_t width, bool right);

/// Lines of at most `width` columns, broken at spaces; a longer word stands alone.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

/// One column as it is drawn.
struct PlacedColumn {
    std::size_t index = 0; ///< of Table::columns
    std::size_t width = 0;
};

/// The columns that fit `width`: texts are narrowed to a readable width, columns of high `priority` dropped,
/// and the texts of what remains narrowed further. A table whose numbers alone are wider stays wider.
std::vector<PlacedColumn> place_columns(const Table& table, std::size_t width);

/// Lines of a text in a column: broken at spaces; a longer word at its joints, then anywhere.
std::vector<std::string> break_cell(const std::string& text, std::size_t width);

/// "(not shown at this width: Util, Memory)": empty where every column is placed. A heading that two columns
/// have is told apart by the unit: "Within (50 %)".
std::string left_out_columns(const Table& table, const std::vector<PlacedColumn>& placed);

/// The notes that say something about the columns that are shown.
std::vector<std::string> notes_of(const Table& table, const std::vector<PlacedColumn>& placed);

} // namespace archsim
