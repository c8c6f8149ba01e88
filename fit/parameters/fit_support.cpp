#include "fit/parameters/parameter_fit.hpp"
#include "fit/parameters/refit.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace archsim {

namespace {

struct Carried {
    std::set<std::size_t> rows;
    std::set<std::string> networks;
    std::size_t fitted = 0, tuned = 0;
};

const Fact* fact_of(const HardwareDatabase& hardware, const MeasuredRow& row, const RowEstimator& estimator,
                    const ParameterSite& site) {
    const auto device = hardware.device(row.hardware).device;
    return stated_at(*device, *hardware.runtime_for(*device, estimator.stack_of(row)), site);
}

} // namespace

std::vector<FitSupport> fit_support(const RowEstimator& estimator, const std::vector<MeasuredRow>& rows,
                                    unsigned threads) {
    const HardwareDatabase& hardware = estimator.session().hardware();
    const std::vector<TunedParameter> parameters = fitted_parameters(estimator, rows);
    const ParameterFit fit(estimator, rows, parameters, threads);
    const std::vector<double> weights = fit.weights();
    std::map<std::pair<std::string, std::string>, Carried> owners;
    for (std::size_t j = 0; j < parameters.size(); ++j) {
        std::set<std::pair<std::string, std::string>> of_parameter;
        for (const ParameterSite& site : parameters[j].sites)
            of_parameter.insert(site.device.empty() ? std::pair{std::string("stack"), site.runtime}
                                                    : std::pair{std::string("device"), site.device});
        const Fact* fact = nullptr;
        std::vector<std::size_t> decided;
        for (std::size_t i = 0; i < rows.size(); ++i)
            if (weights[i] > 0 && fit.touches(i, j)) {
                decided.push_back(i);
                for (const ParameterSite& site : parameters[j].sites)
                    if (fact == nullptr)
                        fact = fact_of(hardware, rows[i], estimator, site);
            }
        for (const auto& owner : of_parameter) {
            Carried& carried = owners[owner];
            (fact != nullptr && fact->source->kind == SourceKind::tuned ? carried.tuned : carried.fitted) +=
                1;
            for (const std::size_t i : decided) {
                carried.rows.insert(i);
                carried.networks.insert(rows[i].model);
            }
        }
    }
    std::vector<FitSupport> support;
    for (const auto& [owner, carried] : owners)
        support.push_back({owner.first, owner.second, carried.rows.size(), carried.networks.size(),
                           carried.fitted, carried.tuned});
    std::stable_sort(support.begin(), support.end(), [](const FitSupport& a, const FitSupport& b) {
        return std::tie(a.kind, b.rows) < std::tie(b.kind, a.rows);
    });
    return support;
}

} // namespace archsim
