// Terminal text:
//
//   ==============================================================================
//   MODEL ANALYSIS: ResNet-50
//   ==============================================================================
//
//   Model characteristics
//     Parameters:   25.6 M
//
//   Hardware comparison (sorted by latency)
//   ------------------------------------------------------------------------------
//   Hardware            Type    Latency   FPS ...      headings, units below
//   ------------------------------------------------------------------------------
//   H100                GPU        0.63  1587
//
// Long texts take several lines and columns of high `priority` number are dropped until a table fits the
// width.

#include "core/lists.hpp"
#include "report/render/renderers.hpp"

#include <algorithm>

namespace archsim {

namespace {

class TextRenderer {
  public:
    explicit TextRenderer(const RenderOptions& options)
        : options_(options), width_(static_cast<std::size_t>(std::max(options.width, 40))) {}

    std::string run(const Report& report) {
        for (std::size_t i = 0; i < report.blocks.size(); ++i) {
            const Facts* facts = std::get_if<Facts>(&report.blocks[i]);
            if (facts == nullptr) {
                std::visit([this](const auto& b) { draw(b); }, report.blocks[i]);
                continue;
            }
            Facts all = *facts; // what follows without a word between is one list, its values in one column
            while (i + 1 < report.blocks.size() && std::holds_alternative<Facts>(report.blocks[i + 1])) {
                const Facts& more = std::get<Facts>(report.blocks[++i]);
                append(all.items, more.items);
            }
            draw(all);
        }
        return std::move(out_);
    }

  private:
    void line(std::string_view text = {}) {
        out_ += text;
        while (out_.ends_with(' '))
            out_.pop_back();
        out_ += '\n';
    }
    void rule(char c) { line(std::string(width_, c)); }
    void gap() {
        if (!out_.empty() && !out_.ends_with("\n\n"))
            line();
    }

    std::string toned(const std::string& text, Tone tone) const {
        if (!options_.color || tone == Tone::plain)
            return text;
        const char* code = tone == Tone::good    ? "\033[32m"
                           : tone == Tone::bad   ? "\033[31m"
                           : tone == Tone::muted ? "\033[2m"
                                                 : "\033[1m";
        return code + text + "\033[0m";
    }

    void draw(const Heading& h) {
        gap();
        const char border = h.level == 1 ? '=' : '-';
        if (h.level <= 2)
            rule(border);
        for (const std::string& l : wrap(h.text, width_))
            line(toned(l, Tone::strong));
        if (h.level <= 2)
            rule(border);
        if (h.level == 1)
            line();
    }

    void draw(const Paragraph& p) {
        for (const std::string& l : wrap(p.text, width_))
            line(toned(l, p.tone));
    }

    void draw(const Bullets& b) {
        for (const std::string& item : b.items) {
            bool first = true;
            for (const std::string& l : wrap(item, width_ - 4)) {
                line((first ? (options_.unicode ? "  • " : "  * ") : "    ") + l);
                first = false;
            }
        }
    }

    void draw(const Takeaway& t) {
        Tone tone = Tone::strong;
        for (const std::string& text : t.lines) {
            for (const std::string& l : wrap(text, width_))
                line(toned(l, tone));
            tone = Tone::plain;
        }
        gap();
    }

    /// A long one is continued on the next line, as shells read it.
    void draw(const Command& c) {
        constexpr std::size_t kIndent = 4, kMark = 2; // " \\"
        std::string text(kIndent, ' ');
        std::size_t used = kIndent;
        for (const std::string& words : flags_apart(c.line)) {
            const bool first = used == kIndent;
            if (!first && used + 1 + display_width(words) + kMark > width_) {
                line(text + " \\");
                text = std::string(2 * kIndent, ' ') + words;
                used = 2 * kIndent + display_width(words);
                continue;
            }
            text += (first ? "" : " ") + words;
            used += (first ? 0 : 1) + display_width(words);
        }
        line(text);
    }

    /// "tool MODEL", "--flag A B", ...: where a command may break.
    static std::vector<std::string> flags_apart(std::string_view command) {
        std::vector<std::string> parts(1);
        bool quoted = false;
        for (std::size_t i = 0; i < command.size(); ++i) {
            quoted = quoted != (command[i] == '\'');
            if (!quoted && i > 0 && command.substr(i).starts_with(" --"))
                parts.emplace_back();
            else
                parts.back() += command[i];
        }
        return parts;
    }

    void draw(const Facts& facts) {
        std::size_t label = 0;
        for (const NamedValue& item : facts.items)
            if (!item.value.empty())
                label = std::max(label, display_width(item.name) + 2 * static_cast<std::size_t>(item.indent));
        for (const NamedValue& item : facts.items) {
            const std::string indent(2 + 2 * static_cast<std::size_t>(item.indent), ' ');
            if (item.value.empty()) {
                line(indent + item.name + ":");
                continue;
            }
            const std::string head =
                indent + pad(item.name + ":", label + 3 - 2 * static_cast<std::size_t>(item.indent), false);
            const auto lines = wrap(item.value, std::max<std::size_t>(width_ - display_width(head), 20));
            for (std::size_t i = 0; i < lines.size(); ++i)
                line((i == 0 ? head : std::string(display_width(head), ' ')) + lines[i]);
        }
    }

    void draw(const Chart& chart) {
        gap();
        out_ += draw_text_chart(chart, options_);
    }

    void draw(const Table& table) {
        const std::vector<PlacedColumn> columns = place_columns(table, width_);
        if (!table.title.empty()) {
            gap();
            for (const std::string& l : wrap(table.title, width_))
                line(toned(l, Tone::strong));
        }
        if (!out_.ends_with(std::string(width_, '-') + "\n"))
            rule('-'); // a heading right above has its own
        header(table, columns);
        rule('-');
        for (const auto& row : table.rows)
            draw(table, columns, row);
        if (const std::string names = left_out_columns(table, columns); !names.empty())
            for (const std::string& l : wrap(names, width_))
                line(toned(l, Tone::muted));
        for (const std::string& note : notes_of(table, columns))
            for (const std::string& l : wrap(note, width_))
                line(l);
    }

    /// A row takes as many lines as its longest text.
    void draw(const Table& table, const std::vector<PlacedColumn>& columns, const std::vector<Cell>& row) {
        std::vector<std::vector<std::string>> cells;
        std::size_t lines = 1;
        for (const PlacedColumn& column : columns) {
            cells.push_back(break_cell(row[column.index].text, column.width));
            lines = std::max(lines, cells.back().size());
        }
        for (std::size_t l = 0; l < lines; ++l) {
            std::string text;
            for (std::size_t c = 0; c < columns.size(); ++c) {
                const std::string part = l < cells[c].size() ? cells[c][l] : std::string();
                const bool right = table.columns[columns[c].index].align == Align::right;
                text += toned(pad(part, columns[c].width, right), row[columns[c].index].tone) + "  ";
            }
            line(text);
        }
    }

    void header(const Table& table, const std::vector<PlacedColumn>& columns) {
        std::string headings, units;
        for (const PlacedColumn& placed : columns) {
            const Column& column = table.columns[placed.index];
            const bool right = column.align == Align::right;
            headings += pad(column.heading, placed.width, right) + "  ";
            units += pad(column.unit.empty() ? "" : "(" + column.unit + ")", placed.width, right) + "  ";
        }
        line(headings);
        if (units.find('(') != std::string::npos)
            line(units);
    }

    const RenderOptions options_;
    const std::size_t width_;
    std::string out_;
};

} // namespace

std::string render_text(const Report& report, const RenderOptions& options) {
    std::string text = TextRenderer(options).run(report);
    return options.unicode ? text : to_ascii(text);
}

} // namespace archsim
