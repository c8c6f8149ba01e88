#include "session/other_conditions.hpp"

#include <algorithm>
#include <string>

namespace archsim {

std::vector<Result> modes_within(const Session& session, const Workload& workload,
                                 std::span<const Result> results, const DecisionRequest& limits) {
    std::vector<Result> found;
    if (limits.constraints.empty())
        return found;
    const Decision decision = decide(results, limits);
    for (std::size_t i = 0; i < results.size(); ++i) {
        const Result& result = results[i];
        if (decision.qualifies[i] || !result.device || result.conditions.changes != MachineChanges{})
            continue;
        const std::string base = result.hardware.substr(0, result.hardware.rfind('@'));
        for (const PowerMode& mode : result.device->power_modes) {
            const bool shown = std::any_of(results.begin(), results.end(), [&](const Result& r) {
                return r.device && r.device->id == result.device->id && r.power_mode == mode.name &&
                       r.conditions.stack == result.conditions.stack &&
                       r.conditions.precision == result.conditions.precision;
            });
            if (shown)
                continue;
            Conditions conditions = result.conditions;
            conditions.keep_subgraphs = false;
            std::vector<Result> one = {session.estimate(workload, base + "@" + mode.name, conditions)};
            if (decide(one, limits).qualifies.front())
                found.push_back(std::move(one.front()));
        }
    }
    return found;
}

} // namespace archsim
