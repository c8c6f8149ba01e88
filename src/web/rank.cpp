// "rank" and "export": one model on many devices.

#include "answers/compare/compare_models_report.hpp"
#include "archsim/core/finding.hpp"
#include "core/lists.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/ranking_table.hpp"
#include "report/blocks/result_text.hpp"
#include "report/blocks/verdict.hpp"
#include "result/ranking.hpp"
#include "web/answers.hpp"

#include <fmt/format.h>

namespace archsim::web {

namespace {

/// Rows of a decision that stand above the ranking.
constexpr std::size_t kDecided = 5;

Json row_json(const Result& result, int place) {
    return {{"hardware", result.hardware},
            {"label", hardware_label(result)},
            {"family", result.device ? Json(name_of(result.device->family)) : Json(nullptr)},
            {"status", status_text(result.estimate)},
            {"priced", result.device && (result.device->list_price || result.device->cloud_price)},
            {"evidence", result.ok() ? Json(evidence_text(evidence_of(result))) : Json(nullptr)},
            {"place", may_lead(result.estimate) ? place : 0}};
}

} // namespace

ModelComparison compare(const Session& session, const Question& question) {
    CompareModelsRequest request;
    request.models = {question.model};
    request.deployment = question.deployment;
    request.hardware = question.hardware;
    if (request.hardware.empty() && request.deployment.empty())
        request.hardware = session.hardware().device_ids();
    request.workload = question.workload;
    request.conditions = question.conditions;
    request.decision = question.limits;
    request.decision.cost = question.costs;
    return compare_models(session, std::move(request), question.workload.model);
}

Json answer_rank(const Session& session, const Question& question) {
    const ModelComparison c = compare(session, question);
    const Metric& by =
        question.sort != nullptr ? *question.sort : usual_order(c.results, question.conditions.scenario);
    const std::vector<std::string> labels = hardware_labels(c.results);
    const DecisionRequest& limits = c.request.decision; // with costs on one basis
    const Decision decision = decide(c.results, limits);
    std::vector<Block> verdicts = {verdict_block({c.results, labels, by, limits.cost, &decision,
                                                  c.modes.front(), c.tried.front(), c.too_large.front()})};
    std::vector<Block> decided, all_decided; // of many devices a few, and all of them to unfold
    if (question.limits.active())
        decided = decision_blocks(decision, c.results, labels);
    for (Block& block : decided)
        if (Table* table = std::get_if<Table>(&block); table != nullptr && table->rows.size() > kDecided) {
            all_decided.emplace_back(*table);
            table->rows.resize(kDecided);
            table->notes.clear();
        }
    append(verdicts, std::move(decided));
    const std::vector<Block> facts = {model_facts(*c.models.front(), c.results)};
    const std::vector<Block> table = {
        ranking_table(c.results, by, shown_metrics(c.results, {.conditions = limits.cost}))};
    Json answer = {{"title", c.models.front()->title},
                   {"verdict", html_fragment(verdicts, "verdict")},
                   {"decisions", all_decided.empty() ? "" : html_fragment(all_decided, "decisions")},
                   {"facts", html_fragment(facts, "facts")},
                   {"ranking", html_fragment(table, "ranking")},
                   {"rows", Json::array()},
                   {"advice", Json::array()},
                   {"findings", Json::array()}};
    if (question.charts)
        answer["charts"] = html_fragment(comparison_charts(c.results), "charts");
    for (const Rank& rank : rank_results(c.results, by))
        answer["rows"].push_back(row_json(c.results[rank.result], rank.place));
    for (const TriedChange& change : c.tried.front())
        if (const Result& result = c.results[change.result];
            c.results.size() == 1 || may_lead(result.estimate))
            answer["advice"].push_back(
                {{"hardware", result.hardware}, {"asked", change.asked}, {"gain", change.gain}});
    for (const Finding& finding : c.models.front()->findings)
        answer["findings"].push_back({{"severity", name_of(finding.severity)}, {"text", to_string(finding)}});
    return answer;
}

Json answer_export(const Session& session, const Question& question) {
    const auto format = value_named<Format>(question.format);
    if (!format)
        throw UsageError(
            fmt::format("\"{}\" is not one of text, markdown, json, csv, html", question.format));
    const ModelComparison c = compare(session, question);
    CompareModelsView view;
    view.sort_by = question.sort;
    RenderOptions look;
    look.date = question.date;
    return {{"text", render(c, *format, view, look)}};
}

} // namespace archsim::web
