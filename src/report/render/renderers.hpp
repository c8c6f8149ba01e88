#pragma once
// The renderers behind render(): one function and one file per format.

#include "archsim/extend/renderer.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

bool explains_any(const TableNote& note, const std::vector<Column>& columns);

std::string render_text(const Report& report, const RenderOptions& options);
std::string render_markdown(const Report& report);
std::string render_csv(const Report& report);
std::string render_html(const Report& report, const RenderOptions& options);
/// The content of <main>; the identifiers of tables begin with `name`.
std::string render_html_body(const Report& report, std::string_view name);

/// Text that stays text as a line of GitHub-flavoured Markdown, whatever names in it hold: no emphasis, code,
/// link, picture, HTML, formula, mention or cell border, no heading, list, quotation, rule or fence.
std::string markdown_line(std::string_view text);
/// A fence that no line of the text closes.
std::string markdown_fence(std::string_view text);

// Which columns of a table a terminal has room for, and where long cells break:
//
//   Hardware  Best for                       a long text takes several lines before
//   --------------------------------         a column is left out
//   TPU-v4    energy, latency,
//             throughput
//
// Only texts break, at spaces, then at joints of names ("a-b/c"); numbers never do.

/// Columns a UTF-8 text takes on a terminal: code points, combining marks not counted.
std::size_t display_width(std::string_view text);

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

/// A chart in characters: bars, lines, heat map; scatter and roofline as a grid of marks.
std::string draw_text_chart(const Chart& chart, const RenderOptions& options);

/// Text as HTML content or as an attribute value in double quotes.
std::string html_escaped(std::string_view text);

/// A chart as a <figure> that report.js draws from the data inside it; a heat map as a table of shaded cells,
/// which needs no script.
std::string html_chart(const Chart& chart);

// Files that the build embeds into the library: what an HTML report carries so that it opens without a
// network.

std::string_view report_style();  ///< src/report/assets/report.css
std::string_view report_script(); ///< src/report/assets/report.js
std::string_view chart_library(); ///< Chart.js (MIT licence), from Debian's libjs-chart.js

/// The same elements that an HTML report has for these blocks, without the page around them. `name` begins
/// the identifiers of its tables, so that several fragments of one page differ. Text stays text whatever it
/// holds.
std::string html_fragment(std::span<const Block> blocks, std::string_view name);

} // namespace archsim
