#pragma once
// The answer of compare_models as report blocks and as its stable JSON document.

#include "archsim/compare/decisions.hpp"
#include "archsim/compare/ranking.hpp"
#include "archsim/report/explanations.hpp"
#include "archsim/report/report.hpp"

#include <map>
#include <string>
#include <vector>

namespace archsim {

/// What was asked.
struct CompareModelsRequest {
    std::vector<std::string> models;
    std::string deployment; ///< empty when hardware was named
    std::vector<std::string> hardware, runtimes;
    std::string precision = "fp32";
    std::int64_t batch_size = 1;
    std::map<std::string, std::int64_t> dims;
    Scenario scenario = Scenario::latency;
    Scope scope = Scope::kernel;
    std::int64_t prompt_tokens = 0, generate_tokens = 0; ///< 0: one pass instead of an answer
    DecisionRequest decision;                            ///< limits and choices, per model
    double devices = 1;                                  ///< 0: as many as needed
};

/// Models on devices.
struct ModelComparison {
    CompareModelsRequest request;
    std::string deployment_title;
    std::vector<std::shared_ptr<const ModelFacts>> models;
    std::vector<Result> results; ///< models x hardware x runtimes, model by model
};

/// What of it is shown.
struct CompareModelsView {
    bool verbose = false;
    bool cold_start = false; ///< the first inference too
    Explanations explanations;
    bool charts = false; ///< for renderers that draw
    int top = 0;         ///< rows of the ranking; 0: all
};

ARCHSIM_API Report describe(const ModelComparison& comparison, const CompareModelsView& view);
/// One flat table, a row per result, for spreadsheets; explanations follow as tables of their own.
ARCHSIM_API Report tabulate(const ModelComparison& comparison, const CompareModelsView& view = {});
/// One flat table with a row per subgraph of every estimate.
ARCHSIM_API Report tabulate_subgraphs(const ModelComparison& comparison);
/// {"schema": "archsim.compare_models/1", ...}; unknown values are null.
ARCHSIM_API std::string to_json(const ModelComparison& comparison, const CompareModelsView& view = {});

} // namespace archsim
