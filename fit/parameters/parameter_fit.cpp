#include "fit/parameters/parameter_fit.hpp"

#include "core/in_parallel.hpp"
#include "fit/rows/served_row.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace archsim {

namespace {

constexpr std::size_t kRemembered = 4; ///< base point, difference point, trial point, and one more

/// Times of runs. What clients of a loaded server wait for is simulated over such times and decides none of
/// them. Runs that state power and energy state the time of a step as well as the throughput that follows.
bool takes_part(const MeasuredRow& row) {
    const bool time =
        row.metric == MeasuredMetric::latency_ms || row.metric == MeasuredMetric::throughput_per_s;
    return time && row.phase != "saturated" && !is_served(row) && row.decided_by.empty();
}

/// Whether a value at `site` decides runs of `runtime` on `device`.
bool decides(const ParameterSite& site, const Device& device, const Runtime& runtime) {
    if (site.device.empty())
        return site_of(device, runtime, site.parameter) == site;
    if (site.device != device.id)
        return false;
    if (!site.runtime.empty())
        return site.runtime == runtime.id;
    const auto stated = site_of(device, runtime, site.parameter);
    return !stated || stated->device.empty() || stated->runtime.empty();
}

/// Who published a row: what its source names before a revision or a place in it.
std::string publication_of(const MeasuredRow& row) {
    return row.source.substr(0, row.source.find_first_of("@ ,"));
}

std::shared_ptr<const ParameterOverrides> overrides_of(const std::vector<TunedParameter>& parameters,
                                                       const std::vector<std::size_t>& chosen,
                                                       std::span<const double> values) {
    auto overrides = std::make_shared<ParameterOverrides>();
    for (const std::size_t j : chosen)
        for (const ParameterSite& site : parameters[j].sites)
            overrides->push_back({site, values[j]});
    return overrides;
}

} // namespace

ParameterFit::ParameterFit(const RowEstimator& estimator, std::vector<MeasuredRow> rows,
                           std::vector<TunedParameter> parameters, unsigned threads)
    : estimator_(estimator), rows_(std::move(rows)), parameters_(std::move(parameters)),
      threads_(std::max(1U, threads)), used_(rows_.size()), fitted_(rows_.size()), memory_(rows_.size()),
      rows_alike_(rows_.size(), 1), parents_(parameters_.size(), kShared) {
    for (std::size_t j = 0; j < parameters_.size(); ++j)
        for (std::size_t k = 0; parameters_[j].parent && k < parameters_.size(); ++k)
            if (std::find(parameters_[k].sites.begin(), parameters_[k].sites.end(), *parameters_[j].parent) !=
                parameters_[k].sites.end())
                parents_[j] = k;
    const HardwareDatabase& hardware = estimator_.session().hardware();
    std::map<std::tuple<std::string, std::string, std::string>, std::vector<std::size_t>> members;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        if (!estimator_(rows_[i]).ok())
            continue;
        const auto device = hardware.device(rows_[i].hardware).device;
        const auto runtime = hardware.runtime_for(*device, estimator_.stack_of(rows_[i]));
        for (std::size_t j = 0; j < parameters_.size(); ++j)
            if (std::any_of(parameters_[j].sites.begin(), parameters_[j].sites.end(),
                            [&](const ParameterSite& site) { return decides(site, *device, *runtime); }))
                used_[i].push_back(j);
        const std::vector<std::size_t> all = used_[i];
        std::erase_if(used_[i], [&](std::size_t j) { // an own value stands before what it deviates from
            return std::any_of(all.begin(), all.end(), [&](std::size_t k) { return parents_[k] == j; });
        });
        fitted_[i] = takes_part(rows_[i]) ? 1 : 0;
        if (fitted_[i] != 0)
            members[{device->id, runtime->id, publication_of(rows_[i])}].push_back(i);
    }
    // Rows of a chip under a stack from one source weigh as the square root of their number where others
    // speak too: they err together.
    const bool one =
        members.empty() || std::get<0>(members.begin()->first) == std::get<0>(members.rbegin()->first);
    for (const auto& [shared, group] : members)
        for (const std::size_t i : group)
            rows_alike_[i] = one ? 1 : static_cast<double>(group.size());
}

std::vector<double> ParameterFit::weights() const {
    std::vector<double> weights(rows_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i)
        weights[i] = fitted_[i] != 0 ? rows_[i].weight : 0;
    return weights;
}

std::vector<double> ParameterFit::start() const {
    std::vector<double> start;
    for (const TunedParameter& parameter : parameters_)
        start.push_back(parameter.start);
    return start;
}

bool ParameterFit::uses(std::size_t row, std::size_t parameter) const {
    return std::binary_search(used_[row].begin(), used_[row].end(), parameter);
}

bool ParameterFit::touches(std::size_t row, std::size_t parameter) const {
    return std::any_of(used_[row].begin(), used_[row].end(),
                       [&](std::size_t j) { return j == parameter || parents_[j] == parameter; });
}

bool ParameterFit::used(std::size_t parameter) const {
    for (std::size_t i = 0; i < rows_.size(); ++i)
        if (fitted_[i] != 0 && uses(i, parameter))
            return true;
    return false;
}

Prediction ParameterFit::predict(std::size_t row, std::span<const double> values,
                                 const MachineChanges& changes) const {
    return estimator_(rows_[row], overrides_of(parameters_, used_[row], values), changes);
}

double ParameterFit::residual(std::size_t row, std::span<const double> values) {
    std::vector<double> key;
    for (const std::size_t j : used_[row])
        key.push_back(values[j]);
    Memory& memory = memory_[row];
    for (std::size_t k = 0; k < memory.keys.size(); ++k)
        if (memory.keys[k] == key)
            return memory.residuals[k];
    const Prediction prediction = predict(row, values);
    const double residual = prediction.ok() ? std::log(prediction.predicted / rows_[row].value)
                                            : std::numeric_limits<double>::infinity();
    if (memory.keys.size() < kRemembered) {
        memory.keys.push_back(std::move(key));
        memory.residuals.push_back(residual);
    } else {
        memory.keys[memory.next] = std::move(key);
        memory.residuals[memory.next] = residual;
        memory.next = (memory.next + 1) % kRemembered;
    }
    return residual;
}

void ParameterFit::residuals(std::span<const double> values, std::span<double> out) {
    in_parallel(rows_.size(), threads_,
                [&](std::size_t i) { out[i] = fitted_[i] != 0 ? residual(i, values) : 0; });
}

std::vector<FitVariable> ParameterFit::variables(const std::vector<double>& start) const {
    std::vector<FitVariable> variables;
    for (std::size_t j = 0; j < parameters_.size(); ++j) {
        const TunedParameter& parameter = parameters_[j];
        const ParameterInfo& info = info_of(parameter.sites.front().parameter);
        FitVariable variable;
        variable.name = to_string(parameter.sites.front());
        variable.start = start[j];
        variable.low = parameter.held ? start[j] : info.low;
        variable.high = parameter.held ? start[j] : info.high;
        variable.prior = parameter.prior;
        if (parameter.prior_spread > 0)
            variable.prior_spread = parameter.prior_spread;
        variables.push_back(std::move(variable));
    }
    return variables;
}

FitResult ParameterFit::fit(const std::vector<double>& weights, const std::vector<double>& start,
                            const FitOptions& options) {
    return fit_bounded(
        variables(start), [this](std::span<const double> x, std::span<double> r) { residuals(x, r); },
        weights, options);
}

FitResult ParameterFit::refit(const std::vector<double>& weights, const FitResult& full,
                              const FitOptions& options, const std::vector<char>& wanted) const {
    std::vector<PricedRow> priced;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        PricedRow& row = priced.emplace_back();
        row.residual = full.residuals[i];
        row.about_time = rows_[i].metric == MeasuredMetric::throughput_per_s ? -1 : 1;
        for (const std::size_t j : used_[i])
            row.shares.emplace_back(j, row.about_time * full.jacobian[i * parameters_.size() + j]);
        row.weight = weights[i];
        row.shared_weight = weights[i] / std::sqrt(rows_alike_[i]);
    }
    return fit_on_shares(variables(full.values), parents_, priced, options, wanted);
}

FitResult ParameterFit::with_own(std::vector<TunedParameter> own, const FitResult& at) {
    const std::size_t before = parameters_.size();
    const HardwareDatabase& hardware = estimator_.session().hardware();
    for (TunedParameter& parameter : own) {
        const auto parent =
            std::find_if(parameters_.begin(), parameters_.end(), [&](const TunedParameter& p) {
                return std::find(p.sites.begin(), p.sites.end(), *parameter.parent) != p.sites.end();
            });
        parents_.push_back(static_cast<std::size_t>(parent - parameters_.begin()));
        parameters_.push_back(std::move(parameter));
    }
    FitResult result = at;
    result.jacobian.assign(rows_.size() * parameters_.size(), 0);
    for (std::size_t j = before; j < parameters_.size(); ++j)
        result.values.push_back(result.values[parents_[j]]);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        for (std::size_t j = 0; j < before; ++j)
            result.jacobian[i * parameters_.size() + j] = at.jacobian[i * before + j];
        if (fitted_[i] == 0 && used_[i].empty())
            continue;
        const auto device = hardware.device(rows_[i].hardware).device;
        const auto runtime = hardware.runtime_for(*device, estimator_.stack_of(rows_[i]));
        for (std::size_t j = before; j < parameters_.size(); ++j)
            if (decides(parameters_[j].sites.front(), *device, *runtime)) {
                double& shared = result.jacobian[i * parameters_.size() + parents_[j]];
                result.jacobian[i * parameters_.size() + j] = std::exchange(shared, 0);
                std::erase(used_[i], parents_[j]);
                used_[i].push_back(j);
            }
    }
    return result;
}

FitResult ParameterFit::linearised(std::vector<double> values) {
    constexpr double kStep = 1e-3;
    FitResult at;
    at.residuals.resize(rows_.size());
    at.jacobian.resize(rows_.size() * parameters_.size());
    residuals(values, at.residuals);
    std::vector<double> moved(rows_.size());
    for (std::size_t j = 0; j < parameters_.size(); ++j) {
        std::vector<double> x = values;
        x[j] *= std::exp(kStep);
        residuals(x, moved);
        for (std::size_t i = 0; i < rows_.size(); ++i)
            if (const double slope = (moved[i] - at.residuals[i]) / kStep; std::isfinite(slope))
                at.jacobian[i * parameters_.size() + j] = slope;
    }
    at.values = std::move(values);
    return at;
}

} // namespace archsim
