#include "report/answers/model_ranking.hpp"

#include "archsim/compare/bound_shares.hpp"
#include "archsim/compare/decisions.hpp"
#include "archsim/compare/ranking.hpp"
#include "report/blocks/command_text.hpp"
#include "report/blocks/result_text.hpp"
#include "report/blocks/shown_metrics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace archsim {

std::span<const Result> results_of(const ModelComparison& c, std::size_t model) {
    const std::size_t per_model = c.models.empty() ? 0 : c.results.size() / c.models.size();
    return std::span(c.results).subspan(model * per_model, per_model);
}

std::span<const Result> usual_of(const ModelComparison& c, std::size_t model) {
    return model < c.usual.size() ? std::span<const Result>(c.usual[model]) : std::span<const Result>();
}

std::span<const Result> modes_of(const ModelComparison& c, std::size_t model) {
    return model < c.modes.size() ? std::span<const Result>(c.modes[model]) : std::span<const Result>();
}

std::string asked_formats(const ModelComparison& c) {
    if (!c.request.precisions.empty())
        return fmt::format("{}", fmt::join(c.request.precisions, ", "));
    return c.request.conditions.format_of_device ? std::string("usual")
                                                 : precision_name(c.request.conditions.precision);
}

const Metric& order_of(const ModelComparison& c, std::span<const Result> results,
                       const CompareModelsView& view) {
    return view.sort_by != nullptr ? *view.sort_by : usual_order(results, c.request.conditions.scenario);
}

namespace {

/// What compare_architectures takes apart. Asked here by name: attribution is no part of the first tool's
/// library.
bool explained(const Metric& by) {
    return by == metric::latency || by == metric::throughput || by == metric::energy || by == metric::power ||
           by == metric::memory || by == metric::cost;
}

} // namespace

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
    const Workload& workload = c.request.workload;
    if (workload.prompt)
        return {fmt::format(
            "serve_model {} --hardware {} --precision {} --prompt-tokens {} --output-tokens {}{}", name, on,
            name_of(c.request.conditions.precision.activations), workload.prompt->tokens,
            workload.prompt->generate,
            leader.conditions.devices > 1 ? fmt::format(" --devices {:.0f}", leader.conditions.devices)
                                          : std::string())};
    if (leader.conditions.devices != 1)
        return {};
    std::vector<std::string> commands;
    if (leader.estimate.memory.kv_cache_bytes > 0) // one pass of what answers in many
        commands.push_back(fmt::format(
            "compare_models {} --hardware {} --prompt-tokens 512 --generate-tokens 128", name, on));
    if (leader.parts.empty())
        commands.push_back(fmt::format("analyze_graph_mapping {} --hardware {}{}", name, on,
                                       question_flags(workload, leader.conditions)));
    if (best.size() > 1 && explained(by) && best[1]->hardware != leader.hardware)
        commands.push_back(fmt::format(
            "compare_architectures {0} --architectures {1} {2} --explain-difference {1} {2} --metric {3}{4}",
            name, on, shell_quoted(best[1]->hardware), by.key,
            question_flags(workload, c.request.conditions)));
    if (const auto shares = bound_shares(leader); shares && shares->largest() == Bound::overhead) {
        Workload one = workload;
        one.batch = 1;
        commands.push_back(fmt::format("analyze_batch {} --hardware {}{}", name, on,
                                       question_flags(one, leader.conditions)));
    }
    return commands;
}

} // namespace archsim
