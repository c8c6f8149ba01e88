#include "answers/study/study.hpp"

#include "result/format_parts.hpp"
#include "session/prepared.hpp"
#include "session/usual_precision.hpp"

namespace archsim {

namespace {

/// A cell without an estimate.
Result failed_cell(const std::string& model, const std::string& hardware, const Conditions& conditions,
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

} // namespace

std::size_t Study::cells() const {
    std::size_t count = 0;
    for (const StudyGroup& group : groups)
        count += group.results.size();
    return count;
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

} // namespace archsim
