#include "answers/compare/compare_models_report.hpp"

#include "archsim/compare/decisions.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/result_text.hpp"
#include "result/bound_shares.hpp"
#include "result/decisions.hpp"
#include "result/ranking.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace archsim {

std::span<const Result> results_of(const ModelComparison& c, std::size_t model) {
    const std::size_t per_model = c.models.empty() ? 0 : c.results.size() / c.models.size();
    return std::span(c.results).subspan(model * per_model, per_model);
}

std::string asked_formats(const ModelComparison& c) {
    if (!c.request.precisions.empty())
        return fmt::format("{}", fmt::join(c.request.precisions, ", "));
    return c.request.conditions.format_of_device ? std::string("usual")
                                                 : precision_name(c.request.conditions.precision);
}

const Metric& order_of(const ModelComparison& c, std::span<const Result> results,
                       const CompareModelsView& view) {
    return view.sort_by != nullptr ? *view.sort_by : usual_order(results, c.request.conditions);
}

/// Fields that a server under load does not ask for: it forms its own batches, and its cache grows in blocks.
constexpr std::array<std::string_view, 5> kOfStepsAlone = {"batch_size", "context", "sampling", "scenario",
                                                           "scope"};
/// Fields that say how long a single pass is; a prompt does so itself.
constexpr std::array<std::string_view, 3> kOfPassesAlone = {"dims", "inputs", "input_shapes"};

Question asked_question(const ModelComparison& c) {
    for (const Result& result : c.results) {
        const bool alike = std::ranges::all_of(c.results, [&](const Result& other) {
            return other.conditions.precision == result.conditions.precision;
        });
        if (result.workload && alike) // with the format of the model's file
            return {*result.workload, c.request.conditions};
        break;
    }
    Workload asked = c.request.workload;
    asked.model = {}; // whose format not all of the results have, whether it was loaded already or not
    return {std::move(asked), c.request.conditions};
}

std::vector<std::string> next_commands(const ModelComparison& c, std::size_t model, const Metric& by,
                                       const CostOptions& conditions) {
    const auto results = results_of(c, model);
    const Decision decision = decide(results, c.request.decision);
    auto winner = winner_within(results, by, decision);
    if (!winner)
        winner = find_winner(results, by, conditions);
    if (!winner)
        return {};
    std::vector<const Result*> best = {&results[winner->best]};
    for (const Rank& rank : rank_results(results, by, conditions))
        if (rank.result != winner->best && rank.place > 0 && results[rank.result].ok())
            best.push_back(&results[rank.result]);
    const Result& leader = *best.front();
    const std::string name =
        shell_quoted(model < c.request.models.size() ? c.request.models[model] : c.models[model]->name);
    const std::string on = shell_quoted(leader.hardware);
    Question asked{leader.workload ? *leader.workload : c.request.workload, c.request.conditions};
    asked.conditions.duty = {}; // which these tools have no flags for
    Question of_leader = asked;
    of_leader.conditions.stack = leader.conditions.stack;
    of_leader.conditions.devices = leader.conditions.devices;
    for (const Result& r : of_model(c.too_large, model))
        if (r.hardware == leader.hardware)
            of_leader.conditions.precision = leader.conditions.precision;
    if (asked.workload.prompt) // a batch of sequences in step becomes as many requests in flight
        return {fmt::format("serve_model {} --hardware {}{} --concurrency {}", name, on,
                            command_flags(of_leader, kOfStepsAlone), asked.workload.batch)};
    if (leader.conditions.devices != 1)
        return {};
    std::vector<std::string> commands;
    // One pass of what answers in many; a decoder whose passes are counted already takes no prompt.
    const bool counted =
        std::ranges::any_of(leader.parts, [](const ResultPart& part) { return part.repeat > 1; });
    if (leader.estimate.memory.kv_cache_bytes > 0 && !counted) {
        Question answer = of_leader;
        answer.workload.prompt.emplace();
        commands.push_back(fmt::format("compare_models {} --hardware {}{}", name, on,
                                       command_flags(answer, kOfPassesAlone)));
    }
    if (leader.parts.empty())
        commands.push_back(
            fmt::format("analyze_graph_mapping {} --hardware {}{}", name, on, command_flags(of_leader)));
    if (best.size() > 1 && by.has_causes && best[1]->hardware != leader.hardware &&
        best[1]->conditions.stack == leader.conditions.stack) {
        commands.push_back(fmt::format(
            "compare_architectures {0} --architectures {1} {2} --explain-difference {1} {2} --metric {3}{4}",
            name, on, shell_quoted(best[1]->hardware), by.key, command_flags(of_leader)));
    }
    if (const auto shares = bound_shares(leader); shares && shares->largest() == Bound::overhead) {
        constexpr std::string_view kItsAxis[] = {"batch_size"};
        commands.push_back(
            fmt::format("analyze_batch {} --hardware {}{}", name, on, command_flags(of_leader, kItsAxis)));
    }
    return commands;
}

} // namespace archsim
