// GitHub-flavoured Markdown: headings, bullet lists, pipe tables; a chart becomes a table of its points.

#include "report/blocks/cells.hpp"
#include "report/blocks/number_format.hpp"
#include "report/render/renderers.hpp"

namespace archsim {

namespace {

std::string escape(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '|' || c == '<' || c == '*' || c == '_')
            out += '\\';
        out += c;
    }
    return out;
}

class MarkdownRenderer {
  public:
    std::string run(const Report& report) {
        for (const Block& block : report.blocks)
            std::visit([this](const auto& b) { draw(b); }, block);
        return std::move(out_);
    }

  private:
    void draw(const Heading& h) {
        out_ += std::string(static_cast<std::size_t>(h.level), '#') + " " + escape(h.text) + "\n\n";
    }
    void draw(const Paragraph& p) { out_ += escape(p.text) + "\n\n"; }
    void draw(const Bullets& b) {
        for (const std::string& item : b.items)
            out_ += "- " + escape(item) + "\n";
        out_ += "\n";
    }
    void draw(const Takeaway& t) {
        for (std::size_t i = 0; i < t.lines.size(); ++i) {
            const std::string text = escape(t.lines[i]);
            out_ += i == 0 ? "> **" + text + "**\n" : ">\n> " + text + "\n";
        }
        out_ += "\n";
    }
    void draw(const Command& c) { out_ += "```\n" + c.line + "\n```\n\n"; }
    void draw(const Facts& facts) {
        for (const NamedValue& item : facts.items)
            out_ += std::string(2 * static_cast<std::size_t>(item.indent), ' ') + "- **" + escape(item.name) +
                    ":** " + escape(item.value) + "\n";
        out_ += "\n";
    }
    void draw(const Table& table) {
        if (!table.title.empty())
            out_ += "**" + escape(table.title) + "**\n\n";
        std::string rule = "|";
        out_ += "|";
        for (const Column& column : table.columns) {
            out_ += " " + escape(column.heading) +
                    (column.unit.empty() ? "" : " (" + escape(column.unit) + ")") + " |";
            rule += column.align == Align::right ? "---:|" : "---|";
        }
        out_ += "\n" + rule + "\n";
        for (const auto& row : table.rows) {
            out_ += "|";
            for (const Cell& cell : row)
                out_ += " " + escape(cell.text) + " |";
            out_ += "\n";
        }
        out_ += "\n";
        for (const TableNote& note : table.notes)
            if (explains_any(note, table.columns))
                out_ += escape(note.text) + "\n\n";
    }
    void draw(const Chart& chart) {
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
