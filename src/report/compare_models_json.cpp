#include "archsim/report/compare_models.hpp"

#include "archsim/core/version.hpp"
#include "report/decision_json.hpp"
#include "report/explanations_json.hpp"
#include "report/result_text.hpp"
#include "report/results_json.hpp"

namespace archsim {

std::string to_json(const ModelComparison& c, const CompareModelsView& view) {
    using Json = nlohmann::ordered_json;
    Json document = {{"schema", "archsim.compare_models/1"}, {"version", version()}};
    const CompareModelsRequest& q = c.request;
    document["request"] = {
        {"models", q.models},
        {"deployment", q.deployment.empty() ? Json(nullptr) : Json(q.deployment)},
        {"hardware", q.hardware},
        {"runtimes", q.runtimes},
        {"precision", q.precision},
        {"batch_size", q.batch_size},
        {"dims", q.dims},
        {"scenario", name_of(q.scenario)},
        {"scope", name_of(q.scope)},
        {"devices", q.devices > 0 ? Json(q.devices) : Json("auto")},
        {"prompt_tokens", q.prompt_tokens > 0 ? Json(q.prompt_tokens) : Json(nullptr)},
        {"generate_tokens", q.generate_tokens > 0 ? Json(q.generate_tokens) : Json(nullptr)}};
    document["decisions"] = q.decision.active() ? Json::array() : Json(nullptr);
    document["models"] = Json::array();
    document["results"] = Json::array();
    const std::size_t per_model = c.models.empty() ? 0 : c.results.size() / c.models.size();
    for (std::size_t m = 0; m < c.models.size(); ++m) {
        const auto results = std::span(c.results).subspan(m * per_model, per_model);
        const Partition* partition = nullptr;
        for (const Result& r : results)
            if (!partition && r.partition)
                partition = r.partition.get();
        document["models"].push_back(model_json(*c.models[m], partition));
        if (q.decision.active()) {
            Json decision = {{"model", c.models[m]->name}};
            decision.update(decision_json(decide(results, q.decision), hardware_labels(results)));
            document["decisions"].push_back(std::move(decision));
        }
        const RankBy by = q.scenario == Scenario::throughput ? RankBy::throughput : RankBy::latency;
        for (const Rank& rank : rank_results(results, by))
            document["results"].push_back(
                result_json(results[rank.result], static_cast<double>(q.batch_size), rank.place));
    }
    add_explanations(document, c.results, view.explanations);
    return document.dump(2) + "\n";
}

} // namespace archsim
