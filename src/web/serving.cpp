// "serve", "size" and "cost": what serve_model, size_service and compare_models --cost answer.

#include "answers/serving/serving_report.hpp"
#include "answers/sizing/size_service.hpp"
#include "answers/sizing/sizing_report.hpp"
#include "archsim/core/finding.hpp"
#include "archsim/run/serve.hpp"
#include "report/blocks/explanations.hpp"
#include "web/answers.hpp"
#include "web/comparison.hpp"
#include "web/fragments.hpp"

#include <fmt/format.h>

namespace archsim::web {

namespace {

ServingRequest serving_request(const Question& question) {
    if (question.hardware.empty())
        throw UsageError(fmt::format("\"{}\" is asked of devices: name them in \"hardware\"", question.ask));
    ServingRequest request = question.load.request();
    request.sizes = question.workload.sizes;
    return request;
}

} // namespace

Json answer_serve(const Session& session, const Question& question) {
    const ServingRequest request = serving_request(question);
    const bool loaded = request.load.rate_per_s > 0 || request.plan.concurrency > 0 || request.load.trace;
    if (loaded == question.level.any())
        throw UsageError(loaded ? "give a load or limits on waiting: of limits the highest rate is found"
                                : "give a load (rate or concurrency), or limits on waiting (ttft_p99)");
    std::vector<ServingResult> results;
    for (const std::string& device : question.hardware)
        results.push_back(
            loaded ? run_serving(session, question.workload.model, device, question.conditions, request)
                   : highest_rate(session, question.workload.model, device, question.conditions, request,
                                  question.level));
    return {{"sections", sections(describe_serving(results, question.level), "serve")},
            {"json", serving_json(results, {question.model, question.hardware, question.conditions, request,
                                            loaded ? ServiceLevel{} : question.level})}};
}

Json answer_size(const Session& session, const Question& question) {
    SizingRequest request;
    request.serving = serving_request(question);
    if (!question.load.has("requests"))
        request.serving.load.count = 0; // as many as the load needs
    request.level = question.level;
    request.confidence = question.confidence;
    request.cost = question.costs;
    const std::vector<Conditions> formats = {question.conditions};
    const SizingAnswer answer =
        size_service(session, question.workload.model, question.hardware, formats, request);
    return {{"sections", sections(describe(answer, PlainView{}, Format::html), "size")},
            {"json", to_json(answer, PlainView{})}};
}

Json answer_cost(const Session& session, const Question& question) {
    const ModelComparison comparison = compare(session, question);
    const Explanations asked = {.cost = true, .conditions = question.costs};
    return {{"html", html_fragment(explanation_blocks(comparison.results, asked), "cost")}};
}

} // namespace archsim::web
