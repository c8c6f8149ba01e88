// GitHub-flavoured Markdown: headings, bullet lists, pipe tables; a chart becomes a table of its points.

#include "report/blocks/cells.hpp"
#include "report/blocks/number_format.hpp"
#include "report/render/markdown_text.hpp"
#include "report/render/renderers.hpp"

namespace archsim {

namespace {

class MarkdownRenderer {
  public:
    std::string run(const Report& report) {
        for (const Block& block : report.blocks)
            std::visit([this](const auto& b) { draw(b); }, block);
        return std::move(out_);
    }

  private:
    void draw(const Heading& h) {
        out_ += std::string(static_cast<std::size_t>(h.level), '#') + " " + markdown_inline(h.text) + "\n\n";
    }
    void draw(const Paragraph& p) { out_ += markdown_line(p.text) + "\n\n"; }
    void draw(const Bullets& b) {
        for (const std::string& item : b.items)
            out_ += "- " + markdown_line(item) + "\n";
        out_ += "\n";
    }
    void draw(const Takeaway& t) {
        for (std::size_t i = 0; i < t.lines.size(); ++i) {
            const std::string text = i == 0 ? markdown_inline(t.lines[i]) : markdown_line(t.lines[i]);
            out_ += i == 0 ? "> **" + text + "**\n" : ">\n> " + text + "\n";
        }
        out_ += "\n";
    }
    void draw(const Command& c) {
        const std::string fence = markdown_fence(c.line);
        out_ += fence + "\n" + c.line + "\n" + fence + "\n\n";
    }
    void draw(const Facts& facts) {
        for (const NamedValue& item : facts.items)
            out_ += std::string(2 * static_cast<std::size_t>(item.indent), ' ') + "- **" +
                    markdown_inline(item.name) + ":** " + markdown_inline(item.value) + "\n";
        out_ += "\n";
    }
    void draw(const Table& table) {
        if (!table.title.empty())
            out_ += "**" + markdown_inline(table.title) + "**\n\n";
        std::string rule = "|";
        out_ += "|";
        for (const Column& column : table.columns) {
            out_ += " " + markdown_inline(column.heading) +
                    (column.unit.empty() ? "" : " (" + markdown_inline(column.unit) + ")") + " |";
            rule += column.align == Align::right ? "---:|" : "---|";
        }
        out_ += "\n" + rule + "\n";
        for (const auto& row : table.rows) {
            out_ += "|";
            for (const Cell& cell : row)
                out_ += " " + markdown_inline(cell.text) + " |";
            out_ += "\n";
        }
        out_ += "\n";
        for (const TableNote& note : table.notes)
            if (explains_any(note, table.columns))
                out_ += markdown_line(note.text) + "\n\n";
    }
    void draw(const Chart& chart) {
        if (chart.series.empty() && chart.y_title.empty()) { // drawn in a file of its own
            out_ += "![" + markdown_inline(chart.title) + "](" + markdown_target(chart.x_title) + ")\n\n";
            return;
        }
        Table table;
        table.title = chart.title;
        table.columns = {{"Series", "", "series"},
                         {"Point", "", "point"},
                         {chart.x_title, "", "x", Align::right},
                         {chart.y_title, "", "y", Align::right}};
        for (const ChartSeries& series : chart.series)
            for (const ChartPoint& point : series.points)
                table.rows.push_back(
                    {{series.name}, {point.label}, cell_in(1, point.x), cell_in(1, point.y)});
        draw(table);
    }

    std::string out_;
};

} // namespace

std::string render_markdown(const Report& report) {
    return MarkdownRenderer().run(report);
}

} // namespace archsim
