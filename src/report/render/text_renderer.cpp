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
// Columns of high `priority` number are dropped until a table fits the width.

#include "report/render/renderers.hpp"
#include "report/render/text_charts.hpp"
#include "report/render/text_width.hpp"

#include <algorithm>

namespace archsim {

namespace {

class TextRenderer {
  public:
    explicit TextRenderer(const RenderOptions& options)
        : options_(options), width_(static_cast<std::size_t>(std::max(options.width, 40))) {}

    std::string run(const Report& report) {
        for (const Block& block : report.blocks)
            std::visit([this](const auto& b) { draw(b); }, block);
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
        if (h.level == 1) {
            rule('=');
            line(toned(h.text, Tone::strong));
            rule('=');
            line();
        } else if (h.level == 2) {
            rule('-');
            line(toned(h.text, Tone::strong));
            rule('-');
        } else {
            line(toned(h.text, Tone::strong));
        }
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

    void draw(const Command& c) { line("    " + c.line); }

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
        std::vector<std::size_t> columns, widths(table.columns.size());
        for (std::size_t c = 0; c < table.columns.size(); ++c) {
            columns.push_back(c);
            const std::size_t unit = display_width(table.columns[c].unit);
            widths[c] = std::max(display_width(table.columns[c].heading), unit == 0 ? 0 : unit + 2);
            for (const auto& row : table.rows)
                widths[c] = std::max(widths[c], display_width(row[c].text));
        }
        const auto total = [&] {
            std::size_t sum = 0;
            for (std::size_t c : columns)
                sum += widths[c] + 2;
            return sum - 2;
        };
        while (total() > width_) {
            const auto drop =
                std::max_element(columns.begin(), columns.end(), [&](std::size_t a, std::size_t b) {
                    return table.columns[a].priority < table.columns[b].priority;
                });
            if (drop == columns.end() || table.columns[*drop].priority == 0)
                break;
            columns.erase(drop);
        }
        if (!table.title.empty()) {
            gap();
            line(toned(table.title, Tone::strong));
        }
        rule('-');
        header(table, columns, widths);
        rule('-');
        for (const auto& row : table.rows) {
            std::string text;
            for (std::size_t c : columns)
                text +=
                    toned(pad(row[c].text, widths[c], table.columns[c].align == Align::right), row[c].tone) +
                    "  ";
            line(text);
        }
        if (columns.size() < table.columns.size())
            line(toned(dropped(table, columns), Tone::muted));
        for (const std::string& note : table.notes)
            for (const std::string& l : wrap(note, width_))
                line(l);
    }

    void header(const Table& table, const std::vector<std::size_t>& columns,
                const std::vector<std::size_t>& widths) {
        std::string headings, units;
        for (std::size_t c : columns) {
            const bool right = table.columns[c].align == Align::right;
            headings += pad(table.columns[c].heading, widths[c], right) + "  ";
            units += pad(table.columns[c].unit.empty() ? "" : "(" + table.columns[c].unit + ")", widths[c],
                         right) +
                     "  ";
        }
        line(headings);
        if (units.find('(') != std::string::npos)
            line(units);
    }

    static std::string dropped(const Table& table, const std::vector<std::size_t>& shown) {
        std::string names;
        for (std::size_t c = 0; c < table.columns.size(); ++c)
            if (std::find(shown.begin(), shown.end(), c) == shown.end())
                names += (names.empty() ? "" : ", ") + table.columns[c].heading;
        return "(not shown at this width: " + names + ")";
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
