// One self-contained HTML file: headings, facts, tables that sort on a click of their heading. Opens offline,
// follows the reader's light or dark setting, prints on paper.

#include "report/number_format.hpp"
#include "report/renderers.hpp"

#include <fmt/format.h>

namespace archsim {

namespace {

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --line: #8888; --muted: #777; --good: #0072b2; --bad: #d55e00; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th button { font: inherit; font-weight: 600; background: none; border: 0; padding: 0; cursor: pointer; color: inherit; }
.right { text-align: right; font-variant-numeric: tabular-nums; }
.good { color: var(--good); font-weight: 600; } .bad { color: var(--bad); } .muted { color: var(--muted); }
.strong { font-weight: 600; } code { background: #8882; padding: .1rem .3rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; } dt { color: var(--muted); } dd { margin: 0; }
@media print { body { max-width: none; } th button { cursor: auto; } }
)";

constexpr std::string_view kScript = R"(
document.querySelectorAll('th button').forEach(button => button.addEventListener('click', () => {
  const head = button.parentElement, table = head.closest('table'), body = table.tBodies[0];
  const index = [...head.parentElement.children].indexOf(head);
  const down = head.getAttribute('aria-sort') === 'ascending';
  table.querySelectorAll('th').forEach(other => other.removeAttribute('aria-sort'));
  head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
  const key = row => { const cell = row.children[index]; const v = cell.dataset.value;
    return v === undefined ? cell.textContent : Number(v); };
  [...body.rows].sort((a, b) => { const x = key(a), y = key(b);
    const order = typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y));
    return down ? -order : order; }).forEach(row => body.append(row));
}));
)";

std::string escape(std::string_view text) {
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

std::string_view class_of(Tone tone) {
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

class HtmlRenderer {
  public:
    std::string run(const Report& report) {
        out_ = fmt::format("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                           "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n",
                           escape(report.title), kStyle);
        for (const Block& block : report.blocks)
            std::visit([this](const auto& b) { draw(b); }, block);
        out_ += fmt::format("</main>\n<script>{}</script>\n</body>\n</html>\n", kScript);
        return std::move(out_);
    }

  private:
    void draw(const Heading& h) { out_ += fmt::format("<h{0}>{1}</h{0}>\n", h.level, escape(h.text)); }
    void draw(const Paragraph& p) {
        out_ += fmt::format("<p class=\"{}\">{}</p>\n", class_of(p.tone), escape(p.text));
    }
    void draw(const Bullets& b) {
        out_ += "<ul>\n";
        for (const std::string& item : b.items)
            out_ += "<li>" + escape(item) + "</li>\n";
        out_ += "</ul>\n";
    }
    void draw(const Command& c) { out_ += "<p><code>" + escape(c.line) + "</code></p>\n"; }
    void draw(const Facts& facts) {
        out_ += "<dl>\n";
        for (const NamedValue& item : facts.items)
            out_ += fmt::format("<dt style=\"padding-left:{}rem\">{}</dt><dd>{}</dd>\n", item.indent,
                                escape(item.name), escape(item.value));
        out_ += "</dl>\n";
    }
    void draw(const Table& table) {
        out_ += "<table>\n<caption>" + escape(table.title) + "</caption>\n<thead><tr>";
        for (const Column& column : table.columns)
            out_ +=
                fmt::format("<th scope=\"col\"{}><button>{}{}</button></th>",
                            column.align == Align::right ? " class=\"right\"" : "", escape(column.heading),
                            column.unit.empty() ? "" : " (" + escape(column.unit) + ")");
        out_ += "</tr></thead>\n<tbody>\n";
        for (const auto& row : table.rows) {
            out_ += "<tr>";
            for (std::size_t c = 0; c < row.size(); ++c) {
                const bool right = table.columns[c].align == Align::right;
                out_ +=
                    fmt::format("<td class=\"{}{}\"{}>{}</td>", right ? "right " : "", class_of(row[c].tone),
                                row[c].value ? fmt::format(" data-value=\"{}\"", *row[c].value) : "",
                                escape(row[c].text));
            }
            out_ += "</tr>\n";
        }
        out_ += "</tbody>\n</table>\n";
        for (const std::string& note : table.notes)
            out_ += "<p class=\"muted\">" + escape(note) + "</p>\n";
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
                table.rows.push_back({{series.name},
                                      {point.label},
                                      {format_number(point.x), point.x},
                                      {format_number(point.y), point.y}});
        draw(table);
    }

    std::string out_;
};

} // namespace

std::string render_html(const Report& report) {
    return HtmlRenderer().run(report);
}

} // namespace archsim
