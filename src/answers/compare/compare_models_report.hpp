#pragma once
// The answer of compare_models goes in; report blocks and its stable JSON document come out.

#include "answers/compare/duty_cycle.hpp"
#include "answers/compare/percentiles.hpp"
#include "archsim/extend/renderer.hpp"
#include "archsim/run/compare_models.hpp"
#include "report/blocks/explanations.hpp"

#include <optional>
#include <string>

namespace archsim {

/// What of it is shown.
struct CompareModelsView {
    bool verbose = false;
    bool cold_start = false;                      ///< the first inference too
    std::optional<PercentileRequest> percentiles; ///< of every latency, under this load
    std::optional<DutyRequest> duty;              ///< what it draws where it works now and then
    Explanations explanations;
    int top = 0; ///< rows of the ranking; 0: all
    const MetricTable* metrics = &MetricTable::standard();
    const Metric* sort_by = nullptr; ///< what ranks; null: what the scenario asks for

    /// The metrics shown, under the conditions of `explanations`.
    MetricView metric_view() const { return {metrics, explanations.conditions}; }
};

/// CSV: one flat table, a row per result; explanations follow as tables of their own. HTML: with charts.
Report describe(const ModelComparison& comparison, const CompareModelsView& view = {},
                Format format = Format::text);
/// One flat table with a row per subgraph of every estimate.
Report tabulate_subgraphs(const ModelComparison& comparison);
/// {"schema": "archsim.compare_models/1", ...}; unknown values are null.
std::string to_json(const ModelComparison& comparison, const CompareModelsView& view = {});

} // namespace archsim
