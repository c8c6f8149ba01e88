#include "archsim/core/finding.hpp"
#include "archsim/core/version.hpp"
#include "archsim/extend/renderer.hpp"
#include "core/text.hpp"
#include "report/render/answer_document.hpp"
#include "report/render/renderers.hpp"

#include <array>

namespace archsim {

/// In the order of Format.
constexpr std::array<std::string_view, 5> kExtensions = {".txt", ".md", ".json", ".csv", ".html"};

/// Tables without their columns for CSV, and with a sign for what is unknown.
static Report for_people(Report report) {
    for (Block& block : report.blocks)
        if (Table* table = std::get_if<Table>(&block)) {
            for (auto& row : table->rows)
                for (Cell& cell : row)
                    if (cell.text.empty() && !cell.value && cell.kind != CellKind::text)
                        cell.text = "-";
            for (std::size_t c = table->columns.size(); c-- > 0;) {
                if (!table->columns[c].heading.empty())
                    continue;
                const auto at = static_cast<std::ptrdiff_t>(c);
                table->columns.erase(table->columns.begin() + at);
                for (auto& row : table->rows)
                    row.erase(row.begin() + at);
            }
        }
    return report;
}

/// Every text of a report as it is shown: what a name holds is no colour of ours, and counts as wide as it
/// looks.
class Shown {
  public:
    Report operator()(Report report) const {
        for (Block& block : report.blocks)
            std::visit([](auto& held) { show(held); }, block);
        return report;
    }

  private:
    static constexpr std::size_t kLongestCommand = 1 << 17; ///< a part of one runs nothing
    static void show(std::string& text) { text = one_line(std::move(text)); }
    /// Formula, inputs and sources take several lines.
    static void show_lines(std::string& text) { text = printable(std::move(text)); }
    static void show(Cell& cell) {
        show(cell.text);
        show_lines(cell.detail);
    }
    static void show(Column& column) {
        show(column.heading);
        show(column.unit);
    }
    static void show(TableNote& note) { show(note.text); }
    static void show(NamedValue& item) {
        show(item.name);
        show(item.value);
        show_lines(item.detail);
    }
    static void show(ChartPoint& point) {
        show(point.label);
        show(point.hover);
    }
    static void show(ChartSeries& series) {
        show(series.name);
        show(series.points);
    }
    template <class Item>
    static void show(std::vector<Item>& items) {
        for (Item& item : items)
            show(item);
    }
    static void show(Heading& heading) { show(heading.text); }
    static void show(Paragraph& paragraph) { show(paragraph.text); }
    static void show(Facts& facts) { show(facts.items); }
    static void show(Bullets& bullets) { show(bullets.items); }
    static void show(Command& command) { command.line = one_line(std::move(command.line), kLongestCommand); }
    static void show(Takeaway& takeaway) { show(takeaway.lines); }
    static void show(Table& table) {
        show(table.title);
        show(table.columns);
        show(table.rows);
        show(table.notes);
    }
    static void show(Chart& chart) {
        show(chart.title);
        show(chart.x_title);
        show(chart.y_title);
        show(chart.series);
    }
};

std::optional<Format> format_of_file(std::string_view file) {
    for (std::size_t i = 0; i < kExtensions.size(); ++i)
        if (file.ends_with(kExtensions[i]))
            return static_cast<Format>(i);
    return std::nullopt;
}

std::string render(const Report& report, Format format, const RenderOptions& options) {
    switch (format) {
    case Format::text:
        return without_commands(printable(render_text(Shown()(for_people(report)), options),
                                          options.color ? Colours::kept : Colours::none));
    case Format::markdown:
        return without_commands(render_markdown(Shown()(for_people(report))));
    case Format::csv:
        return render_csv(report); // field by field
    case Format::html:
        return printable(render_html(for_people(report), options));
    case Format::json:
        break;
    }
    throw UsageError("a report has no generic JSON form; use the JSON function of its result");
}

std::string html_fragment(std::span<const Block> blocks, std::string_view name) {
    return render_html_body(for_people({"", {blocks.begin(), blocks.end()}}), name);
}

std::string json_text(const nlohmann::ordered_json& document) {
    constexpr int kIndent = 2;
    return printable_json(
        document.dump(kIndent, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

std::string document_text(const nlohmann::ordered_json& document) {
    return json_text(document) + "\n";
}

nlohmann::ordered_json any_of(const std::vector<nlohmann::ordered_json>& kinds) {
    nlohmann::ordered_json schema = {{"$schema", kinds.front()["$schema"]},
                                     {"$id", kinds.front()["$id"]},
                                     {"title", kinds.front()["title"]},
                                     {"type", "object"}};
    for (nlohmann::ordered_json kind : kinds) {
        for (const char* of_all : {"$schema", "$id", "title"})
            kind.erase(of_all);
        schema["anyOf"].push_back(std::move(kind));
    }
    return schema;
}

Members<std::vector<std::string>> lines_members() {
    return {{"lines", "the answer in sentences, as reports show it", std::identity{}}};
}

std::string document_text(const std::string& name, nlohmann::ordered_json members) {
    nlohmann::ordered_json document = {{"schema", "archsim." + name + "/1"}, {"version", version()}};
    document.update(members);
    return document_text(document);
}

nlohmann::ordered_json document_schema(const std::string& name, const std::string& title,
                                       nlohmann::ordered_json members) {
    const std::string id = "archsim." + name + "/1";
    nlohmann::ordered_json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                                     {"$id", id},
                                     {"title", name + ": " + title},
                                     {"type", "object"},
                                     {"required", {"schema", "version"}}};
    for (const nlohmann::ordered_json& key : members["required"])
        schema["required"].push_back(key);
    schema["properties"] = {
        {"schema", {{"const", id}}},
        {"version", {{"type", "string"}, {"description", "of the library that wrote the document"}}}};
    schema["properties"].update(members["properties"]);
    schema["additionalProperties"] = false;
    return schema;
}

} // namespace archsim
