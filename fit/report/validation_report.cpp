// Validation as report blocks. The first table, one line per family:
//
//   Family  Rows  Median  Mean   90 %   Bias   <= 10 %  <= 25 %  <= 50 %  In interval  Tau devices  Tau
//   models gpu      260   9.8 %  13 %   31 %  -1.2 %     51 %     84 %     98 %         91 %         0.93
//   0.91
//
// Median, mean and 90 %: absolute error relative to the measurement. Bias: geometric mean of predicted /
// measured, minus 1. Tau: Kendall's rank agreement.

#include "fit/report/validation_report.hpp"
#include "report/blocks/number_format.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <utility>

namespace archsim {

namespace {

Table overview(const Validation& validation) {
    std::vector<ValidationGroup> groups;
    for (const ValidationSummary* summary : {&validation.trusted, &validation.every}) {
        groups.push_back(summary->all);
        groups.back().name = summary->selection;
    }
    Table table = table_of({}, statistic_columns("Rows of", "selection"), groups);
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
    for (const auto& [property, groups] : summary.by)
        if (!groups.empty())
            report.blocks.push_back(table_of(fmt::format("By {} ({})", property, summary.selection),
                                             statistic_columns(heading_of(property), property), groups));
}

Table row_table(const std::vector<const ValidatedRow*>& rows, bool spreadsheet) {
    using R = const ValidatedRow*;
    const auto estimated = [](R row) { return row->prediction.ok(); };
    std::vector<ColumnOf<R>> columns = {{{"Row", "", "id"}, [](R row) { return row->measured.id; }}};
    if (spreadsheet)
        append(columns,
               {{{"Status", "", "status"}, [](R row) { return row->prediction.status; }},
                {{"Reason", "", "reason"}, [](R row) { return text_cell(row->prediction.reason); }}});
    append(columns, where<R>(estimated, {{least_best("Predicted", "", "predicted"), 1,
                                          [](R row) { return row->prediction.predicted; }},
                                         {interval_column("Interval", "90 %", "low", "high", 1), [](R row) {
                                              const Prediction& p = row->prediction;
                                              return interval_cell(1, p.low, p.predicted, p.high);
                                          }}}));
    append(columns,
           {{least_best("Measured", "", "value"), 1, [](R row) { return row->measured.value; }},
            {{"Unit", "", "metric", Align::left, 1}, [](R row) { return name_of(row->measured.metric); }}});
    append(columns, where<R>(estimated, {{least_best("Error", "", "error"),
                                          [](R row) { return signed_cell(row->error()); }}}));
    append(columns, {{{"Regime", "", "regime", Align::left, 2},
                      [](R row) { return text_cell(row->prediction.regime); }},
                     {most_best("Weight", "", "weight", 2), 1, [](R row) { return row->measured.weight; }}});
    return table_of({}, columns, rows);
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
    using R = std::pair<const std::string, std::vector<std::string>>;
    report.blocks.push_back(Heading{2, "Rows without an estimate"});
    report.blocks.push_back(table_of<R>(
        {},
        {{{"Reason", "", "reason"}, &R::first},
         {most_best("Count", "", "count"), 1, [](const R& r) { return r.second.size(); }},
         {{"Rows", "", "rows"}, [](const R& r) { return fmt::format("{}", fmt::join(r.second, ", ")); }}},
        reasons));
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
