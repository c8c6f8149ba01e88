#pragma once
// Estimates against measurements, for people and for programs.

#include "archsim/core/finding.hpp"
#include "archsim/extend/renderer.hpp"
#include "fit/errors/left_out.hpp"
#include "fit/errors/price_check.hpp"
#include "fit/errors/validation.hpp"
#include "fit/parameters/calibrate.hpp"
#include "report/blocks/columns.hpp"
#include "report/render/answer_document.hpp"
#include "store/results_file.hpp"

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace archsim {

/// Kendall's tau with the pairs behind it: "0.40 (5)", where one pair the other way round is worth 0.4.
Cell tau_cell(const RankAgreement& agreement);
/// "+4.2 %".
Cell signed_cell(double share);
/// The first column holds the group's name.
std::vector<ColumnOf<ValidationGroup>> statistic_columns(std::string heading, std::string key);
/// "7.4 / 7.9": median and mean of sorted errors in per cent.
Cell error_cell(const std::vector<double>& errors);

/// Predicted against measured time in milliseconds, one series per family: latency as it is, throughput as
/// time per item. Power and energy have no place on these axes.
Chart scatter_of(const Validation& validation);

struct ValidationAnswer {
    Validation validation;
    std::vector<Finding> findings = {};                       ///< rows that could not be read
    std::optional<LeftOutValidation> left_out = std::nullopt; ///< errors on rows left out of the fits
    std::vector<FitSupport> support = {};                     ///< listed where given
    std::vector<FirstRun> first_run = {};                     ///< what was said before rows were fitted
    std::vector<PriceCheck> prices = {};                      ///< energy prices held against measured power
};

struct ValidationView {
    int worst = 20;         ///< rows listed, worst first; 0: all
    std::string chart_file; ///< Markdown: picture of the scatter to show, as written by scatter_svg
};

/// CSV: one table with every row. HTML: with the scatter.
Report describe(const ValidationAnswer& answer, const ValidationView& view = {},
                Format format = Format::text);
/// {"schema": "archsim.validate_estimates/1", "rows": [...], "summary": {...}}; unknown values are null.
AnswerDocument document_of(const ValidationAnswer& answer, const ValidationView& view = {});
std::string uncertainty_json(const ErrorModel& model);
/// hardware_db/evidence.json: the rows of times, counted by chip, stack, kind of network and kind of time.
std::string evidence_json(const Validation& validation);
/// Predicted against measured on logarithmic axes, one colour per family, as a stand-alone SVG picture.
std::string scatter_svg(const Validation& validation);

/// "Median error 7.7 % over 724 trusted measurements, ...", on left-out rows too, and the worst row.
std::vector<std::string> verdict_lines(const ValidationAnswer& answer);

// Power and energy of a validation as a table of their own.
//
//   Metric     Boundary  Family  Regime  Rows  Median  Bias    In interval  Network out  Device out  Worst
//   row power_w    all                        120  11 %    -4.1 %  92 %         13 %         21 % h100-...
//   +41 %

/// Adds a heading and the table where there are such rows. `left_out` may be null.
void add_power(const Validation& validation, const LeftOutValidation* left_out, Report& report);

// Energy prices against measured power.
//
//   Family  Prices                    Share   Best multiple  Runs  Networks  Devices
//   gpu     dram_byte                  52 %   1.31 +- 0.04     78         9        2
//           static                     30 %   0.96 +- 0.08
//           mac + l1_byte + l2_byte    12 %   1.20 +- 0.21

/// Adds a heading and the table; nothing where there are no checks.
void add_prices(const std::vector<PriceCheck>& checks, Report& report);

/// The predicted value as the metric that it is of, the measured one, and the error without its sign. The
/// question is the row of the measurements' file.
SavedResult saved_row(const ValidatedRow& row);

Report describe(const Calibration& calibration, PlainView view = {}, Format format = Format::text);
/// {"schema": "archsim.calibrate_device/1", "subject", "parameters": [...], "errors": {"before", "training",
/// "left_out"}, "rows": [...]}
AnswerDocument document_of(const Calibration& calibration, PlainView view = {});

} // namespace archsim
