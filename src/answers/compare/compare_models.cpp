#include "archsim/run/compare_models.hpp"

#include "session/usual_precision.hpp"

#include "core/lists.hpp"
#include "result/cost_terms.hpp"
#include "result/format_parts.hpp"
#include "session/other_conditions.hpp"
#include "session/prepared.hpp"

#include <algorithm>

namespace archsim {

/// `load`: the model of a name.
template <class Load>
static ModelComparison compare(const Session& session, CompareModelsRequest request, const Load& load) {
    ModelComparison comparison;
    if (request.hardware.empty() && request.deployment.empty())
        request.deployment = "datacenter";
    if (!request.deployment.empty()) {
        const Deployment deployment = session.hardware().deployment(request.deployment);
        for (const std::string& name : deployment.hardware)
            if (!contains(request.hardware, name))
                request.hardware.push_back(name);
        comparison.deployment_title = deployment.title;
        comparison.deployment_use = deployment.description;
    }
    request.hardware =
        each_once(session.hardware(),
                  in_modes_within(session.hardware(), with_every_mode(session.hardware(), request.hardware),
                                  request.decision.constraints));
    std::vector<std::shared_ptr<const Device>> known; // unknown names stop here, before any work
    for (const std::string& hardware : request.hardware)
        known.push_back(session.hardware().device(hardware).device);
    request.decision.cost = with_known_prices(request.decision.cost, known, session.hardware());
    for (const std::string& stack : request.stacks)
        session.hardware().runtime(stack);
    std::vector<std::string> stacks = request.stacks;
    if (stacks.empty())
        stacks.push_back(request.conditions.stack);
    std::vector<double> counts = request.device_counts;
    if (counts.empty())
        counts.push_back(request.conditions.devices);
    std::vector<Model> models = mapped(request.models, [&](const std::string& name) { return load(name); });
    for (const Model& model : models) {
        Workload workload = request.workload;
        workload.model = model;
        workload = usual_question(of_shared_sizes(std::move(workload), models));
        comparison.models.push_back(session.facts(workload));
        std::vector<Conditions> each_format; ///< as asked for
        for (const std::string& format : request.precisions)
            ask_precision(each_format.emplace_back(request.conditions), format);
        if (each_format.empty())
            each_format.push_back(request.conditions);
        const std::size_t before = comparison.results.size();
        std::vector<Result>& too_large = comparison.too_large.emplace_back();
        for (const std::string& hardware : request.hardware)
            for (const double devices : counts) {
                const std::size_t first = comparison.results.size();
                for (const std::string& stack : stacks) {
                    for (Conditions conditions : each_format) {
                        conditions.devices = devices;
                        conditions.stack = stack;
                        Result result = session.estimate(workload, hardware, conditions);
                        if (result.ok() && may_take_fewer_bits(workload, conditions))
                            if (Result usual =
                                    session.estimate(workload, hardware, settled(conditions, workload));
                                usual.estimate.status == Status::does_not_fit)
                                too_large.push_back(std::move(usual));
                        // "usual" may be a format that is named, "cuda" and "pytorch-eager" one stack.
                        const auto same = [&](const Result& r) {
                            return r.conditions.precision == result.conditions.precision &&
                                   (r.runtime && result.runtime ? r.runtime->id == result.runtime->id
                                                                : r.conditions.stack == stack);
                        };
                        if (std::none_of(comparison.results.begin() + static_cast<std::ptrdiff_t>(first),
                                         comparison.results.end(), same))
                            comparison.results.push_back(std::move(result));
                    }
                }
            }
        const auto own = std::span(comparison.results).subspan(before);
        DecisionRequest limits = request.decision;
        limits.cost = on_one_basis(own, limits.cost);
        comparison.modes.push_back(modes_within(session, workload, own, limits));
        comparison.tried.push_back(request.conditions.keep_subgraphs
                                       ? tried_changes(session, workload, own, limits)
                                       : std::vector<TriedChange>{});
    }
    request.decision.cost = on_one_basis(comparison.results, request.decision.cost);
    comparison.request = std::move(request);
    return comparison;
}

ModelComparison compare_models(const Session& session, CompareModelsRequest request) {
    return compare(session, std::move(request), [&](const std::string& name) { return session.load(name); });
}

ModelComparison compare_models(const Session& session, CompareModelsRequest request, const Model& loaded) {
    return compare(session, std::move(request), [&](const std::string&) { return loaded; });
}

} // namespace archsim
