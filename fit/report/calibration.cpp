// A calibration as report blocks:
//
//   Parameter           Of        Before   After  Standard  Bounds     Rows
//                                                    error
//   matrix_efficiency   QCS8550     1.06   0.981      3 %   0.01-1.6     26
//
// followed by the errors before, after (training) and with every network left out of the fit in turn.

#include "fit/report/validation_report.hpp"

#include "core/lists.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/verdict.hpp"
#include "report/render/answer_document.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace archsim {

static std::string with_unit(double value, const std::string& unit) {
    if (unit == "s")
        return format_time(value);
    return unit == "1" ? format_number(value) : fmt::format("{} {}", format_number(value), unit);
}

static Table parameter_table(const Calibration& calibration) {
    using P = CalibratedParameter;
    Table table =
        table_of<P>(fmt::format("Parameters of {}", calibration.subject),
                    {{{"Parameter", "", "parameter"}, &P::name},
                     {{"Of", "", "of"}, &P::where},
                     {most_best("Before", "", "before"),
                      [](const P& p) {
                          return Cell{with_unit(p.before, p.unit), p.before};
                      }},
                     {most_best("After", "", "after"),
                      [](const P& p) {
                          return Cell{with_unit(p.after, p.unit) + (p.at_bound() ? " !" : ""), p.after};
                      }},
                     {least_best("Standard", "error", "standard_error"),
                      [](const P& p) {
                          return Cell{fmt::format("{:.0f} %", 100 * p.spread), p.spread};
                      }},
                     {interval_column("Bounds", "", "least", "most", 1),
                      [](const P& p) {
                          Cell cell = interval_cell(1, p.low, p.low, p.high);
                          cell.text =
                              fmt::format("{}-{}", with_unit(p.low, p.unit), with_unit(p.high, p.unit));
                          return cell;
                      }},
                     {most_best("Rows", "", "n"), 1, &P::n}},
                    calibration.parameters);
    if (std::any_of(calibration.parameters.begin(), calibration.parameters.end(),
                    [](const CalibratedParameter& p) { return p.at_bound(); }))
        table.notes.push_back("!: at a bound; the measurements ask for what the mechanism cannot give");
    return table;
}

static ValidationGroup group_of(std::string name, const std::vector<ValidatedRow>& rows) {
    std::vector<const ValidatedRow*> pointers = mapped(rows, [&](const ValidatedRow& row) { return &row; });
    return {std::move(name), error_statistics(pointers), tau_of_devices(pointers), tau_of_models(pointers)};
}

static Table error_table(const Calibration& calibration) {
    Table table = table_of("Errors", statistic_columns("Parameters", "parameters"),
                           std::vector{group_of("before", calibration.before),
                                       group_of("after (training)", calibration.after),
                                       group_of("network left out", calibration.left_out)});
    table.notes.push_back(
        "Network left out: every row predicted with parameters fitted on the other networks; "
        "this is what to expect of a network that was not measured.");
    return table;
}

static Table calibrated_rows(const Calibration& calibration) {
    using Index = std::size_t;
    const auto error = [](const std::vector<ValidatedRow>& rows) {
        return [&rows](Index i) { return rows[i].prediction.ok() ? signed_cell(rows[i].error()) : Cell{}; };
    };
    const auto measured = [&](Index i) -> const MeasuredRow& { return calibration.before[i].measured; };
    return table_of<Index>(
        "Measurements",
        {{{"Row", "", "id"}, [=](Index i) { return measured(i).id; }},
         {most_best("Measured", "", "value"), 1, [=](Index i) { return measured(i).value; }},
         {{"Unit", "", "metric", Align::left, 2}, [=](Index i) { return name_of(measured(i).metric); }},
         {least_best("Before", "", "before"), error(calibration.before)},
         {least_best("After", "", "after"), error(calibration.after)},
         {least_best("Left out", "", "left_out"), error(calibration.left_out)}},
        indices(calibration.before.size()));
}

/// "QCS8550: median error 41.2 % as stated, 7.1 % fitted, 9.2 % on networks left out.", and what ended at a
/// bound.
static std::vector<std::string> calibration_lines(const Calibration& c) {
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

static Members<ValidationGroup> calibration_error_members() {
    using G = ValidationGroup;
    return {
        {"n", "rows", [](const G& g) { return g.errors.n; }},
        {"median_ape", "median of |predicted / measured - 1|",
         [](const G& g) { return g.errors.median_ape; }},
        {"mean_ape", "", [](const G& g) { return g.errors.mean_ape; }},
        {"bias", "geometric mean of predicted / measured, minus 1", [](const G& g) { return g.errors.bias; }},
        {"within_25", "share of rows within 25 %", [](const G& g) { return g.errors.within_25; }},
        {"tau_of_models", "Kendall's rank agreement of models on the same device",
         [](const G& g) { return known(g.models.pairs > 0, g.models.tau); }}};
}

static Members<CalibratedParameter> parameter_members() {
    using P = CalibratedParameter;
    return {{"name", "", &P::name},
            {"of", "device, stack, or stack on a generation of devices that states it", &P::where},
            {"unit", "", &P::unit},
            {"before", "as stated", &P::before},
            {"after", "fitted", &P::after},
            {"standard_error", "of the logarithm", &P::spread},
            {"low", "physical bound", &P::low},
            {"high", "physical bound", &P::high},
            {"at_bound", "the fit ended there", &P::at_bound},
            {"n", "measurements that it decides", &P::n}};
}

/// A measurement, and what is predicted of it with each of the three.
struct CalibratedRow {
    const Calibration* all = nullptr;
    std::size_t index = 0;

    const MeasuredRow& measured() const { return all->before[index].measured; }
};

static Members<CalibratedRow> calibrated_row_members() {
    using R = CalibratedRow;
    const auto predicted = [](std::vector<ValidatedRow> Calibration::*rows) {
        return [rows](const R& r) {
            const Prediction& prediction = (r.all->*rows)[r.index].prediction;
            return known(prediction.ok(), prediction.predicted);
        };
    };
    return {{"id", "", [](const R& r) { return r.measured().id; }},
            {"value", "measured, in the metric's unit", [](const R& r) { return r.measured().value; }},
            {"metric", "", [](const R& r) { return name_of(r.measured().metric); }},
            {"before", "predicted with the stated parameters", predicted(&Calibration::before)},
            {"after", "predicted with the fitted parameters", predicted(&Calibration::after)},
            {"left_out", "predicted with parameters fitted on the other networks",
             predicted(&Calibration::left_out)}};
}

Report describe(const Calibration& calibration, PlainView, Format) {
    Report report{.title = fmt::format("Calibration of {}", calibration.subject),
                  .blocks = {Heading{1, fmt::format("CALIBRATION: {}", calibration.subject)},
                             Takeaway{calibration_lines(calibration)}, parameter_table(calibration),
                             error_table(calibration), calibrated_rows(calibration)}};
    for (const std::string& note : calibration.notes)
        report.blocks.push_back(Paragraph{note});
    return report;
}

AnswerDocument document_of(const Calibration& calibration, PlainView) {
    using C = Calibration;
    const auto errors = [](std::vector<ValidatedRow> C::*rows) {
        return [rows](const C& c) { return group_of("", c.*rows); };
    };
    const Members<C> all_errors = {
        {"before", "with the stated parameters", errors(&C::before), calibration_error_members()},
        {"training", "with the fitted parameters", errors(&C::after), calibration_error_members()},
        {"left_out", "with parameters fitted on the other networks", errors(&C::left_out),
         calibration_error_members()}};
    return {calibration,
            "calibrate_device",
            "parameters that agree with measurements",
            {{"verdict", "the answer", calibration_lines, lines_members()},
             {"subject", "device or software stacks", &C::subject},
             {"parameters", "", &C::parameters, parameter_members()},
             {"errors", "", std::identity{}, all_errors},
             {"rows", "",
              [](const C& c) {
                  return mapped(indices(c.before.size()), [&](const std::size_t i) {
                      return CalibratedRow{&c, i};
                  });
              },
              calibrated_row_members()},
             {"notes", "", &C::notes}}};
}

} // namespace archsim
