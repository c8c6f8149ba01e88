#pragma once
// Estimates against measurements, for people and for programs.

#include "archsim/compare/validation.hpp"
#include "archsim/core/export.hpp"
#include "archsim/core/finding.hpp"
#include "archsim/report/report.hpp"

#include <string>
#include <vector>

namespace archsim {

struct ValidationView {
    int worst = 20;         ///< rows listed, worst first; 0: all
    bool rows_only = false; ///< one table with every row, for spreadsheets
    bool chart = false;     ///< scatter as a chart block, for renderers that draw
    std::string chart_file; ///< Markdown: picture of the scatter to show, as written by scatter_svg
};

ARCHSIM_API Report describe(const Validation& validation, const std::vector<Finding>& findings,
                            const ValidationView& view);
/// {"schema": "archsim.validate_estimates/1", "rows": [...], "summary": {...}}; unknown values are null.
ARCHSIM_API std::string to_json(const Validation& validation, const std::vector<Finding>& findings);
/// Predicted against measured on logarithmic axes, one colour per family, as a stand-alone SVG picture.
ARCHSIM_API std::string scatter_svg(const Validation& validation);

} // namespace archsim
