#include "archsim/report/study.hpp"

#include "archsim/core/version.hpp"
#include "report/number_format.hpp"
#include "report/ranking_table.hpp"
#include "report/result_text.hpp"
#include "report/results_json.hpp"

#include <fmt/format.h>

namespace archsim {

namespace {

RankBy order_of(const StudyRequest& request) {
    return ranked_by(request.conditions.scenario);
}

Facts summary(const Study& study) {
    const StudyRequest& q = study.request;
    Facts facts;
    facts.items.push_back(
        {"Combinations", fmt::format("{} = {} models x {} devices x {} software stacks x {} "
                                     "batch sizes x {} formats",
                                     study.cells(), q.models.size(), q.devices.size(), q.stacks.size(),
                                     q.batch_sizes.size(), q.precisions.size())});
    for (const Status status : {Status::ok, Status::unsupported, Status::does_not_fit, Status::incomplete})
        if (const std::size_t count = study.cells(status); count > 0)
            facts.items.push_back({std::string(name_of(status)), std::to_string(count), 1});
    return facts;
}

Table winners(const Study& study) {
    Table table;
    table.title = "Best of Each Combination";
    table.columns = {{"Model", "", "model"},
                     {"Batch", "", "batch_size", Align::right},
                     {"Asked", "", "precision"},
                     {"Hardware", "", "hardware"},
                     {"Runtime", "", "runtime"},
                     {"Latency", "ms", "latency_s", Align::right},
                     {"FPS", "", "throughput_per_s", Align::right},
                     {"Energy", "mJ/inf", "energy_per_inference_j", Align::right, 1}};
    for (const StudyGroup& group : study.groups) {
        const auto ranks = rank_results(group.results, order_of(study.request));
        std::vector<Cell> row{{group.model},
                              {std::to_string(group.batch_size), static_cast<double>(group.batch_size)},
                              {group.precision}};
        if (ranks.empty() || ranks.front().place == 0) {
            row.push_back({"none", {}, Tone::bad});
            while (row.size() < table.columns.size())
                row.push_back({"-"});
        } else {
            const Result& best = group.results[ranks.front().result];
            const Estimate& e = best.estimate;
            row.push_back({hardware_label(best) + (ranks.front().tied ? " =" : "")});
            row.push_back({runtime_label(best)});
            row.push_back({format_number(e.latency_s * 1e3), e.latency_s});
            row.push_back({format_number(e.throughput_per_s), e.throughput_per_s});
            row.push_back({format_number(e.energy_per_inference_j * 1e3), e.energy_per_inference_j});
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

} // namespace

Report describe(const Study& study) {
    const StudyRequest& q = study.request;
    Report report;
    report.title = q.title.empty() ? "Study" : q.title;
    report.blocks.push_back(Heading{1, fmt::format("STUDY: {}", report.title)});
    if (!q.description.empty())
        report.blocks.push_back(Paragraph{q.description});
    report.blocks.push_back(summary(study));
    report.blocks.push_back(winners(study));
    for (const StudyGroup& group : study.groups) {
        report.blocks.push_back(
            Heading{2, fmt::format("{}, batch size {}, {}", group.model, group.batch_size, group.precision)});
        report.blocks.push_back(ranking_table(group.results, q.conditions.scenario));
    }
    return report;
}

Report tabulate(const Study& study) {
    std::vector<RankedGroup> groups;
    for (const StudyGroup& group : study.groups)
        groups.push_back(
            {group.results, static_cast<double>(group.batch_size), study.request.conditions.scenario});
    Report report;
    report.title = study.request.title;
    report.blocks.push_back(results_table(groups));
    return report;
}

std::string to_json(const Study& study) {
    using Json = nlohmann::ordered_json;
    const StudyRequest& q = study.request;
    const auto& prompt = q.workload.prompt;
    Json runtimes = Json::array();
    for (const std::string& name : q.stacks)
        runtimes.push_back(name.empty() ? "default" : name);
    Json document = {{"schema", "archsim.study/1"}, {"version", version()}};
    document["request"] = {{"file", q.file},
                           {"title", q.title},
                           {"description", q.description},
                           {"models", q.models},
                           {"devices", q.devices},
                           {"runtimes", std::move(runtimes)},
                           {"batch_sizes", q.batch_sizes},
                           {"precisions", q.precisions},
                           {"dims", q.workload.sizes.dims},
                           {"scenario", name_of(q.conditions.scenario)},
                           {"scope", name_of(q.conditions.scope)},
                           {"prompt_tokens", prompt ? Json(prompt->tokens) : Json(nullptr)},
                           {"generate_tokens", prompt ? Json(prompt->generate) : Json(nullptr)}};
    Json& counts = document["counts"] = {{"cells", study.cells()}};
    for (const Status status : {Status::ok, Status::unsupported, Status::does_not_fit, Status::incomplete})
        counts[std::string(name_of(status))] = study.cells(status);
    Json& results = document["results"] = Json::array();
    for (const StudyGroup& group : study.groups)
        for (const Rank& rank : rank_results(group.results, order_of(q)))
            results.push_back(
                result_json(group.results[rank.result], static_cast<double>(group.batch_size), rank.place));
    return document.dump(2) + "\n";
}

} // namespace archsim
