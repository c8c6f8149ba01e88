// One self-contained HTML file: headings, facts, tables that sort and filter, charts, the sources of numbers
// on request. Opens offline, follows the reader's light or dark setting, prints on paper, works from the
// keyboard.

#include "archsim/core/version.hpp"
#include "report/render/renderers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace archsim {

std::string html_escaped(std::string_view text) {
    std::string out;
    for (const char c : text)
        switch (c) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '"':
            out += "&quot;";
            break;
        default:
            out += c;
        }
    return out;
}

constexpr std::size_t kFilterFrom = 6; ///< rows from which a table gets a filter
constexpr std::size_t kLongText = 48;  ///< characters from which a cell may break into lines

static std::string_view class_of(Tone tone) {
    switch (tone) {
    case Tone::good:
        return "good";
    case Tone::bad:
        return "bad";
    case Tone::muted:
        return "muted";
    case Tone::strong:
        return "strong";
    case Tone::plain:
        break;
    }
    return "";
}

/// Where a flag that begins at `at` ends, with its value where brackets hold nothing else: "(--batch-size
/// 8)".
static std::size_t end_of_flag(std::string_view text, std::size_t at) {
    const std::size_t end =
        std::min(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-", at), text.size());
    const std::size_t close = at > 0 && text[at - 1] == '(' ? text.find(')', end) : std::string_view::npos;
    if (close == std::string_view::npos || close == end)
        return end;
    const std::string_view value = text.substr(end, close - end);
    return value[0] == ' ' && value.find_first_of(" ,;:", 1) == std::string_view::npos ? close : end;
}

/// Text in which flags ("--batch-size") are code, which lines do not break.
static std::string with_flags(std::string_view text) {
    std::string out;
    std::size_t plain = 0;
    for (std::size_t at = text.find("--"); at != std::string_view::npos; at = text.find("--", at + 2)) {
        const std::size_t end = end_of_flag(text, at);
        const bool begins = at == 0 || text[at - 1] == ' ' || text[at - 1] == '(';
        if (!begins || end < at + 3 || text[at + 2] == '-')
            continue;
        out += html_escaped(text.substr(plain, at - plain));
        out += "<code>" + html_escaped(text.substr(at, end - at)) + "</code>";
        plain = end;
    }
    return out + html_escaped(text.substr(plain));
}

/// "90 %" stays on one line.
static std::string unbroken(std::string text) {
    for (std::size_t at = text.find(" %"); at != std::string::npos; at = text.find(" %", at))
        text.replace(at, 1, "\u00a0");
    return text;
}

/// A button that shows the detail, or the text alone.
static std::string with_detail(const std::string& text, const std::string& detail) {
    if (detail.empty())
        return html_escaped(text);
    return fmt::format("<button type=\"button\" data-detail=\"{}\">{}</button>", html_escaped(detail),
                       html_escaped(text));
}

/// Where the bars of a column's intervals begin and end, on a logarithmic scale.
class BarScale {
  public:
    BarScale(const Table& table, std::size_t column) {
        for (const auto& row : table.rows)
            if (column < row.size() && drawn(row[column])) {
                low_ = std::min(low_, std::log(row[column].interval->low));
                high_ = std::max(high_, std::log(row[column].interval->high));
            }
    }

    /// Style of a cell: places in percent of its width; empty where there is nothing to draw.
    std::string style_of(const Cell& cell) const {
        if (!drawn(cell) || !(high_ > low_))
            return "";
        const auto at = [this](double value) { return 100 * (std::log(value) - low_) / (high_ - low_); };
        return fmt::format(" style=\"--low:{:.1f}%;--at:{:.1f}%;--high:{:.1f}%\"", at(cell.interval->low),
                           at(cell.interval->value), at(cell.interval->high));
    }

  private:
    static bool drawn(const Cell& cell) {
        return cell.interval && cell.interval->low > 0 && std::isfinite(cell.interval->high);
    }

    double low_ = std::numeric_limits<double>::infinity(), high_ = -low_;
};

class HtmlRenderer {
  public:
    explicit HtmlRenderer(std::string_view name) : name_(name) {}

    std::string body(const Report& report) {
        for (const Block& block : report.blocks)
            std::visit([this](const auto& b) { draw(b); }, block);
        return body_;
    }

    std::string page(const Report& report, const RenderOptions& options) {
        body(report);
        std::string page =
            fmt::format("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                        "<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n<main class=\"report\">\n",
                        html_escaped(report.title), report_style());
        if (listed_ >= kWorthContents)
            page += "<nav aria-label=\"Contents\"><ul>\n" + contents_ + "</ul></nav>\n";
        page += body_;
        page += foot(options);
        page += "</main>\n<dialog id=\"detail\"><h3></h3><p></p><form "
                "method=\"dialog\"><button>Close</button></form></dialog>\n";
        if (charts_)
            page.append("<script>").append(chart_library()).append("</script>\n");
        page.append("<script>\n").append(report_script()).append("</script>\n</body>\n</html>\n");
        return page;
    }

  private:
    void draw(const Heading& h) {
        const std::string id = fmt::format("{}-h{}", name_, ++headings_);
        // Looks of its own level; who listens is told of none that is left out.
        told_ = std::min(h.level, told_ + 1);
        body_ += fmt::format("<h{0} id=\"{2}\"{3}>{1}</h{0}>\n", h.level, html_escaped(h.text), id,
                             told_ < h.level ? fmt::format(" aria-level=\"{}\"", told_) : std::string());
        if (h.level <= kListedHeading && headings_ > 1) // the title needs no link
            contents_ += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", id, html_escaped(h.text));
        listed_ += h.level <= kListedHeading && headings_ > 1 ? 1U : 0U;
    }
    void draw(const Paragraph& p) {
        body_ += fmt::format("<p class=\"{}\">{}</p>\n", class_of(p.tone), with_flags(p.text));
    }
    void draw(const Bullets& b) {
        body_ += "<ul>\n";
        for (const std::string& item : b.items)
            body_ += "<li>" + with_flags(item) + "</li>\n";
        body_ += "</ul>\n";
    }
    void draw(const Takeaway& t) {
        body_ += "<section class=\"takeaway\">\n";
        for (std::size_t i = 0; i < t.lines.size(); ++i)
            body_ += fmt::format("<p{}>{}</p>\n", i == 0 ? " class=\"answer\"" : "", with_flags(t.lines[i]));
        body_ += "</section>\n";
    }
    void draw(const Command& c) { body_ += command(c.line); }
    void draw(const Facts& facts) {
        body_ += "<dl>\n";
        for (const NamedValue& item : facts.items)
            body_ += fmt::format("<dt style=\"padding-left:{}rem\">{}</dt><dd>{}</dd>\n", item.indent,
                                 html_escaped(item.name), with_detail(item.value, item.detail));
        body_ += "</dl>\n";
    }

    void draw(const Table& table) {
        const std::string id = fmt::format("{}-{}", name_, ++tables_);
        if (table.rows.size() >= kFilterFrom)
            body_ += fmt::format(
                "<p><input class=\"filter\" type=\"search\" aria-controls=\"{}\" aria-label=\"Filter "
                "rows\" placeholder=\"Filter: text, or column&lt;number\"><span class=\"count\" "
                "aria-live=\"polite\"></span></p>\n",
                id);
        body_ += fmt::format(
            "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"{}\"><table id=\"{}\">\n"
            "{}<thead><tr>",
            html_escaped(table.title.empty() ? "Table" : table.title), id,
            table.title.empty()
                ? std::string()
                : fmt::format("<caption><span>{}</span></caption>\n", html_escaped(table.title)));
        for (const Column& column : table.columns)
            body_ += fmt::format("<th scope=\"col\"{}{}{}><button type=\"button\">{}{}</button></th>",
                                 column.align == Align::right ? " class=\"right\"" : "",
                                 column.key == "hardware" ? " data-devices" : "", // see report.js
                                 column.priority > 0 ? fmt::format(" data-priority=\"{}\"", column.priority)
                                                     : std::string(),
                                 html_escaped(column.heading),
                                 column.unit.empty() ? "" : " (" + unbroken(html_escaped(column.unit)) + ")");
        body_ += "</tr></thead>\n<tbody>\n";
        std::vector<BarScale> bars;
        for (std::size_t c = 0; c < table.columns.size(); ++c)
            bars.emplace_back(table, c);
        for (const auto& row : table.rows) {
            body_ += "<tr>";
            for (std::size_t c = 0; c < row.size(); ++c)
                body_ += cell(row[c], table.columns[c].align == Align::right, bars[c].style_of(row[c]));
            body_ += "</tr>\n";
        }
        body_ += "</tbody>\n</table></div>\n";
        for (const TableNote& note : table.notes)
            if (explains_any(note, table.columns))
                body_ += "<p class=\"muted note\">" + html_escaped(note.text) + "</p>\n";
    }

    /// "  ---|": characters that only say something under each other.
    static bool is_drawing(std::string_view text) {
        return text.find('|') != std::string_view::npos &&
               text.find_first_not_of(" |+-") == std::string_view::npos;
    }

    /// The same as a bar of the page: to the left of its middle for '-', to the right for '+'.
    static std::string drawing(const Cell& cell) {
        const auto count = [&](char c) { return std::ranges::count(cell.text, c); };
        const auto less = count('-'), more = count('+');
        return fmt::format(
            "<td class=\"drawing\" style=\"--less:{};--more:{}\"{}><span class=\"said\">{}</span></td>", less,
            more, cell.value ? fmt::format(" data-value=\"{}\"", *cell.value) : "",
            less > 0   ? "less"
            : more > 0 ? "more"
                       : "hardly any");
    }

    /// "/model/layers.0/mlp/down_proj/MatMul": one word that is long.
    static bool is_path(std::string_view text) {
        return text.size() > kLongText / 2 && text.find(' ') == std::string_view::npos;
    }

    /// Words that may stand below each other where there is no room.
    static bool is_text(std::string_view text) {
        constexpr std::size_t kShort = 12;
        return text.size() > kShort && text.find(' ') != std::string_view::npos;
    }

    /// Places behind slashes where a line may end, in escaped text.
    static std::string with_joints(const std::string& text) {
        std::string out;
        for (const char c : text) {
            out += c;
            if (c == '/')
                out += "<wbr>";
        }
        return out;
    }

    static std::string cell(const Cell& cell, bool right, const std::string& bar) {
        if (is_drawing(cell.text))
            return drawing(cell);
        std::string classes = right                          ? "right"
                              : is_path(cell.text)           ? "path"
                              : cell.text.size() > kLongText ? "long"
                              : is_text(cell.text)           ? "text"
                                                             : "";
        const auto add = [&](std::string_view name) {
            classes += (classes.empty() || name.empty() ? "" : " ") + std::string(name);
        };
        add(class_of(cell.tone));
        add(bar.empty() ? "" : "interval");
        std::string text = with_detail(cell.text, cell.detail);
        if (classes.starts_with("path") && cell.detail.empty())
            text = with_joints(text);
        return fmt::format("<td{}{}{}>{}</td>", classes.empty() ? "" : fmt::format(" class=\"{}\"", classes),
                           cell.value ? fmt::format(" data-value=\"{}\"", *cell.value) : "", bar, text);
    }

    void draw(const Chart& chart) {
        charts_ = charts_ || chart.kind != ChartKind::heat_map;
        body_ += html_chart(chart);
    }

    /// A line to paste, with a button that copies it.
    static std::string command(const std::string& line) {
        return fmt::format("<p class=\"command\"><code>{}</code> <button type=\"button\" "
                           "class=\"copy\">Copy</button></p>\n",
                           html_escaped(line));
    }

    static std::string foot(const RenderOptions& options) {
        std::string out = "<footer>\n";
        if (!options.command.empty())
            out += command(options.command);
        out += fmt::format("<p class=\"muted\">libarchsim {}{}: estimates from counts and published figures, "
                           "nothing was run.</p>\n</footer>\n",
                           version(), options.date.empty() ? "" : ", " + html_escaped(options.date));
        return out;
    }

    static constexpr int kListedHeading = 2;         ///< headings up to this level are in the contents
    static constexpr std::size_t kWorthContents = 2; ///< fewer sections need none
    std::string contents_;
    std::size_t headings_ = 0, listed_ = 0;
    int told_ = 0;          ///< level of the last heading for those who listen
    std::string_view name_; ///< begins the identifiers of tables and headings
    std::string body_;
    std::size_t tables_ = 0;
    bool charts_ = false; ///< the library is left out where nothing needs it
};

std::string render_html(const Report& report, const RenderOptions& options) {
    return HtmlRenderer("table").page(report, options);
}

std::string render_html_body(const Report& report, std::string_view name) {
    return HtmlRenderer(name).body(report);
}

} // namespace archsim
