#include "fit/parameters/priced_runs.hpp"

#include "fit/errors/power_validation.hpp"

#include <optional>

namespace archsim {

namespace {

/// Far above what any device draws.
constexpr double kNoLimit = 1e3;
/// Share of the limit from which on it may have lowered the clock.
constexpr double kAtLimit = 0.99;

} // namespace

std::map<std::string, std::vector<PricedRun>> priced_runs(const RowEstimator& estimator,
                                                          const std::vector<MeasuredRow>& rows) {
    MachineChanges unlimited;
    unlimited[Lever::power_limit] = kNoLimit;
    std::map<std::string, const MeasuredRow*> energies;
    for (const MeasuredRow& row : rows)
        if (row.metric == MeasuredMetric::energy_mj)
            energies.emplace(run_of(row), &row);
    std::map<std::string, std::vector<PricedRun>> families;
    for (const MeasuredRow& row : rows) {
        if (row.metric != MeasuredMetric::power_w || row.weight < kTrustedWeight)
            continue;
        const std::optional<PowerParts> limited = estimator.power_parts(row);
        const std::optional<PowerParts> parts = limited && limited->total() >= kAtLimit * limited->limit_w
                                                    ? estimator.power_parts(row, unlimited)
                                                    : limited;
        if (!parts)
            continue;
        PricedRun run{row.value, *parts, &row, limited->limit_w};
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
