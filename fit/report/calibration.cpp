// A calibration as report blocks:
//
//   Parameter           Of        Before   After  Standard  Bounds     Rows
//                                                    error
//   matrix_efficiency   QCS8550     1.06   0.981      3 %   0.01-1.6     26
//
// followed by the errors before, after (training) and with every network left out of the fit in turn.

#include "archsim/core/version.hpp"
#include "fit/report/calibration_report.hpp"

#include "fit/report/statistic_cells.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/verdict.hpp"
#include "report/render/json_document.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace archsim {

namespace {

using Json = nlohmann::ordered_json;

std::string with_unit(double value, const std::string& unit) {
    if (unit == "s")
        return format_time(value);
    return unit == "1" ? format_number(value) : fmt::format("{} {}", format_number(value), unit);
}

Table parameter_table(const Calibration& calibration) {
    Table table;
    table.title = fmt::format("Parameters of {}", calibration.subject);
    table.columns = {{"Parameter", "", "parameter"},
                     {"Of", "", "of"},
                     {"Before", "", "before", Align::right},
                     {"After", "", "after", Align::right},
                     {"Standard", "error", "standard_error", Align::right},
                     {"Bounds", "", "bounds", Align::right, 1},
                     {"Rows", "", "n", Align::right}};
    for (const CalibratedParameter& p : calibration.parameters)
        table.rows.push_back({{p.name},
                              {p.where},
                              {with_unit(p.before, p.unit), p.before},
                              {with_unit(p.after, p.unit) + (p.at_bound() ? " !" : ""), p.after},
                              {fmt::format("{:.0f} %", 100 * p.spread), p.spread},
                              {fmt::format("{}-{}", with_unit(p.low, p.unit), with_unit(p.high, p.unit))},
                              {std::to_string(p.n), static_cast<double>(p.n)}});
    if (std::any_of(calibration.parameters.begin(), calibration.parameters.end(),
                    [](const CalibratedParameter& p) { return p.at_bound(); }))
        table.notes.push_back("!: at a bound; the measurements ask for what the mechanism cannot give");
    return table;
}

ValidationGroup group_of(std::string name, const std::vector<ValidatedRow>& rows) {
    std::vector<const ValidatedRow*> pointers;
    for (const ValidatedRow& row : rows)
        pointers.push_back(&row);
    return {std::move(name), error_statistics(pointers), tau_of_devices(pointers), tau_of_models(pointers)};
}

Table error_table(const Calibration& calibration) {
    Table table;
    table.title = "Errors";
    table.columns = statistic_columns("Parameters", "parameters");
    table.rows = {statistic_cells(group_of("before", calibration.before)),
                  statistic_cells(group_of("after (training)", calibration.after)),
                  statistic_cells(group_of("network left out", calibration.left_out))};
    table.notes.push_back(
        "Network left out: every row predicted with parameters fitted on the other networks; "
        "this is what to expect of a network that was not measured.");
    return table;
}

Table row_table(const Calibration& calibration) {
    Table table;
    table.title = "Measurements";
    table.columns = {{"Row", "", "id"},
                     {"Measured", "", "value", Align::right},
                     {"Unit", "", "metric", Align::left, 2},
                     {"Before", "", "before", Align::right},
                     {"After", "", "after", Align::right},
                     {"Left out", "", "left_out", Align::right}};
    const auto error = [](const ValidatedRow& row) {
        return row.prediction.ok() ? Cell{signed_percent(row.error()), row.error()} : Cell{"-"};
    };
    for (std::size_t i = 0; i < calibration.before.size(); ++i)
        table.rows.push_back({{calibration.before[i].measured.id},
                              {format_number(calibration.before[i].measured.value)},
                              {std::string(name_of(calibration.before[i].measured.metric))},
                              error(calibration.before[i]),
                              error(calibration.after[i]),
                              error(calibration.left_out[i])});
    return table;
}

/// "QCS8550: median error 41.2 % as stated, 7.1 % fitted, 9.2 % on networks left out.", and what ended at a
/// bound.
std::vector<std::string> calibration_lines(const Calibration& c) {
    const auto error = [](const std::vector<ValidatedRow>& rows) {
        return format_percent(group_of("", rows).errors.median_ape);
    };
    std::vector<std::string> lines = {fmt::format(
        "{}: median error {} as stated, {} with fitted parameters, {} on networks left out of the "
        "fit.",
        c.subject, error(c.before), error(c.after), error(c.left_out))};
    std::vector<std::string> bound;
    for (const CalibratedParameter& p : c.parameters)
        if (p.at_bound())
            bound.push_back(p.name);
    if (!bound.empty())
        lines.push_back(fmt::format("At a bound of what the mechanism can give: {}.", names_text(bound)));
    return lines;
}

Json errors_json(const std::vector<ValidatedRow>& rows) {
    const ValidationGroup group = group_of("", rows);
    return {{"n", group.errors.n},
            {"median_ape", group.errors.median_ape},
            {"mean_ape", group.errors.mean_ape},
            {"bias", group.errors.bias},
            {"within_25", group.errors.within_25},
            {"tau_of_models", group.models.pairs > 0 ? Json(group.models.tau) : Json(nullptr)}};
}

} // namespace

Report describe(const Calibration& calibration, PlainView, Format) {
    Report report;
    report.title = fmt::format("Calibration of {}", calibration.subject);
    report.blocks = {Heading{1, fmt::format("CALIBRATION: {}", calibration.subject)},
                     Takeaway{calibration_lines(calibration)}, parameter_table(calibration),
                     error_table(calibration), row_table(calibration)};
    for (const std::string& note : calibration.notes)
        report.blocks.push_back(Paragraph{note});
    return report;
}

std::string to_json(const Calibration& calibration, PlainView) {
    Json parameters = Json::array(), rows = Json::array();
    for (const CalibratedParameter& p : calibration.parameters)
        parameters.push_back({{"name", p.name},
                              {"of", p.where},
                              {"unit", p.unit},
                              {"before", p.before},
                              {"after", p.after},
                              {"standard_error", p.spread},
                              {"low", p.low},
                              {"high", p.high},
                              {"at_bound", p.at_bound()},
                              {"n", p.n}});
    const auto predicted = [](const ValidatedRow& row) {
        return row.prediction.ok() ? Json(row.prediction.predicted) : Json(nullptr);
    };
    for (std::size_t i = 0; i < calibration.before.size(); ++i)
        rows.push_back({{"id", calibration.before[i].measured.id},
                        {"value", calibration.before[i].measured.value},
                        {"metric", name_of(calibration.before[i].measured.metric)},
                        {"before", predicted(calibration.before[i])},
                        {"after", predicted(calibration.after[i])},
                        {"left_out", predicted(calibration.left_out[i])}});
    const Json document = {{"schema", "archsim.calibrate_device/1"},
                           {"version", version()},
                           {"verdict", {{"lines", calibration_lines(calibration)}}},
                           {"subject", calibration.subject},
                           {"parameters", std::move(parameters)},
                           {"errors",
                            {{"before", errors_json(calibration.before)},
                             {"training", errors_json(calibration.after)},
                             {"left_out", errors_json(calibration.left_out)}}},
                           {"rows", std::move(rows)},
                           {"notes", calibration.notes}};
    return document_text(document);
}

} // namespace archsim
