#include "archsim/report/model_classes_report.hpp"

#include "archsim/compare/ties.hpp"
#include "archsim/core/version.hpp"
#include "report/blocks/architecture_differences.hpp"
#include "report/blocks/columns.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/result_text.hpp"
#include "report/render/json_document.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace archsim {

namespace {

using Json = nlohmann::ordered_json;

/// How many times better than the baseline an architecture is on a class.
std::optional<double> times_better(const ModelClassComparison& c, const ModelClassRow& row, std::size_t i,
                                   const Metric& metric) {
    const auto own = value_of(row.results[i], metric), base = value_of(row.results[c.baseline], metric);
    if (!own || !base || *own <= 0 || *base <= 0)
        return std::nullopt;
    return metric.better == Better::lower ? *base / *own : *own / *base;
}

bool overlaps_baseline(const ModelClassComparison& c, const ModelClassRow& row, std::size_t i,
                       const Metric& metric) {
    const auto own = measure_of(row.results[i], metric), base = measure_of(row.results[c.baseline], metric);
    return i != c.baseline && own && base &&
           tied(metric, row.results[i], *own, row.results[c.baseline], *base);
}

Cell times_cell(const ModelClassComparison& c, const ModelClassRow& row, std::size_t i,
                const Metric& metric) {
    const auto times = times_better(c, row, i, metric);
    if (!times)
        return {
            row.results[i].ok() ? "-" : std::string(status_text(row.results[i].estimate)), {}, Tone::muted};
    const Tone tone = *times > 1 ? Tone::good : *times < 1 ? Tone::bad : Tone::plain;
    return {fmt::format("{}{}", format_ratio(*times), overlaps_baseline(c, row, i, metric) ? " =" : ""),
            *times, tone};
}

std::string titles_of(const ModelClassComparison& c, const std::vector<std::size_t>& rows) {
    std::vector<std::string_view> titles;
    for (const std::size_t r : rows)
        titles.push_back(c.rows[r].what.title);
    return titles.empty() ? "none of these classes" : fmt::format("{}", fmt::join(titles, ", "));
}

/// "TPU on 8 of 13 classes, GPU on 5": who leads how often, most often first.
std::string leaders_text(const ModelClassComparison& c,
                         std::vector<std::size_t> ArchitectureProfile::*leads) {
    std::vector<std::size_t> order(c.labels.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto count = [&](std::size_t i) { return (c.profiles[i].*leads).size(); };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return count(a) > count(b); });
    std::string text;
    for (const std::size_t i : order)
        if (count(i) > 0)
            text += text.empty() ? fmt::format("{} on {} of {} classes", c.labels[i], count(i), c.rows.size())
                                 : fmt::format(", {} on {}", c.labels[i], count(i));
    return text.empty() ? "none" : text;
}

/// Who is fastest and most frugal how often, and who does not run everything.
std::vector<std::string> class_lines(const ModelClassComparison& c) {
    std::vector<std::string> lines = {fmt::format("Fastest: {}. Least energy: {}.",
                                                  leaders_text(c, &ArchitectureProfile::best_for),
                                                  leaders_text(c, &ArchitectureProfile::frugal_for))};
    for (std::size_t i = 0; i < c.labels.size(); ++i)
        if (!c.profiles[i].unable.empty())
            lines.push_back(
                fmt::format("{} has no estimate for {}.", c.labels[i], titles_of(c, c.profiles[i].unable)));
    return lines;
}

Table times_table(const ModelClassComparison& c, const Metric& metric, const char* words) {
    Table table;
    table.title = fmt::format("Times {} {}, by model class", words, c.labels[c.baseline]);
    table.columns = {{"Model class", "", "class"}, {"Model", "", "model", Align::left, 1}};
    for (const std::string& label : c.labels)
        table.columns.push_back({label, "", label, Align::right});
    for (const ModelClassRow& row : c.rows) {
        std::vector<Cell> cells{{std::string(row.what.title)}, {std::string(row.what.model)}};
        for (std::size_t i = 0; i < c.labels.size(); ++i)
            cells.push_back(times_cell(c, row, i, metric));
        table.rows.push_back(std::move(cells));
    }
    const bool marked = std::any_of(c.rows.begin(), c.rows.end(), [&](const ModelClassRow& row) {
        for (std::size_t i = 0; i < c.labels.size(); ++i)
            if (overlaps_baseline(c, row, i, metric))
                return true;
        return false;
    });
    if (marked)
        table.notes.push_back("=: the better of the two leads by odds of less than 3 to 1");
    return table;
}

Chart times_chart(const ModelClassComparison& c) {
    Chart chart;
    chart.kind = ChartKind::heat_map;
    chart.title = fmt::format("Times faster than {}", c.labels[c.baseline]);
    chart.x_title = "model class";
    chart.y_title = "times faster";
    chart.y_log = true;
    for (std::size_t i = 0; i < c.labels.size(); ++i) {
        ChartSeries series{c.labels[i], {}};
        for (const ModelClassRow& row : c.rows)
            if (const auto times = times_better(c, row, i, metric::latency))
                series.points.push_back(
                    {std::string(row.what.title), 0, *times, {}, {}, format_ratio(*times)});
        if (!series.points.empty())
            chart.series.push_back(std::move(series));
    }
    return chart;
}

std::string quantity_words(const Metric& metric, bool better) {
    if (metric == metric::latency)
        return better ? "faster than" : "slower than";
    return better ? "less energy per inference than" : "more energy per inference than";
}

/// One claim with the comparison that shows it.
std::string claim_text(const ModelClassComparison& c, std::size_t self, const ClassClaim& claim) {
    const ModelClassRow& row = c.rows[claim.row];
    const Metric& metric = *claim.metric;
    const std::string own = format_value(metric, *value_of(row.results[self], metric));
    if (!claim.other)
        return fmt::format("gains from batches: {} throughput at batch {} on {} ({} against {})",
                           format_ratio(claim.ratio), c.request.larger_batch, row.what.model,
                           format_value(metric, *value_of(row.batched[self], metric)), own);
    const std::string theirs = format_value(metric, *value_of(row.results[*claim.other], metric));
    return fmt::format("{}: {} {} {} ({}: {} against {})", row.what.title, format_ratio(claim.ratio),
                       quantity_words(metric, claim.better), c.labels[*claim.other], row.what.model, own,
                       theirs);
}

void add_profile(const ModelClassComparison& c, std::size_t i, Report& report) {
    const ArchitectureProfile& profile = c.profiles[i];
    report.blocks.push_back(Heading{2, fmt::format("{}: strengths and weaknesses", c.labels[i])});
    if (const Result& any = c.rows.front().results[i]; any.device)
        report.blocks.push_back(device_facts(any));
    const auto list = [&](const char* heading, const std::vector<ClassClaim>& claims, const char* none) {
        report.blocks.push_back(Heading{3, heading});
        Bullets bullets;
        for (const ClassClaim& claim : claims)
            bullets.items.push_back(claim_text(c, i, claim));
        if (bullets.items.empty())
            bullets.items.push_back(none);
        report.blocks.push_back(std::move(bullets));
    };
    list("Strengths:", profile.strengths, "on no class is it surely ahead of every other architecture here");
    list("Weaknesses:", profile.weaknesses, "on no class is it surely behind another architecture here");
    Facts best;
    best.items.push_back({"Best for latency", titles_of(c, profile.best_for)});
    best.items.push_back({"Best for energy", titles_of(c, profile.frugal_for)});
    if (!profile.unable.empty())
        best.items.push_back({"Does not run", titles_of(c, profile.unable)});
    report.blocks.push_back(std::move(best));
}

struct ClassCell {
    const ModelClassComparison* comparison;
    const ModelClassRow* row;
    std::size_t architecture;
};

std::vector<ColumnOf<ClassCell>> class_columns() {
    const auto times = [](const Metric& metric) {
        return [&metric](const ClassCell& cell) {
            const auto value = times_better(*cell.comparison, *cell.row, cell.architecture, metric);
            return number_cell(value.has_value(), value.value_or(0));
        };
    };
    const auto value = [](const Metric& metric) {
        return [&metric](const ClassCell& cell) {
            const auto own = value_of(cell.row->results[cell.architecture], metric);
            return number_cell(own.has_value(), own.value_or(0));
        };
    };
    return {{plain_column("class"),
             [](const ClassCell& cell) { return text_cell(std::string(cell.row->what.title)); }},
            {plain_column("model"),
             [](const ClassCell& cell) { return text_cell(std::string(cell.row->what.model)); }},
            {plain_column("architecture"),
             [](const ClassCell& cell) { return text_cell(cell.comparison->labels[cell.architecture]); }},
            {plain_column("hardware"),
             [](const ClassCell& cell) { return text_cell(cell.row->results[cell.architecture].hardware); }},
            {plain_column("runtime"),
             [](const ClassCell& cell) {
                 return text_cell(runtime_label(cell.row->results[cell.architecture]));
             }},
            {plain_column("status"),
             [](const ClassCell& cell) {
                 return text_cell(std::string(status_text(cell.row->results[cell.architecture].estimate)));
             }},
            {plain_column(metric::latency.field), value(metric::latency)},
            {plain_column(metric::energy.field), value(metric::energy)},
            {plain_column("times_faster"), times(metric::latency)},
            {plain_column("times_less_energy"), times(metric::energy)}};
}

std::vector<ClassCell> class_cells(const ModelClassComparison& c) {
    std::vector<ClassCell> cells;
    for (const ModelClassRow& row : c.rows)
        for (std::size_t i = 0; i < c.labels.size(); ++i)
            cells.push_back({&c, &row, i});
    return cells;
}

Json claims_json(const ModelClassComparison& c, std::size_t self, const std::vector<ClassClaim>& claims) {
    Json list = Json::array();
    for (const ClassClaim& claim : claims)
        list.push_back({{"class", c.rows[claim.row].what.title},
                        {"model", c.rows[claim.row].what.model},
                        {"metric", claim.metric->key},
                        {"against", claim.other ? Json(c.labels[*claim.other])
                                                : Json(fmt::format("batch {}", c.request.larger_batch))},
                        {"ratio", claim.ratio},
                        {"text", claim_text(c, self, claim)}});
    return list;
}

Json titles_json(const ModelClassComparison& c, const std::vector<std::size_t>& rows) {
    Json list = Json::array();
    for (const std::size_t r : rows)
        list.push_back(c.rows[r].what.title);
    return list;
}

} // namespace

Report describe(const ModelClassComparison& c, PlainView, Format format) {
    Report report{"Model classes", {}};
    if (format == Format::csv) {
        report.blocks.push_back(table_of({}, class_columns(), class_cells(c)));
        return report;
    }
    report.blocks.push_back(Heading{1, "Architecture Comparison: model classes"});
    report.blocks.push_back(Takeaway{class_lines(c)});
    report.blocks.push_back(Paragraph{fmt::format("Batch size {}, precision {}.", c.request.batch,
                                                  precision_name(c.request.conditions.precision))});
    report.blocks.push_back(times_table(c, metric::latency, "faster than"));
    report.blocks.push_back(times_table(c, metric::energy, "less energy per inference than"));
    report.blocks.push_back(times_chart(c));
    if (!c.rows.empty())
        report.blocks.push_back(architecture_differences(c.labels, c.rows.front().results));
    for (std::size_t i = 0; i < c.labels.size(); ++i)
        add_profile(c, i, report);
    report.blocks.push_back(Paragraph{"A strength or a weakness is a comparison with the best of the others "
                                      "whose 90 % intervals do not overlap; "
                                      "\"best for\" goes by the estimates alone."});
    return report;
}

std::string to_json(const ModelClassComparison& c, PlainView) {
    Json document = {{"schema", "archsim.model_classes/1"},
                     {"version", version()},
                     {"verdict", {{"lines", class_lines(c)}}},
                     {"baseline", c.labels[c.baseline]},
                     {"batch_size", c.request.batch},
                     {"larger_batch", c.request.larger_batch},
                     {"precision", precision_name(c.request.conditions.precision)}};
    document["rows"] = array_of(class_columns(), class_cells(c));
    Json& architectures = document["architectures"] = Json::array();
    for (std::size_t i = 0; i < c.labels.size(); ++i) {
        const ArchitectureProfile& profile = c.profiles[i];
        architectures.push_back({{"architecture", c.labels[i]},
                                 {"strengths", claims_json(c, i, profile.strengths)},
                                 {"weaknesses", claims_json(c, i, profile.weaknesses)},
                                 {"best_for_latency", titles_json(c, profile.best_for)},
                                 {"best_for_energy", titles_json(c, profile.frugal_for)},
                                 {"does_not_run", titles_json(c, profile.unable)}});
    }
    return document_text(document);
}

} // namespace archsim
