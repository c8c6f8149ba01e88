#include "answers/sweep/saved_row.hpp"

#include "fields/question.hpp"
#include "store/other_answers.hpp"

#include <nlohmann/json.hpp>

namespace archsim {

SavedResult saved_row(const SweepRow& point, const SweepRequest& request) {
    SavedResult row;
    row.key.model = point.model;
    nlohmann::json factors = nlohmann::json::object();
    for (const auto& [name, size] : request.sizes.dims)
        factors[name] = size;
    for (std::size_t i = 0; i < request.axes.size() && i < point.factors.size(); ++i)
        factors[request.axes[i].name] = point.factors[i];
    row.key.dims = factors.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    name_device(point.hardware, row.key);
    row.key.runtime = point.runtime;
    row.key.precision = point.precision;
    row.executed_precision = point.executed;
    row.key.batch_size = point.batch;
    row.key.scenario = name_of(request.conditions.scenario);
    row.key.scope = name_of(request.conditions.scope);
    row.key.devices = request.conditions.devices;
    if (request.prompt) {
        row.key.prompt_tokens = request.prompt->tokens;
        row.key.generate_tokens = request.prompt->generate;
    }
    Question question{{.sizes = request.sizes, .prompt = request.prompt}, request.conditions};
    question.workload.sizes.dims.clear(); // which are above
    if (request.conditions.kv_cache)
        row.key.kv_cache = name_of(*request.conditions.kv_cache);
    if (request.weights)
        question.conditions.weights = request.weights;
    row.key.question = question_key(question, kSavedColumns);
    row.status = name_of(point.status);
    row.reason = point.reason;
    const auto metrics = point.metrics->rows();
    for (std::size_t i = 0; i < metrics.size() && i < point.measures.size(); ++i)
        if (point.measures[i])
            row.metrics[metrics[i]->key] = *point.measures[i];
    return row;
}

} // namespace archsim
