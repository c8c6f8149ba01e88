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
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

namespace archsim {

constexpr std::size_t kGap = 2;        ///< between columns
constexpr std::size_t kReadable = 36;  ///< a text is narrowed to this before a column is left out
constexpr std::size_t kNarrowest = 12; ///< and to this where nothing can be left out

static std::size_t heading_width(const Column& column) {
    const std::size_t unit = display_width(column.unit);
    return std::max(display_width(column.heading), unit == 0 ? 0 : unit + 2);
}

static std::size_t full_width(const Table& table, std::size_t column) {
    return peak_of(heading_width(table.columns[column]), table.rows,
                   [&](const auto& row) { return display_width(row[column].text); });
}

static std::size_t total_width(const std::vector<PlacedColumn>& placed) {
    const std::size_t sum = sum_of(placed, [](const PlacedColumn& column) { return column.width + kGap; });
    return placed.empty() ? 0 : sum - kGap;
}

static std::size_t longest_word(const Table& table, std::size_t column) {
    std::size_t longest = 0;
    for (const auto& row : table.rows) {
        std::string_view text = row[column].text;
        while (!text.empty()) {
            const std::size_t end = std::min(text.find(' '), text.size());
            longest = std::max(longest, display_width(text.substr(0, end)));
            text.remove_prefix(std::min(end + 1, text.size()));
        }
    }
    return longest;
}

/// Whether narrowing may take names apart, or breaks texts at their spaces alone.
enum class Names : std::uint8_t { whole, broken };

/// How narrow a column may become; numbers stay as they are.
static std::size_t floor_of(const Table& table, const PlacedColumn& placed, Names names) {
    const Column& column = table.columns[placed.index];
    if (column.align == Align::right)
        return placed.width;
    // About two lines at most, before a column is left out.
    const std::size_t least = names == Names::broken ? kNarrowest
                                                     : std::max({kReadable, longest_word(table, placed.index),
                                                                 3 * full_width(table, placed.index) / 5});
    return std::min(placed.width, std::max(least, heading_width(column)));
}

/// Takes what is too much from texts, always from the widest, so that long ones share the room.
static void narrow_texts(const Table& table, std::vector<PlacedColumn>& placed, std::size_t width,
                         Names names) {
    auto floors = mapped(placed, [&](const PlacedColumn& column) { return floor_of(table, column, names); });
    const std::size_t total = total_width(placed);
    for (std::size_t excess = total > width ? total - width : 0; excess > 0; --excess) {
        std::optional<std::size_t> widest;
        for (std::size_t c = 0; c < placed.size(); ++c)
            if (placed[c].width > floors[c] && (!widest || placed[c].width > placed[*widest].width))
                widest = c;
        if (!widest)
            return;
        --placed[*widest].width;
    }
}

/// Bytes of `text` that take at most `width` columns, and at least one character.
static std::size_t bytes_within(std::string_view text, std::size_t width) {
    std::size_t at = 0, columns = 0;
    while (at < text.size()) {
        std::size_t end = at + 1;
        while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
            ++end;
        if (columns++ == width)
            break;
        at = end;
    }
    return at;
}

/// Where a name breaks among its first `most` bytes: behind a slash, else a dash, else another joint, none of
/// them in the first half; else at the end.
static std::size_t joint_in(std::string_view name, std::size_t most) {
    for (const std::string_view joints : {"/", "-,", "_.:@"})
        if (const std::size_t at = name.substr(0, most).find_last_of(joints);
            at != std::string_view::npos && at >= most / 2)
            return at + 1;
    return most;
}

/// The notes that say something about the columns that are shown.
static std::vector<std::string> notes_of(const Table& table, const std::vector<PlacedColumn>& placed) {
    auto shown = mapped(placed, [&](const PlacedColumn& column) { return table.columns[column.index]; });
    return mapped(kept(table.notes, [&](const TableNote& note) { return explains_any(note, shown); }),
                  &TableNote::text);
}

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

std::size_t display_width(std::string_view text) {
    std::size_t width = 0;
    for (const char c : text)
        width += (static_cast<unsigned char>(c) & 0xC0) != 0x80; // continuation bytes take no column
    return width;
}

/// UTF-8 text in ASCII: signs that the reports use as their usual stand-ins ("u" for micro), the rest as "?".
static std::string to_ascii(std::string_view text) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kSigns = {{{"µ", "u"},
                                                                                              {"μ", "u"},
                                                                                              {"²", "2"},
                                                                                              {"×", "x"},
                                                                                              {"·", "."},
                                                                                              {"–", "-"},
                                                                                              {"—", "-"},
                                                                                              {"…", "."},
                                                                                              {"•", "*"},
                                                                                              {"→", ">"}}};
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        if ((static_cast<unsigned char>(text[i]) & 0x80) == 0) {
            out += text[i++];
            continue;
        }
        std::size_t end = i + 1;
        while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
            ++end;
        const auto sign = std::ranges::find_if(
            kSigns, [&](const auto& known) { return known.first == text.substr(i, end - i); });
        out += sign != kSigns.end() ? sign->second : std::string_view("?");
        i = end;
    }
    return out;
}

std::string pad(std::string_view text, std::size_t width, bool right) {
    const std::size_t own = display_width(text);
    const std::string space(own < width ? width - own : 0, ' ');
    return right ? space + std::string(text) : std::string(text) + space;
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
    std::vector<std::string> lines;
    std::string line;
    std::size_t begin = 0;
    while (begin < text.size()) {
        const std::size_t end = std::min(text.find(' ', begin), text.size());
        const std::string_view word = text.substr(begin, end - begin);
        if (!line.empty() && display_width(line) + 1 + display_width(word) > width) {
            lines.push_back(std::move(line));
            line.clear();
        }
        if (!line.empty())
            line += ' ';
        line += word;
        begin = end + 1;
    }
    if (!line.empty())
        lines.push_back(std::move(line));
    return lines;
}

std::vector<PlacedColumn> place_columns(const Table& table, std::size_t width) {
    std::vector<PlacedColumn> placed;
    for (std::size_t c = 0; c < table.columns.size(); ++c)
        placed.push_back({c, full_width(table, c)});
    const auto full = placed;
    for (;;) {
        narrow_texts(table, placed, width, Names::whole);
        if (total_width(placed) <= width)
            return placed;
        const auto drop = std::ranges::max_element(placed, [&](const PlacedColumn& a, const PlacedColumn& b) {
            return table.columns[a.index].priority < table.columns[b.index].priority;
        });
        if (drop == placed.end() || table.columns[drop->index].priority == 0)
            break;
        // With its neighbours of the same heading, which only make sense beside it ("Bound by").
        const Column gone = table.columns[drop->index];
        const auto belongs = [&](std::size_t c) {
            return table.columns[c].priority == gone.priority && table.columns[c].heading == gone.heading;
        };
        std::size_t first = drop->index, last = drop->index;
        while (first > 0 && belongs(first - 1))
            --first;
        while (last + 1 < table.columns.size() && belongs(last + 1))
            ++last;
        std::erase_if(placed, [&](const PlacedColumn& p) { return p.index >= first && p.index <= last; });
        for (PlacedColumn& column : placed)
            column.width = full[column.index].width; // what the column left may widen the texts again
    }
    narrow_texts(table, placed, width, Names::broken);
    return placed;
}

std::vector<std::string> break_cell(const std::string& text, std::size_t width) {
    if (display_width(text) <= width)
        return {text};
    std::vector<std::string> lines;
    for (const std::string& line : wrap(text, width)) {
        std::string_view rest = line;
        for (std::size_t most = 0; (most = bytes_within(rest, width)) < rest.size();) {
            const std::size_t end = joint_in(rest, most);
            lines.emplace_back(rest.substr(0, end));
            rest.remove_prefix(end);
        }
        lines.emplace_back(rest);
    }
    return lines;
}

std::string left_out_columns(const Table& table, const std::vector<PlacedColumn>& placed) {
    const auto is_placed = [&](std::size_t c) {
        return std::ranges::any_of(placed, [c](const PlacedColumn& p) { return p.index == c; });
    };
    std::string names;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const Column& column = table.columns[c];
        if (is_placed(c))
            continue;
        const auto same = std::ranges::count(table.columns, column.heading, &Column::heading);
        names += (names.empty() ? "" : ", ") + column.heading;
        if (same > 1 && !column.unit.empty())
            names += " (" + column.unit + ")";
    }
    return names.empty() ? names : "(not shown at this width: " + names + ")";
}

bool explains_any(const TableNote& note, const std::vector<Column>& columns) {
    return note.column.empty() ||
           std::ranges::any_of(columns, [&](const Column& column) { return column.key == note.column; });
}

std::string render_text(const Report& report, const RenderOptions& options) {
    std::string text = TextRenderer(options).run(report);
    return options.unicode ? text : to_ascii(text);
}

} // namespace archsim
