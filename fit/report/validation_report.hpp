#pragma once
// Estimates against measurements, for people and for programs.

#include "archsim/core/finding.hpp"
#include "archsim/extend/renderer.hpp"
#include "fit/errors/first_run.hpp"
#include "fit/errors/left_out.hpp"
#include "fit/errors/price_check.hpp"
#include "fit/errors/validation.hpp"

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace archsim {

/// What validate_estimates answers.
struct ValidationAnswer {
    Validation validation;
    std::vector<Finding> findings = {};                       ///< rows that could not be read
    std::optional<LeftOutValidation> left_out = std::nullopt; ///< errors on rows left out of the fits
    std::vector<FitSupport> support = {};                     ///< listed where given
    std::vector<FirstRun> first_run = {};                     ///< what was said before rows were fitted
    std::vector<PriceCheck> prices = {};                      ///< energy prices held against measured power
};

/// What of it is shown.
struct ValidationView {
    int worst = 20;         ///< rows listed, worst first; 0: all
    std::string chart_file; ///< Markdown: picture of the scatter to show, as written by scatter_svg
};

/// CSV: one table with every row. HTML: with the scatter.
Report describe(const ValidationAnswer& answer, const ValidationView& view = {},
                Format format = Format::text);
/// {"schema": "archsim.validate_estimates/1", "rows": [...], "summary": {...}}; unknown values are null.
std::string to_json(const ValidationAnswer& answer, const ValidationView& view = {});
/// Its JSON Schema.
nlohmann::ordered_json validate_estimates_schema();
/// hardware_db/uncertainty.json.
std::string uncertainty_json(const ErrorModel& model);
/// hardware_db/evidence.json: the rows of times, counted by chip, stack, kind of network and kind of time.
std::string evidence_json(const Validation& validation);
/// Predicted against measured on logarithmic axes, one colour per family, as a stand-alone SVG picture.
std::string scatter_svg(const Validation& validation);

} // namespace archsim
