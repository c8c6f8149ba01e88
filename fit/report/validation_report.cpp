// Validation as report blocks. The first table, one line per family:
//
//   Family  Rows  Median  Mean   90 %   Bias   <= 10 %  <= 25 %  <= 50 %  In interval  Tau devices  Tau
//   models gpu      260   9.8 %  13 %   31 %  -1.2 %     51 %     84 %     98 %         91 %         0.93
//   0.91
//
// Median, mean and 90 %: absolute error relative to the measurement. Bias: geometric mean of predicted /
// measured, minus 1. Tau: Kendall's rank agreement.

#include "fit/report/validation_report.hpp"
#include "fit/report/first_run_report.hpp"
#include "fit/report/left_out_report.hpp"
#include "fit/report/power_report.hpp"
#include "fit/report/price_report.hpp"
#include "fit/report/statistic_cells.hpp"
#include "fit/report/validation_scatter.hpp"
#include "fit/report/validation_verdict.hpp"
#include "report/blocks/cells.hpp"
#include "report/blocks/number_format.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <utility>

namespace archsim {

namespace {

Table overview(const Validation& validation) {
    Table table;
    table.columns = statistic_columns("Rows of", "selection");
    for (const ValidationSummary* summary : {&validation.trusted, &validation.every}) {
        ValidationGroup group = summary->all;
        group.name = summary->selection;
        table.rows.push_back(statistic_cells(group));
    }
    table.notes.emplace_back("Errors are |predicted / measured - 1|.", "median_ape");
    table.notes.emplace_back("Bias is the geometric mean of predicted / measured, minus 1.", "bias");
    table.notes.emplace_back(
        "Tau is Kendall's rank agreement: of devices for the same workload, of models on the "
        "same device; in brackets the pairs that were compared.",
        "tau_of_models");
    return table;
}

std::string heading_of(const std::string& property) {
    std::string text = property;
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
    return text;
}

void add_groups(const ValidationSummary& summary, Report& report) {
    for (const auto& [property, groups] : summary.by) {
        Table table;
        table.title = fmt::format("By {} ({})", property, summary.selection);
        table.columns = statistic_columns(heading_of(property), property);
        for (const ValidationGroup& group : groups)
            table.rows.push_back(statistic_cells(group));
        if (!table.rows.empty())
            report.blocks.push_back(std::move(table));
    }
}

std::string interval_text(const Prediction& prediction) {
    return fmt::format("{}-{}", format_number(prediction.low), format_number(prediction.high));
}

Table row_table(const std::vector<const ValidatedRow*>& rows, bool spreadsheet) {
    Table table;
    table.columns = {{"Row", "", "id"}};
    if (spreadsheet)
        table.columns.insert(table.columns.end(), {{"Status", "", "status"}, {"Reason", "", "reason"}});
    table.columns.push_back({"Predicted", "", "predicted", Align::right});
    if (spreadsheet)
        table.columns.insert(table.columns.end(),
                             {{"Low", "", "low", Align::right}, {"High", "", "high", Align::right}});
    else
        table.columns.push_back({"Interval", "90 %", "interval", Align::right, 1});
    for (Column& column : std::vector<Column>{{"Measured", "", "value", Align::right},
                                              {"Unit", "", "metric", Align::left, 1},
                                              {"Error", "", "error", Align::right},
                                              {"Regime", "", "regime", Align::left, 2},
                                              {"Weight", "", "weight", Align::right, 2}})
        table.columns.push_back(std::move(column));
    for (const ValidatedRow* row : rows) {
        const Prediction& prediction = row->prediction;
        const auto number = [&](double value) { return prediction.ok() ? cell_in(1, value) : Cell{""}; };
        std::vector<Cell> cells = {{row->measured.id}};
        if (spreadsheet)
            cells.insert(cells.end(), {{prediction.status}, {prediction.reason}});
        cells.push_back(number(prediction.predicted));
        if (spreadsheet)
            cells.insert(cells.end(), {number(prediction.low), number(prediction.high)});
        else
            cells.push_back({interval_text(prediction)});
        cells.push_back(cell_in(1, row->measured.value));
        cells.push_back({std::string(name_of(row->measured.metric))});
        cells.push_back(prediction.ok() ? Cell{signed_percent(row->error()), row->error()} : Cell{""});
        cells.push_back({prediction.regime});
        cells.push_back(cell_in(1, row->measured.weight));
        table.rows.push_back(std::move(cells));
    }
    return table;
}

/// |log(predicted / measured)|: half and double are equally wrong.
double distance(const ValidatedRow& row) {
    return std::abs(std::log(row.prediction.predicted / row.measured.value));
}

void add_worst(const Validation& validation, int limit, Report& report) {
    std::vector<const ValidatedRow*> rows;
    for (const ValidatedRow& row : validation.rows)
        if (row.prediction.ok())
            rows.push_back(&row);
    std::stable_sort(rows.begin(), rows.end(), [](const ValidatedRow* a, const ValidatedRow* b) {
        return distance(*a) > distance(*b);
    });
    if (limit > 0 && rows.size() > static_cast<std::size_t>(limit))
        rows.resize(static_cast<std::size_t>(limit));
    if (rows.empty())
        return;
    report.blocks.push_back(Heading{2, "Worst rows first"});
    report.blocks.push_back(row_table(rows, false));
}

void add_missing(const Validation& validation, Report& report) {
    std::map<std::string, std::vector<std::string>> reasons;
    for (const ValidatedRow& row : validation.rows)
        if (!row.prediction.ok())
            reasons[row.prediction.reason.empty() ? row.prediction.status : row.prediction.reason].push_back(
                row.measured.id);
    if (reasons.empty())
        return;
    report.blocks.push_back(Heading{2, "Rows without an estimate"});
    Table table;
    table.columns = {{"Reason", "", "reason"}, {"Count", "", "count", Align::right}, {"Rows", "", "rows"}};
    for (const auto& [reason, ids] : reasons) {
        std::string list;
        for (const std::string& id : ids)
            list += (list.empty() ? "" : ", ") + id;
        table.rows.push_back({{reason}, {std::to_string(ids.size())}, {std::move(list)}});
    }
    report.blocks.push_back(std::move(table));
}

} // namespace

Report describe(const ValidationAnswer& answer, const ValidationView& view, Format format) {
    const Validation& validation = answer.validation;
    Report report;
    report.title = "Validation";
    if (format == Format::csv) {
        std::vector<const ValidatedRow*> rows;
        for (const ValidatedRow& row : validation.rows)
            rows.push_back(&row);
        report.blocks.push_back(row_table(rows, true));
        return report;
    }
    const auto estimated =
        static_cast<std::size_t>(std::count_if(validation.rows.begin(), validation.rows.end(),
                                               [](const ValidatedRow& row) { return row.prediction.ok(); }));
    report.blocks.push_back(Heading{1, "Estimates against published measurements"});
    report.blocks.push_back(Takeaway{verdict_lines(answer)});
    report.blocks.push_back(Paragraph{fmt::format("{} of {} measurements were estimated, each on its own "
                                                  "model, batch size, precision, device, power mode, "
                                                  "software stack and scope.",
                                                  estimated, validation.rows.size())});
    for (const Finding& finding : answer.findings)
        report.blocks.push_back(Paragraph{to_string(finding), Tone::bad});
    report.blocks.push_back(overview(validation));
    if (answer.left_out)
        add_left_out(validation, *answer.left_out, report);
    add_first_run(validation, answer.left_out ? &*answer.left_out : nullptr, answer.first_run, report);
    add_support(answer.support, report);
    add_power(validation, answer.left_out ? &*answer.left_out : nullptr, report);
    add_prices(answer.prices, report);
    if (format == Format::markdown && !view.chart_file.empty())
        report.blocks.push_back(Chart{.title = "Predicted against measured time, logarithmic axes",
                                      .x_title = view.chart_file}); // drawn there
    if (format == Format::html && estimated > 0)
        report.blocks.push_back(scatter_of(validation));
    report.blocks.push_back(Heading{2, "Where the errors are"});
    add_groups(validation.trusted, report);
    add_worst(validation, view.worst, report);
    add_missing(validation, report);
    return report;
}

} // namespace archsim
