#include "run/fit/priced_runs.hpp"

#include "archsim/compare/power_validation.hpp"

#include <optional>

namespace archsim {

std::map<std::string, std::vector<PricedRun>> priced_runs(const RowEstimator& estimator,
                                                          const std::vector<MeasuredRow>& rows) {
    std::map<std::string, const MeasuredRow*> energies;
    for (const MeasuredRow& row : rows)
        if (row.metric == MeasuredMetric::energy_mj)
            energies.emplace(run_of(row), &row);
    std::map<std::string, std::vector<PricedRun>> families;
    for (const MeasuredRow& row : rows) {
        if (row.metric != MeasuredMetric::power_w || row.weight < kTrustedWeight)
            continue;
        const std::optional<PowerParts> parts = estimator.power_parts(row);
        if (!parts)
            continue;
        PricedRun run{row.value, *parts, &row};
        if (const auto energy = energies.find(run_of(row)); energy != energies.end()) {
            const double all_w = row.value * (row.boundary == PowerBoundary::wall ? 1 : row.devices);
            const double measured_s = energy->second->value * 1e-3 / all_w;
            for (double& watts : run.parts.event_w)
                watts *= parts->item_s / measured_s;
        }
        families[parts->family].push_back(run);
    }
    return families;
}

} // namespace archsim
