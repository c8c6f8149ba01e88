#include "fit/parameters/refit.hpp"

#include "core/text_file.hpp"
#include "fit/errors/leave_out_groups.hpp"
#include "result/quantile.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace archsim {

namespace {

/// Enough for starts that are off by a factor; a fit that has settled ends before.
constexpr int kJointRounds = 3;

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

/// What deviates from `parameters` on chips that have no value of their own yet.
std::vector<TunedParameter> own_parameters(const RowEstimator& estimator,
                                           const std::vector<MeasuredRow>& rows,
                                           const std::vector<TunedParameter>& parameters, unsigned threads) {
    std::set<Set> stated;
    for (const TunedParameter& parameter : parameters)
        for (const ParameterSite& site : parameter.sites)
            if (parameter.parent)
                stated.emplace(site.device, site.runtime);
    std::map<Set, std::vector<MeasuredRow>> sets;
    for (const MeasuredRow& row : known_rows(estimator, rows))
        sets[set_of(estimator, row)].push_back(row);
    std::map<std::string, std::size_t> chips; // of a stack
    for (const auto& [set, _] : sets)
        ++chips[set.second];
    std::vector<MeasuredRow> asked;
    for (const auto& [set, of_set] : sets) {
        std::set<std::string_view> networks;
        for (const MeasuredRow& row : of_set)
            networks.insert(row.model);
        if (!stated.contains(set) && chips[set.second] > 1 && networks.size() >= kFewestNetworks &&
            of_set.size() >= kRowsForOwn)
            asked.insert(asked.end(), of_set.begin(), of_set.end());
    }
    ParameterFit fit(estimator, std::move(asked), parameters, threads);
    const std::vector<double> jacobian = fit.linearised(fit.start()).jacobian, weights = fit.weights();
    std::map<Set, std::pair<std::size_t, std::map<std::size_t, double>>> priced; // rows, and by parameter
    for (std::size_t i = 0; i < weights.size(); ++i) {
        if (weights[i] <= 0)
            continue;
        auto& [n, of_set] = priced[set_of(estimator, fit.rows()[i])];
        ++n;
        for (std::size_t j = 0; j < parameters.size(); ++j)
            if (const auto role = info_of(parameters[j].sites.front().parameter).role;
                fit.uses(i, j) && parameters[j].sites.front().device.empty() && role != ParameterRole::host)
                of_set[j] += weights[i] * std::abs(jacobian[i * parameters.size() + j]);
    }
    std::vector<TunedParameter> own;
    for (auto& [set, of_set] : priced) {
        std::vector<std::pair<double, std::size_t>> order;
        for (const auto& [j, sum] : of_set.second)
            if (sum >= kLeastPriced)
                order.emplace_back(sum, j);
        std::sort(order.rbegin(), order.rend());
        order.resize(std::min({order.size(), kMostOwn, of_set.first / kRowsForOwn}));
        for (const auto& [_, j] : order) {
            TunedParameter& tuned = own.emplace_back(parameters[j]);
            const Parameter parameter = tuned.sites.front().parameter;
            tuned.parent = tuned.sites.front();
            tuned.sites = {{set.first, set.second, {}, parameter}};
            tuned.prior_spread = kOwnSpread;
        }
    }
    return own;
}

} // namespace

Refit refit_all(const RowEstimator& estimator, const std::vector<MeasuredRow>& rows, unsigned threads) {
    const HardwareDatabase& hardware = estimator.session().hardware();
    Refit result;
    std::map<std::string, std::vector<FittedValue>> files;
    std::vector<TunedParameter> parameters = fitted_parameters(estimator, rows);
    for (TunedParameter& own : own_parameters(estimator, rows, parameters, threads))
        parameters.push_back(std::move(own));
    for (ConnectedRows& set : connected_rows(estimator, rows, parameters, threads)) {
        if (set.parameters.empty())
            continue;
        std::vector<MeasuredRow> part;
        for (const std::size_t i : set.rows)
            part.push_back(rows[i]);
        ParameterFit fit(estimator, std::move(part), std::move(set.parameters), threads);
        const FitResult full = fit.settled(kJointRounds);
        const std::vector<Prediction> left_out = left_out_predictions(fit, LeaveOut::model, full);
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
