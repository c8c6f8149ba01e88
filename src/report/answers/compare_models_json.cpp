#include "report/answers/compare_models_report.hpp"

#include "archsim/core/version.hpp"
#include "ask/question_json.hpp"
#include "report/answers/model_ranking.hpp"
#include "report/blocks/decision_json.hpp"
#include "report/blocks/explanations_json.hpp"
#include "report/blocks/percentile_table.hpp"
#include "report/blocks/result_row.hpp"
#include "report/blocks/result_text.hpp"
#include "report/blocks/verdict.hpp"
#include "report/render/json_document.hpp"

namespace archsim {

namespace {

using Json = nlohmann::ordered_json;

} // namespace

std::string to_json(const ModelComparison& c, const CompareModelsView& given) {
    CompareModelsView view = given;
    view.explanations.conditions = on_one_basis(c.results, view.explanations.conditions);
    Json document = {{"schema", "archsim.compare_models/1"}, {"version", version()}};
    const CompareModelsRequest& q = c.request;
    Json& request =
        document["request"] = {{"models", q.models},
                               {"deployment", q.deployment.empty() ? Json(nullptr) : Json(q.deployment)},
                               {"hardware", q.hardware},
                               {"runtimes", q.stacks}};
    request.update(question_json(asked_question(c)));
    if (q.device_counts.size() > 1)
        request["devices"] = q.device_counts;
    if (q.stacks.size() > 1)
        request["runtime"] = nullptr;
    if (q.precisions.size() > 1)
        request["precision"] = asked_formats(c);
    document["verdicts"] = Json::array();
    document["decisions"] = q.decision.active() ? Json::array() : Json(nullptr);
    document["models"] = Json::array();
    document["results"] = Json::array();
    for (std::size_t m = 0; m < c.models.size(); ++m) {
        const auto results = results_of(c, m);
        const Metric& by = order_of(c, results, view);
        const Decision decided = decide(results, q.decision);
        const std::vector<std::string> labels = hardware_labels(results);
        Json verdict = {{"model", c.models[m]->name}};
        verdict.update(verdict_json(
            {results, labels, by, view.explanations.conditions, &decided, usual_of(c, m), modes_of(c, m)}));
        verdict["next"] = next_commands(c, m, by, view.explanations.conditions);
        document["verdicts"].push_back(std::move(verdict));
        const Partition* partition = nullptr;
        for (const Result& r : results)
            if (!partition && r.partition)
                partition = r.partition.get();
        document["models"].push_back(model_json(*c.models[m], partition));
        if (q.decision.active()) {
            Json decision = {{"model", c.models[m]->name}};
            decision.update(decision_json(decided, labels));
            document["decisions"].push_back(std::move(decision));
        }
        for (const RankedResult& row :
             ranked({results, static_cast<double>(q.workload.batch), &by}, view.metric_view()))
            document["results"].push_back(result_json(row, view.metric_view()));
    }
    if (view.percentiles)
        document["percentiles"] = percentile_json(c.results, *view.percentiles);
    add_explanations(document, c.results, view.explanations);
    return document_text(document);
}

} // namespace archsim
