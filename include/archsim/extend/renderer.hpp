#pragma once
// A report as data: blocks that every renderer (text, Markdown, CSV, HTML) draws its own way. Builders in
// report/ turn results into blocks; nothing here computes.

#include "archsim/core/export.hpp"
#include "archsim/core/names.hpp"

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace archsim {

enum class Align : std::uint8_t { left, right };

/// The meaning of a cell, for colour and emphasis; the text must carry the meaning alone.
enum class Tone : std::uint8_t { plain, good, bad, muted, strong };

/// The type of a cell in JSON: a number, a whole number, true or false, or a text even where it is empty. A
/// cell without a value is its text, or null.
enum class CellKind : std::uint8_t { number, count, flag, text };

/// The range of a number, in SI: renderers may draw it beside the text, as a bar on a logarithmic scale of
/// the whole column. In a column of intervals it is the cell itself.
struct CellInterval {
    double low = 0, value = 0, high = 0;
};

/// One cell of a table: a name, a quantity, or an interval. One that has nothing is unknown, and each
/// renderer says so in its own way: "-" for people, empty in CSV, null in JSON. A text that may be empty says
/// so by its kind.
struct Cell {
    std::string text = {};
    std::optional<double> value = std::nullopt; ///< SI number behind the text, for sorting and CSV
    Tone tone = Tone::plain;
    std::string detail = {}; ///< formula, inputs and sources; shown on request where the format allows it
    CellKind kind = CellKind::number;
    std::optional<CellInterval> interval = std::nullopt;
};

/// Which numbers of a column are the best ones: they come first where rows are sorted by it.
enum class BestIs : std::uint8_t { most, least };

/// One column of a table.
struct Column {
    std::string heading; ///< "Latency"; empty: the column is for CSV only, where tables have no titles
    std::string unit;    ///< "ms", second heading line
    std::string
        key; ///< machine name with unit suffix for CSV, "latency_s"; empty: a drawing, for people only
    Align align = Align::left;
    int priority = 0; ///< 0 always shown; higher is dropped first when the terminal is narrow
    BestIs best = BestIs::most;
    std::string high_key =
        {}; ///< not empty: cells are intervals; `key` is that of the lower end, this of the upper
};

/// A line under a table.
struct TableNote {
    /// A note on the column with the key `of`; empty: on the table as a whole.
    template <std::convertible_to<std::string> Text>
    TableNote(Text&& line, std::string of = {}) : text(std::forward<Text>(line)), column(std::move(of)) {}
    std::string text;
    std::string column; ///< where that one is not shown, the line is not either
};

/// Rows of cells under columns.
struct Table {
    std::string title;
    std::vector<Column> columns;
    std::vector<std::vector<Cell>> rows;
    std::vector<TableNote> notes; ///< printed under the table
};

/// A heading.
struct Heading {
    int level = 1; ///< 1 title, 2 section, 3 subsection
    std::string text;
};

/// Indented "Name:  value" lines; nested facts indent further.
struct NamedValue {
    std::string name, value;
    int indent = 0;
    std::string detail = {}; ///< as Cell::detail
};
/// A list of named values.
struct Facts {
    std::vector<NamedValue> items;
    /// Adds one behind the others.
    void add(std::string name, std::string value, int indent = 0) {
        items.push_back({std::move(name), std::move(value), indent});
    }
};

/// Running text.
struct Paragraph {
    std::string text;
    Tone tone = Tone::plain;
};

/// A list of sentences.
struct Bullets {
    std::vector<std::string> items;
};

/// The sentences on top of an answer: the first line is the answer, the others say how sure it is and what
/// binds it.
struct Takeaway {
    std::vector<std::string> lines;
};

/// A line that works when pasted into a shell.
struct Command {
    std::string line;
};

/// The kinds of charts. Values are in the unit that the axis title names.
enum class ChartKind : std::uint8_t {
    scatter,     ///< x and y with intervals; joined series are lines (a Pareto front)
    line,        ///< y over x
    step,        ///< y holds from its x to the next one
    bar,         ///< y by label
    stacked_bar, ///< one bar per label, a series per layer
    waterfall,   ///< changes (and `total` points, which stand on the axis) from left to right
    heat_map,    ///< a row per series, a column per point label, y as colour
    roofline     ///< points under joined series (the roofs)
};
/// One point of a chart.
struct ChartPoint {
    std::string label = {};
    double x = 0, y = 0;
    std::optional<double> y_low = std::nullopt, y_high = std::nullopt;
    std::string hover = {};
    std::optional<double> x_low = std::nullopt, x_high = std::nullopt;
    bool total = false; ///< waterfall: a level, not a change
};
/// Points that belong together.
struct ChartSeries {
    std::string name;
    std::vector<ChartPoint> points;
    bool joined = false;    ///< a line through the points, without marks
    std::string group = {}; ///< series of one group share a colour; empty: a colour of its own
};
/// A picture, as data.
struct Chart {
    ChartKind kind = ChartKind::bar;
    std::string title, x_title, y_title;
    bool x_log = false, y_log = false; ///< heat map: y_log colours by the logarithm
    std::vector<ChartSeries> series;
};

using Block = std::variant<Heading, Paragraph, Facts, Table, Bullets, Command, Chart, Takeaway>;

/// Blocks in reading order.
struct Report {
    std::string title;
    std::vector<Block> blocks;
};

enum class Format : std::uint8_t { text, markdown, json, csv, html };
/// From a file name's extension: .txt .md .json .csv .html.
ARCHSIM_API std::optional<Format> format_of_file(std::string_view file);

/// How a renderer draws.
struct RenderOptions {
    int width = 100; ///< columns of the terminal
    bool color = false;
    bool unicode = true; ///< box characters and µ; false: ASCII only
    /// For an HTML page: the command line that made it and the day, as its foot shows them; empty: left out.
    std::string command = {}, date = {};
};

/// Draws a report. Format::json is not drawn from blocks: see the other render().
/// @code
/// Report report;
/// report.blocks = {Heading{2, "Totals"}, Facts{{{"Latency", "1.2 ms"}}}};
/// assert(render(report, Format::markdown).find("## Totals") != std::string::npos);
/// @endcode
ARCHSIM_API std::string render(const Report& report, Format format, const RenderOptions& options = {});

/// The view of an answer that is shown in one way only.
struct PlainView {};

/// An answer in any format: the only way from what the library computed to what a tool prints. JSON is the
/// answer's document; the other formats draw its blocks, as the format shows them (CSV: one flat table; HTML:
/// with charts). A type is an answer when these two stand beside it:
///   Report describe(const Answer&, const View&, Format);
///   std::string to_json(const Answer&, const View&);
template <class Answer, class View>
requires requires(const Answer& answer, const View& view) {
    describe(answer, view, Format::text);
    to_json(answer, view);
}
std::string render(const Answer& answer, Format format, const View& view, const RenderOptions& options = {}) {
    return format == Format::json ? to_json(answer, view)
                                  : render(describe(answer, view, format), format, options);
}

} // namespace archsim
