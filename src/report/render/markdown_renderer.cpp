// GitHub-flavoured Markdown: headings, bullet lists, pipe tables; a chart becomes a table of its points.

#include "report/blocks/columns.hpp"
#include "report/render/renderers.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace archsim {

static bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// "@name" after something that is no word notifies somebody, "name@host.tld" is a link to write to.
static bool is_mention(std::string_view text, std::size_t at) {
    const auto name = text.substr(at + 1);
    if (name.empty() || !is_word(name.front()))
        return false;
    if (at == 0 || !is_word(text[at - 1]))
        return true;
    const auto end = std::ranges::find_if(name, [](char c) { return !is_word(c) && c != '-'; });
    return end != name.end() && *end == '.' && end + 1 != name.end() && is_word(end[1]);
}

/// Whether GitHub makes a link of what begins here: "www.", or "://" behind a scheme.
static bool is_bare_link(std::string_view text, std::size_t at) {
    if (text[at] == ':')
        return text.substr(at).starts_with("://") ||
               (at > 0 && is_word(text[at - 1]) && at + 1 < text.size() &&
                text.substr(0, at).ends_with("mailto"));
    if (text[at] != '.' || at < 3)
        return false;
    return std::ranges::all_of(text.substr(at - 3, 3), [](char c) { return c == 'w' || c == 'W'; });
}

/// "12. " and "12) " are lists.
static std::size_t number_before_list(std::string_view text) {
    const std::size_t digits = text.find_first_not_of("0123456789");
    const bool is_list = digits != std::string_view::npos && digits > 0 &&
                         (text[digits] == '.' || text[digits] == ')') &&
                         (digits + 1 == text.size() || text[digits + 1] == ' ');
    return is_list ? digits : 0;
}

/// As markdown_line(), within a line: there is no second one.
static std::string markdown_inline(std::string_view text) {
    constexpr std::string_view kSpecial = "\\`*_[]<>|~&$#";
    constexpr std::string_view kNoMention = "&#8288;"; // a word joiner: no width, no break
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (c == '\n' || c == '\t' || c == '\r') {
            out += ' ';
            continue;
        }
        const bool calls = c == '&'   ? at + 1 < text.size() && text[at + 1] != ' '
                           : c == '>' ? false // closes nothing where no '<' is left open
                                      : kSpecial.find(c) != std::string_view::npos;
        if (calls || ((c == ':' || c == '.') && is_bare_link(text, at)))
            out += '\\';
        out += c;
        if (c == '@' && is_mention(text, at))
            out += kNoMention;
    }
    return out;
}

static std::string markdown_target(std::string_view file) {
    const auto is_plain = [](char c) { return is_word(c) || c == '.' || c == '/' || c == '-'; };
    if (std::ranges::all_of(file, is_plain))
        return std::string(file);
    std::string out = "<";
    for (const char c : file) {
        if (c == '<' || c == '>' || c == '\\')
            out += '\\';
        out += c == '\n' ? ' ' : c;
    }
    return out + ">";
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

std::string markdown_line(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size())); // four are code
    std::string out = markdown_inline(text);
    if (out.empty())
        return out;
    const char first = text.front();
    const bool is_marker =
        (first == '-' || first == '+') &&
        (text.size() == 1 || text[1] == ' ' || text[1] == '\t' || text[1] == '\n' || text[1] == first);
    if (is_marker || first == '>' || first == '=')
        out.insert(0, "\\");
    else if (const std::size_t digits = number_before_list(text); digits > 0)
        out.insert(digits, "\\");
    return out;
}

std::string markdown_fence(std::string_view text) {
    std::size_t longest = 0, run = 0;
    for (const char c : text) {
        run = c == '`' ? run + 1 : 0;
        longest = std::max(longest, run);
    }
    return std::string(std::max<std::size_t>(3, longest + 1), '`');
}

std::string render_markdown(const Report& report) {
    return MarkdownRenderer().run(report);
}

} // namespace archsim
