#pragma once
// Models on devices, side by side.

#include "archsim/compare/decisions.hpp"
#include "archsim/extend/renderer.hpp"
#include "archsim/run/session.hpp"

#include <memory>
#include <string>
#include <vector>

namespace archsim {

/// The question, which is what runs.
struct CompareModelsRequest {
    std::vector<std::string> models; ///< catalogue names or paths: each in turn is the workload's model
    std::string deployment;          ///< named set of devices, beside those that `hardware` names
    std::vector<std::string> hardware;
    std::vector<std::string> stacks; ///< each in turn is the conditions' stack; empty: theirs alone
    /// Each in turn is the conditions' format, "usual" among them (ask_precision); empty: theirs alone.
    std::vector<std::string> precisions = {};
    std::vector<double> device_counts = {}; ///< each in turn is the conditions' devices; empty: theirs alone
    Workload workload = {};
    Conditions conditions = {};
    DecisionRequest decision = {}; ///< limits and choices, per model
};

/// Models on devices.
struct ModelComparison {
    CompareModelsRequest request;                 ///< with the devices of its deployment
    std::string deployment_title, deployment_use; ///< "Edge", "Autonomous robots, smart cameras"
    std::vector<std::shared_ptr<const ModelFacts>> models;
    std::vector<Result> results; ///< models x hardware x device counts x stacks x formats, model by model
    /// Per model: power modes of devices that miss a limit, in which they meet every one. Totals only.
    std::vector<std::vector<Result>> modes = {};
    /// Per model: changes that help the best of its results.
    std::vector<std::vector<TriedChange>> tried = {};
    /// Per model, where no format was asked for: what the memory does not hold in the usual one. `results`
    /// has it in fewer bits.
    std::vector<std::vector<Result>> too_large = {};
};

/// Runs every model on every device and stack of the request. One failing device never stops the others: it
/// becomes a row with its reason. Without hardware and deployment: the devices of "datacenter". Throws
/// InputError for unknown models, devices, stacks and deployments, UsageError for a prompt to a model that
/// takes none.
/// @code
/// const Session session;
/// CompareModelsRequest request;
/// request.models = {"resnet50"};
/// request.hardware = {"A100", "Jetson-Orin-Nano@15W"};
/// const ModelComparison comparison = compare_models(session, request);
/// assert(comparison.results.size() == 2);
/// @endcode
ARCHSIM_API ModelComparison compare_models(const Session& session, CompareModelsRequest request);

/// The same of one model that is loaded already, whose name the request has.
ARCHSIM_API ModelComparison compare_models(const Session& session, CompareModelsRequest request,
                                           const Model& loaded);

/// The report that compare_models prints of a comparison: the ranking with intervals, what binds each device,
/// and hints. CSV: one flat table; HTML: with charts.
/// @code
/// const Session session;
/// CompareModelsRequest request;
/// request.models = {"resnet18"};
/// request.hardware = {"A100", "H100"};
/// const ModelComparison comparison = compare_models(session, request);
/// assert(render(report_of(comparison), Format::markdown).find("H100") != std::string::npos);
/// assert(document_of(comparison).find("archsim.compare_models/1") != std::string::npos);
/// @endcode
ARCHSIM_API Report report_of(const ModelComparison& comparison, Format format = Format::text);
/// The same as JSON: {"schema": "archsim.compare_models/1", ...}; unknown values are null.
ARCHSIM_API std::string document_of(const ModelComparison& comparison);

} // namespace archsim
