#include "fit/parameters/calibrate.hpp"

#include "core/text_file.hpp"
#include "fit/errors/leave_out.hpp"
#include "fit/errors/quantile.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace archsim {

namespace {

/// Values that move by less stay, so that fits that follow each other settle.
constexpr double kLeastChange = 0.005;

// A chip has values of its own under a stack for what prices most of its time, one for so many rows, where
// networks of it differ and other chips say what the stack does without it.
constexpr std::size_t kMostOwn = 2, kRowsForOwn = 3, kFewestNetworks = 2;
constexpr double kLeastPriced = 1; ///< of the rows' times, together

/// Rows that a parameter decides, and their median error.
struct Support {
    int rows = 0;
    double error = 0;
};

Support support_of(const ParameterFit& fit, std::size_t parameter, const std::vector<Prediction>& left_out) {
    const std::vector<double> weights = fit.weights();
    std::vector<double> errors;
    for (std::size_t i = 0; i < weights.size(); ++i)
        if (weights[i] > 0 && fit.touches(i, parameter) && left_out[i].ok())
            errors.push_back(std::abs(left_out[i].predicted / fit.rows()[i].value - 1));
    std::sort(errors.begin(), errors.end());
    return {static_cast<int>(errors.size()), errors.empty() ? 0 : quantile(errors, 0.5)};
}

using Set = std::pair<std::string, std::string>; ///< a chip and its stack

Set set_of(const RowEstimator& estimator, const MeasuredRow& row) {
    const HardwareDatabase& hardware = estimator.session().hardware();
    const auto device = hardware.device(row.hardware).device;
    return {device->id, hardware.runtime_for(*device, estimator.stack_of(row))->id};
}

/// Values of their own for chips that have none yet.
std::vector<TunedParameter> own_parameters(const RowEstimator& estimator, const ParameterFit& fit,
                                           const FitResult& at) {
    struct Rows {
        std::size_t number = 0;
        std::set<std::string_view> networks;
        std::map<std::size_t, double> priced; ///< by parameter: of their times, together
    };
    const std::vector<TunedParameter>& parameters = fit.parameters();
    const std::vector<double> weights = fit.weights();
    std::map<Set, Rows> sets;
    std::vector<std::set<std::string>> chips(parameters.size());
    for (std::size_t i = 0; i < weights.size(); ++i) {
        if (weights[i] <= 0)
            continue;
        const Set set = set_of(estimator, fit.rows()[i]);
        Rows& of_set = sets[set];
        ++of_set.number;
        of_set.networks.insert(fit.rows()[i].model);
        for (std::size_t j = 0; j < parameters.size(); ++j)
            if (fit.touches(i, j) && parameters[j].sites.front().device.empty() &&
                info_of(parameters[j].sites.front().parameter).role != ParameterRole::host) {
                of_set.priced[j] += weights[i] * std::abs(at.jacobian[i * parameters.size() + j]);
                chips[j].insert(set.first);
            }
    }
    for (const TunedParameter& parameter : parameters)
        if (parameter.parent)
            sets.erase({parameter.sites.front().device, parameter.sites.front().runtime});
    std::vector<TunedParameter> own;
    for (const auto& [set, rows] : sets) {
        std::vector<std::pair<double, std::size_t>> order;
        for (const auto& [j, sum] : rows.priced)
            if (sum >= kLeastPriced && chips[j].size() > 1 && rows.networks.size() >= kFewestNetworks)
                order.emplace_back(sum, j);
        std::sort(order.rbegin(), order.rend());
        order.resize(std::min({order.size(), kMostOwn, rows.number / kRowsForOwn}));
        for (const auto& [_, j] : order) {
            TunedParameter& tuned = own.emplace_back(parameters[j]);
            tuned.parent = tuned.sites.front();
            tuned.sites = {{set.first, set.second, {}, tuned.parent->parameter}};
            tuned.start = at.values[j];
            tuned.prior_spread = kOwnSpread;
        }
    }
    return own;
}

} // namespace

Refit refit_all(const RowEstimator& estimator, const std::vector<MeasuredRow>& rows, unsigned threads,
                const std::vector<std::string>& held) {
    const HardwareDatabase& hardware = estimator.session().hardware();
    Refit result;
    std::map<std::string, std::vector<FittedValue>> files;
    std::vector<TunedParameter> parameters = fitted_parameters(estimator, rows);
    for (TunedParameter& parameter : parameters) { // others that share a value of theirs go on without them
        std::vector<ParameterSite> free = parameter.sites;
        std::erase_if(free, [&](const ParameterSite& site) {
            return site.device.empty() && std::find(held.begin(), held.end(), site.runtime) != held.end();
        });
        parameter.held = free.empty();
        if (!parameter.held)
            parameter.sites = std::move(free);
    }
    for (ConnectedRows& set : connected_rows(estimator, rows, parameters, threads)) {
        if (set.parameters.empty())
            continue;
        std::vector<MeasuredRow> part;
        for (const std::size_t i : set.rows)
            part.push_back(rows[i]);
        ParameterFit fit(estimator, std::move(part), std::move(set.parameters), threads);
        FitResult stated = fit.linearised(fit.start());
        stated = fit.with_own(own_parameters(estimator, fit, stated), stated);
        const FitResult full = fit.refit(fit.weights(), stated);
        const std::vector<Prediction> left_out = left_out_predictions(fit, LeaveOut::model, stated);
        const std::vector<double> weights = fit.weights();
        result.rows += static_cast<std::size_t>(
            std::count_if(weights.begin(), weights.end(), [](double w) { return w > 0; }));
        for (std::size_t j = 0; j < fit.parameters().size(); ++j) {
            const Support support = support_of(fit, j, left_out);
            if (support.rows == 0)
                continue;
            ++result.parameters;
            const TunedParameter& parameter = fit.parameters()[j];
            const bool stays = std::abs(std::log(full.values[j] / parameter.start)) < kLeastChange;
            const double value = stays ? parameter.start : full.values[j];
            for (const ParameterSite& site : parameter.sites)
                files[file_of(hardware, site)].push_back({site, value, support.rows, support.error, {}});
        }
    }
    for (auto& [file, values] : files)
        result.files.push_back({file, std::move(values)});
    for (const auto& [family, fitted] : PriceFits(estimator, rows).families())
        for (std::size_t g = 0; g < kPriceGroupCount; ++g)
            if (fitted.used[g])
                result.multiples.push_back({family, std::string(name_of(static_cast<PriceGroup>(g))),
                                            fitted.values[g], static_cast<int>(fitted.runs), fitted.error});
    return result;
}

std::string multiples_text(const Session& session, const std::vector<FittedMultiple>& multiples,
                           const std::string& date) {
    const std::filesystem::path& file = session.energy().file();
    return with_multiples(read_text_file(file), file.string(), multiples,
                          "power of tests/measured and tests/measured/energy at measured times, "
                          "validate_estimates --refit",
                          date);
}

} // namespace archsim
