#include "archsim/run/study.hpp"

#include "run/subject.hpp"

#include <exception>

namespace archsim {

namespace {

/// A cell without an estimate.
Result failed_cell(const std::string& model, const std::string& hardware, const RunOptions& options,
                   std::string reason) {
    auto facts = std::make_shared<ModelFacts>();
    facts->name = facts->title = model;
    Result cell;
    cell.model = std::move(facts);
    cell.hardware = hardware;
    cell.runtime_asked = options.runtime;
    cell.requested = options.precision;
    cell.estimate.status = Status::incomplete;
    cell.estimate.reason = std::move(reason);
    return cell;
}

std::optional<GenerationRequest> generation_of(const StudyRequest& request, std::int64_t batch) {
    if (request.prompt_tokens == 0 && request.generate_tokens == 0)
        return std::nullopt;
    GenerationRequest generation;
    if (request.prompt_tokens > 0)
        generation.prompt_tokens = request.prompt_tokens;
    if (request.generate_tokens > 0)
        generation.generate_tokens = request.generate_tokens;
    generation.batch = batch;
    return generation;
}

} // namespace

Study run_study(const Session& session, StudyRequest request, bool allow_unknown) {
    Study study;
    Bindings bindings;
    bindings.dims = request.dims;
    for (const std::string& model : request.models)
        for (const std::int64_t batch : request.batch_sizes) {
            std::optional<Subject> subject;
            std::string obstacle;
            try {
                subject = make_subject(session, model, batch, bindings, generation_of(request, batch));
            } catch (const std::exception& problem) {
                obstacle = problem.what();
            }
            for (const std::string& precision : request.precisions) {
                StudyGroup group{model, precision, batch, {}};
                RunOptions options;
                options.precision = PrecisionConfig::parse(precision).value();
                options.scenario = request.scenario;
                options.scope = request.scope;
                options.allow_unknown = allow_unknown;
                options.keep_subgraphs = false;
                for (const std::string& hardware : request.devices)
                    for (const std::string& runtime : request.runtimes) {
                        options.runtime = runtime;
                        try {
                            group.results.push_back(subject
                                                        ? subject->run(hardware, options)
                                                        : failed_cell(model, hardware, options, obstacle));
                        } catch (const std::exception& problem) {
                            group.results.push_back(failed_cell(model, hardware, options, problem.what()));
                        }
                    }
                study.groups.push_back(std::move(group));
            }
        }
    study.request = std::move(request);
    return study;
}

int exit_code(const Study& study) {
    return study.cells(Status::incomplete) > 0 ? 3 : 0;
}

} // namespace archsim
