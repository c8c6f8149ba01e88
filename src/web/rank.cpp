// "rank" and "export": one model on many devices.

#include "archsim/compare/ranking.hpp"
#include "archsim/core/finding.hpp"
#include "archsim/report/compare_models_report.hpp"
#include "archsim/report/comparison_charts.hpp"
#include "archsim/report/decision_report.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/ranking_table.hpp"
#include "report/blocks/result_text.hpp"
#include "web/answers.hpp"
#include "web/comparison.hpp"
#include "web/fragments.hpp"

#include <fmt/format.h>
#include <iterator>

namespace archsim::web {

namespace {

/// How many of those that tie with the best are named.
constexpr std::size_t kNamed = 3;

/// The answer in one line: the best device, how sure, and who cannot be told apart from it.
Paragraph verdict(std::span<const Result> results, const Metric& by) {
    const auto winner = find_winner(results, by);
    if (!winner)
        return {"None of these devices runs it: the table says why.", Tone::bad};
    const Measure best = *measure_of(results[winner->best], by);
    std::string line = fmt::format("{}: {} is best with {}", by.title, hardware_label(results[winner->best]),
                                   format_value(by, best.value));
    if (best.interval.high > best.interval.low)
        line += fmt::format(" ({} to {})", format_value(by, best.interval.low),
                            format_value(by, best.interval.high));
    if (!winner->tied.empty()) {
        line += ", tied with ";
        for (std::size_t i = 0; i < winner->tied.size() && i < kNamed; ++i)
            line += (i > 0 ? ", " : "") + hardware_label(results[winner->tied[i]]);
        if (winner->tied.size() > kNamed)
            line += fmt::format(" and {} more", winner->tied.size() - kNamed);
    }
    if (results[winner->best].estimate.projected)
        line += ", projected: nothing of the kind was measured";
    if (winner->projected)
        line += fmt::format("; projected to do better, and not measured: {} ({})",
                            hardware_label(results[*winner->projected]),
                            format_value(by, measure_of(results[*winner->projected], by)->value));
    return {line + ".", Tone::strong};
}

Json row_json(const Result& result, int place) {
    return {{"hardware", result.hardware},
            {"label", hardware_label(result)},
            {"family", result.device ? Json(name_of(result.device->family)) : Json(nullptr)},
            {"status", name_of(result.estimate.status)},
            {"projected", result.ok() && result.estimate.projected},
            {"place", place}};
}

} // namespace

ModelComparison compare(const Session& session, const Question& question) {
    ModelComparison comparison;
    CompareModelsRequest& request = comparison.request;
    request.models = {question.model};
    request.hardware = question.hardware;
    request.workload = question.workload;
    request.conditions = question.conditions;
    request.decision = question.limits;
    if (request.hardware.empty() && !question.deployment.empty()) {
        const Deployment deployment = session.hardware().deployment(question.deployment);
        request.deployment = question.deployment;
        request.hardware = deployment.hardware;
        comparison.deployment_title = deployment.title;
    }
    if (request.hardware.empty())
        request.hardware = session.hardware().device_ids();
    comparison.models = {session.facts(request.workload)};
    for (const std::string& hardware : request.hardware)
        comparison.results.push_back(session.estimate(request.workload, hardware, request.conditions));
    return comparison;
}

Json answer_rank(const Session& session, const Question& question) {
    const ModelComparison c = compare(session, question);
    const Metric& by = question.ranked();
    std::vector<Block> verdicts = {verdict(c.results, by)};
    if (question.limits.active()) {
        auto decided =
            decision_blocks(decide(c.results, question.limits), c.results, hardware_labels(c.results));
        std::move(decided.begin(), decided.end(), std::back_inserter(verdicts));
    }
    const std::vector<Block> facts = {model_facts(*c.models.front(), c.results)};
    const std::vector<Block> table = {ranking_table(c.results, by, {})};
    Json answer = {{"title", c.models.front()->title},
                   {"verdict", html_fragment(verdicts, "verdict")},
                   {"facts", html_fragment(facts, "facts")},
                   {"ranking", html_fragment(table, "ranking")},
                   {"rows", Json::array()},
                   {"findings", Json::array()}};
    if (question.charts)
        answer["charts"] = html_fragment(comparison_charts(c.results), "charts");
    for (const Rank& rank : rank_results(c.results, by))
        answer["rows"].push_back(row_json(c.results[rank.result], rank.place));
    for (const Finding& finding : c.models.front()->findings)
        answer["findings"].push_back({{"severity", name_of(finding.severity)}, {"text", to_string(finding)}});
    return answer;
}

Json answer_export(const Session& session, const Question& question) {
    const auto format = parse_format(question.format);
    if (!format)
        throw UsageError(
            fmt::format("\"{}\" is not one of text, markdown, json, csv, html", question.format));
    const ModelComparison c = compare(session, question);
    CompareModelsView view;
    view.sort_by = question.sort;
    return {{"text", render(c, *format, view)}};
}

} // namespace archsim::web
