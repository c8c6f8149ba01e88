#include "archsim/run/compare_models.hpp"

#include "archsim/run/usual_precision.hpp"

#include "run/session/every_mode.hpp"

namespace archsim {

ModelComparison compare_models(const Session& session, CompareModelsRequest request) {
    ModelComparison comparison;
    if (request.hardware.empty()) {
        if (request.deployment.empty())
            request.deployment = "datacenter";
        const Deployment deployment = session.hardware().deployment(request.deployment);
        request.hardware = deployment.hardware;
        comparison.deployment_title = deployment.title;
    }
    request.hardware = with_every_mode(session.hardware(), request.hardware);
    for (const std::string& hardware : request.hardware)
        session.hardware().device(hardware); // unknown names stop here, before any work
    for (const std::string& stack : request.stacks)
        session.hardware().runtime(stack);
    std::vector<std::string> stacks = request.stacks;
    if (stacks.empty())
        stacks.push_back(request.conditions.stack);
    std::vector<double> counts = request.device_counts;
    if (counts.empty())
        counts.push_back(request.conditions.devices);
    for (const std::string& name : request.models) {
        Workload workload = request.workload;
        workload.model = session.load(name);
        comparison.models.push_back(session.facts(workload));
        Conditions settled_conditions = settled(request.conditions, workload);
        for (const std::string& hardware : request.hardware)
            for (const double devices : counts)
                for (const std::string& stack : stacks) {
                    Conditions conditions = settled_conditions;
                    conditions.devices = devices;
                    conditions.stack = stack;
                    comparison.results.push_back(session.estimate(workload, hardware, conditions));
                }
    }
    comparison.request = std::move(request);
    return comparison;
}

} // namespace archsim
