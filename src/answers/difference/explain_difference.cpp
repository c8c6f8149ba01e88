#include "answers/difference/explain_difference.hpp"

#include "result/ties.hpp"
#include "session/usual_precision.hpp"
#include "session/usual_question.hpp"

#include "session/generation/passes.hpp"

#include <fmt/format.h>

#include <utility>

namespace archsim {

namespace {

Result estimate_side(const Session& session, DifferenceSide& side) {
    side.workload.model = session.load(side.model);
    side.workload = usual_question(std::move(side.workload));
    side.conditions = settled(std::move(side.conditions), side.workload);
    side.conditions.keep_subgraphs = true;
    Result result = side.workload.prompt
                        ? answer_in_passes(session, side.workload, side.hardware, side.conditions)
                        : session.estimate(side.workload, side.hardware, side.conditions);
    if (result.ok())
        return result;
    const std::string why =
        fmt::format("{} on {}: no estimate: {}", side.model, side.hardware, result.estimate.reason);
    if (result.estimate.status == Status::incomplete)
        throw IncompleteError(why);
    throw NoEstimateError(why);
}

} // namespace

DifferenceAnswer explain_difference(const Session& session, DifferenceRequest request) {
    DifferenceAnswer answer;
    answer.results.push_back(estimate_side(session, request.before));
    answer.results.push_back(estimate_side(session, request.after));
    request.cost = on_one_basis(answer.results, request.cost);
    answer.difference = explain_difference(record_of(answer.results[0], request.cost),
                                           record_of(answer.results[1], request.cost), *request.metric);
    const auto before = measure_of(answer.results[0], *request.metric, request.cost),
               after = measure_of(answer.results[1], *request.metric, request.cost);
    if (before && after) {
        const double p =
            probability_better(*request.metric, answer.results[1], *after, answer.results[0], *before);
        answer.odds = better(*request.metric, after->value, before->value) ? p : 1 - p;
    }
    answer.request = std::move(request);
    return answer;
}

} // namespace archsim
