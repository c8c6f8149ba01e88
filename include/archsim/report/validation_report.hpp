#pragma once
// Estimates against measurements, for people and for programs.

#include "archsim/compare/left_out.hpp"
#include "archsim/compare/validation.hpp"
#include "archsim/core/export.hpp"
#include "archsim/core/finding.hpp"
#include "archsim/report/report.hpp"
#include "archsim/run/price_check.hpp"

#include <string>
#include <vector>

namespace archsim {

/// What of it is shown.
struct ValidationView {
    int worst = 20;                 ///< rows listed, worst first; 0: all
    bool rows_only = false;         ///< one table with every row, for spreadsheets
    bool chart = false;             ///< scatter as a chart block, for renderers that draw
    std::vector<PriceCheck> prices; ///< energy prices held against measured power
    std::string chart_file;         ///< Markdown: picture of the scatter to show, as written by scatter_svg
};

/// `left_out`, where given, adds the errors on rows left out of the fits beside those of the shipped
/// parameters.
ARCHSIM_API Report describe(const Validation& validation, const std::vector<Finding>& findings,
                            const ValidationView& view, const LeftOutValidation* left_out = nullptr);
/// {"schema": "archsim.validate_estimates/1", "rows": [...], "summary": {...}}; unknown values are null.
ARCHSIM_API std::string to_json(const Validation& validation, const std::vector<Finding>& findings);
/// hardware_db/uncertainty.json.
ARCHSIM_API std::string uncertainty_json(const std::vector<ResidualClassFacts>& classes,
                                         const MeasuredOn& measured);
/// Predicted against measured on logarithmic axes, one colour per family, as a stand-alone SVG picture.
ARCHSIM_API std::string scatter_svg(const Validation& validation);

} // namespace archsim
