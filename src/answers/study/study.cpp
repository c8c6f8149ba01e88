#include "answers/study/study.hpp"

#include "core/lists.hpp"
#include "fields/question_json.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/ranking_table.hpp"
#include "report/blocks/result_row.hpp"
#include "report/blocks/result_text.hpp"
#include "result/cost_terms.hpp"
#include "result/format_parts.hpp"
#include "session/prepared.hpp"
#include "session/usual_precision.hpp"

#include <algorithm>

namespace archsim {

static Result failed_cell(const std::string& model, const std::string& hardware, const Conditions& conditions,
                          std::string reason) {
    auto facts = std::make_shared<ModelFacts>();
    facts->name = facts->title = model;
    Result cell;
    cell.model = std::move(facts);
    cell.hardware = hardware;
    cell.conditions = conditions;
    cell.estimate.status = Status::incomplete;
    cell.estimate.reason = std::move(reason);
    return cell;
}

std::size_t Study::cells() const {
    return sum_of(groups, [](const StudyGroup& group) { return group.results.size(); });
}

std::size_t Study::cells(Status status) const {
    std::size_t count = 0;
    for (const StudyGroup& group : groups)
        for (const Result& result : group.results)
            count += result.estimate.status == status ? 1 : 0;
    return count;
}

Study run_study(const Session& session, StudyRequest request) {
    Study study;
    Workload workload = request.workload;
    Conditions conditions = request.conditions;
    conditions.keep_subgraphs = false;
    std::vector<Model> models; ///< those that can be read
    for (const std::string& model : request.models)
        try {
            models.push_back(session.load(model));
        } catch (const Error&) { // told below
        }
    for (const std::string& model : request.models) {
        std::string obstacle;
        workload.sizes = request.workload.sizes;
        workload.prompt = request.workload.prompt;
        try {
            workload.model = session.load(model);
            workload = usual_question(of_shared_sizes(std::move(workload), models));
        } catch (const Error& problem) {
            obstacle = problem.what();
        }
        for (const std::int64_t batch : request.batch_sizes)
            for (const std::string& precision : request.precisions) {
                workload.batch = batch;
                conditions.precision = AskedPrecision{};
                conditions.precision.strict_fp32 = request.conditions.precision.strict_fp32;
                if (!precision.empty())
                    ask_precision(conditions, precision);
                const Conditions meant = settled(conditions, workload);
                const std::string used(meant.format_of_device ? "usual" : name_of(meant.precision.compute));
                StudyGroup group{model, precision.empty() ? used : precision, batch, {}};
                for (const std::string& hardware : request.devices)
                    for (const std::string& stack : request.stacks) {
                        conditions.stack = stack;
                        try {
                            group.results.push_back(obstacle.empty()
                                                        ? session.estimate(workload, hardware, conditions)
                                                        : failed_cell(model, hardware, conditions, obstacle));
                        } catch (const Error& problem) {
                            group.results.push_back(failed_cell(model, hardware, conditions, problem.what()));
                        }
                    }
                study.groups.push_back(std::move(group));
            }
    }
    study.request = std::move(request);
    return study;
}

/// "12 of 14 combinations run. Fastest most often: H100 (5 of 6)." The best of a group is its first place.
static std::vector<std::string> study_lines(const Study& study) {
    const Metric& by = ranked_by(study.request.conditions);
    std::map<std::string, std::size_t> wins;
    std::size_t decided = 0;
    for (const StudyGroup& group : study.groups)
        if (const auto winner = find_winner(group.results, by); winner && winner->leads) {
            ++wins[hardware_label(group.results[winner->best])];
            ++decided;
        }
    std::vector<std::string> lines = {
        fmt::format("{} of {} combinations run.", study.cells(Status::ok), study.cells())};
    const auto most = std::ranges::max_element(wins, {}, [](const auto& one) { return one.second; });
    if (most != wins.end())
        lines.front() += fmt::format(" {} most often: {} ({} of {} comparisons).", by.best, most->first,
                                     most->second, decided);
    return lines;
}

static Facts study_summary(const Study& study) {
    const StudyRequest& q = study.request;
    Facts facts;
    facts.add("Combinations",
              fmt::format("{} = {} x {} x {} x {} x {}", study.cells(), plural(q.models.size(), "model"),
                          plural(q.devices.size(), "device"), plural(q.stacks.size(), "software stack"),
                          plural(q.batch_sizes.size(), "batch size"), plural(q.precisions.size(), "format")));
    for (const Status status : {Status::ok, Status::unsupported, Status::does_not_fit, Status::incomplete})
        if (const std::size_t count = study.cells(status); count > 0)
            facts.add(std::string(name_of(status)), std::to_string(count), 1);
    return facts;
}

static MetricView study_view(const Study& study) {
    return {study.request.metrics,
            study.groups.empty() ? CostOptions{} : on_one_basis(study.groups.front().results, {})};
}

struct FirstPlace {
    const StudyGroup* group;
    const Result* best; ///< null: none may be named first
    bool tied;
};
static Table winners(const Study& study) {
    using F = FirstPlace;
    const Metric& by = ranked_by(study.request.conditions);
    std::vector<FirstPlace> rows;
    for (const StudyGroup& group : study.groups) {
        const auto ranks = rank_results(group.results, by);
        const auto winner = find_winner(group.results, by);
        const auto rank =
            std::ranges::find_if(ranks, [&](const Rank& r) { return winner && r.result == winner->best; });
        rows.push_back({&group, winner && winner->leads ? &group.results[winner->best] : nullptr,
                        rank != ranks.end() && rank->tied});
    }
    std::vector<ColumnOf<FirstPlace>> columns = {
        {{"Model", "", "model"}, [](const F& row) { return Cell{row.group->model}; }},
        {{"Batch", "", "batch_size", Align::right},
         [](const F& row) { return count_cell(true, static_cast<double>(row.group->batch_size)); }},
        {{"Asked", "", "precision"}, [](const F& row) { return Cell{row.group->precision}; }},
        {{"Hardware", "", "hardware"},
         [](const F& row) {
             return row.best != nullptr ? Cell{hardware_label(*row.best) + (row.tied ? " =" : "")}
                                        : toned_cell("none", Tone::bad);
         }},
        {{"Runs", "", "executed_precision"},
         [](const F& row) { return row.best != nullptr ? multiplied_format(*row.best) : std::string(); }},
        {{"Stack", "", "runtime"},
         [](const F& row) { return row.best != nullptr ? runtime_label(*row.best) : std::string(); }}};
    for (const Metric* m : study.request.metrics->rows()) {
        if (!m->recommend)
            continue;
        columns.push_back({column_of(*m), [m, &study](const F& row) {
                               return row.best != nullptr
                                          ? cell_of(*m,
                                                    measure_of(*row.best, *m, study_view(study).conditions))
                                          : Cell{};
                           }});
    }
    return table_of("Best of Each Combination", columns, rows);
}

/// Every cell, group by group, best first.
static std::vector<RankedResult> study_rows(const Study& study) {
    return flattened(study.groups, [&](const StudyGroup& group) {
        return ranked(
            {group.results, static_cast<double>(group.batch_size), &ranked_by(study.request.conditions)},
            study_view(study));
    });
}

/// The question asked of every cell, under the keys of a study file; devices are its hardware.
static std::string study_key(const std::string& key) {
    if (key == "batch_size" || key == "precision" || key == "runtime")
        return "";
    return key == "devices" ? "device_count" : key;
}

static Members<Study> study_request_members() {
    using S = Study;
    const auto asked = [](auto StudyRequest::*member) {
        return [member](const S& s) { return s.request.*member; };
    };
    return Members<S>{
        {"file", "", asked(&StudyRequest::file)},
        {"title", "", asked(&StudyRequest::title)},
        {"description", "", asked(&StudyRequest::description)},
        {"models", "", asked(&StudyRequest::models)},
        {"devices", "", asked(&StudyRequest::devices)},
        {"runtimes", "software stacks; default: the devices' own",
         [](const S& s) {
             return mapped(s.request.stacks,
                           [](const std::string& name) { return name.empty() ? "default" : name; });
         }},
        {"batch_sizes", "", asked(&StudyRequest::batch_sizes)},
        {"precisions", "", [](const S& s) { return distinct(s.groups, &StudyGroup::precision); }}}
        .with(question_members().under(study_key).of<S>([](const S& s) {
            return Question{s.request.workload, s.request.conditions};
        }));
}

Report describe(const Study& study, PlainView, Format format) {
    const StudyRequest& q = study.request;
    Report report{q.title.empty() ? "Study" : q.title, {}};
    if (format == Format::csv)
        return {report.title, {table_of({}, result_columns(study_view(study)), study_rows(study))}};
    add_blocks(report, Heading{1, fmt::format("STUDY: {}", report.title)}, Takeaway{study_lines(study)});
    if (!q.description.empty())
        report.blocks.push_back(Paragraph{q.description});
    add_blocks(report, study_summary(study), winners(study));
    for (const StudyGroup& group : study.groups) {
        add_blocks(
            report,
            Heading{2, fmt::format("{}, batch size {}, {}", group.model, group.batch_size, group.precision)},
            ranking_table(group.results, ranked_by(q.conditions), study_view(study)));
    }
    return report;
}

AnswerDocument document_of(const Study& study, PlainView) {
    const MetricView view = study_view(study);
    using S = Study;
    std::vector<Member<S>> counts = {
        {"cells", "combinations of the study", [](const S& s) { return s.cells(); }}};
    for (const Status status : {Status::ok, Status::unsupported, Status::does_not_fit, Status::incomplete})
        counts.emplace_back(std::string(name_of(status)), "",
                            [status](const S& s) { return s.cells(status); });
    return {study,
            "study",
            "every combination that a study file names",
            {{"verdict", "the answer", study_lines, lines_members()},
             {"request", "what was asked", std::identity{}, study_request_members()},
             {"counts", "", std::identity{}, Members<S>(std::move(counts))},
             {"results", "group by group, best first", study_rows, result_members(view)}}};
}

} // namespace archsim
