#include "fit/parameters/parameter_fit.hpp"

#include "core/in_parallel.hpp"
#include "fit/rows/served_row.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace archsim {

namespace {

constexpr std::size_t kRemembered = 4; ///< base point, difference point, trial point, and one more

/// Of a row's time, what remains at least when all that parameters price vanishes.
constexpr double kLeastTime = 0.02;

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
      threads_(std::max(1U, threads)), used_(rows_.size()), fitted_(rows_.size()), memory_(rows_.size()) {
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
        fitted_[i] = takes_part(rows_[i]) ? 1 : 0;
        if (fitted_[i] != 0)
            members[{device->id, runtime->id, publication_of(rows_[i])}].push_back(i);
    }
    // What one chip is off by is its own parameters' to explain; offsets are for what several chips share.
    if (members.empty() || std::get<0>(members.begin()->first) == std::get<0>(members.rbegin()->first))
        return;
    for (auto& [shared, group] : members)
        groups_.push_back(std::move(group));
}

FitOptions ParameterFit::pooling(FitOptions options) const {
    options.groups = groups_;
    return options;
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
        variable.low = info.low;
        variable.high = info.high;
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
        weights, pooling(options));
}

FitResult ParameterFit::refit(const std::vector<double>& weights, const FitResult& full,
                              const FitOptions& options) const {
    const std::size_t n = parameters_.size();
    // A sensitivity is the share of the time that the parameter prices: what a change of it leaves is added
    // to the rest, as in the lanes. Rates are turned so that it is about time.
    const auto from_shares = [&](std::span<const double> x, std::span<double> r) {
        for (std::size_t i = 0; i < r.size(); ++i) {
            const double about_time = rows_[i].metric == MeasuredMetric::throughput_per_s ? -1 : 1;
            double time = 1;
            for (const std::size_t j : used_[i]) {
                const double share = about_time * full.jacobian[i * n + j];
                const double ratio = x[j] / full.values[j];
                time += std::abs(share) * ((share > 0 ? ratio : 1 / ratio) - 1);
            }
            r[i] = full.residuals[i] + about_time * std::log(std::max(time, kLeastTime));
        }
    };
    FitOptions pooled = pooling(options);
    pooled.group_spread = full.group_spread;
    return fit_bounded(variables(full.values), from_shares, weights, pooled);
}

std::vector<double> ParameterFit::sensitivity(std::span<const double> values) {
    constexpr double kStep = 1e-3;
    std::vector<double> base(rows_.size()), moved(rows_.size()), result(rows_.size() * parameters_.size());
    residuals(values, base);
    std::vector<double> x(values.begin(), values.end());
    for (std::size_t j = 0; j < parameters_.size(); ++j) {
        const double kept = x[j];
        x[j] *= std::exp(kStep);
        residuals(x, moved);
        x[j] = kept;
        for (std::size_t i = 0; i < rows_.size(); ++i)
            result[i * parameters_.size() + j] = (moved[i] - base[i]) / kStep;
    }
    return result;
}

} // namespace archsim
