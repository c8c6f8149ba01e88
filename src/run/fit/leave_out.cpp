#include "archsim/run/leave_out.hpp"

#include "run/fit/leave_out_groups.hpp"
#include "run/fit/parameter_fit.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

namespace archsim {

namespace {

constexpr int kFullIterations = 24;
constexpr int kRefitIterations = 12;

/// Rows and parameters that hang together: rows are joined by the parameters they share.
std::vector<std::vector<std::size_t>> connected_rows(const ParameterFit& fit) {
    std::vector<std::size_t> root(fit.rows().size());
    std::iota(root.begin(), root.end(), 0);
    const auto find = [&](std::size_t i) {
        while (root[i] != i)
            i = root[i] = root[root[i]];
        return i;
    };
    for (std::size_t j = 0; j < fit.parameters().size(); ++j) {
        std::optional<std::size_t> first;
        for (std::size_t i = 0; i < root.size(); ++i)
            if (fit.uses(i, j)) {
                if (first)
                    root[find(i)] = find(*first);
                first = i;
            }
    }
    std::map<std::size_t, std::vector<std::size_t>> sets;
    for (std::size_t i = 0; i < root.size(); ++i)
        sets[find(i)].push_back(i);
    std::vector<std::vector<std::size_t>> result;
    for (auto& [_, rows] : sets)
        result.push_back(std::move(rows));
    return result;
}

} // namespace

std::string_view name_of(LeaveOut what) {
    return what == LeaveOut::model ? "model" : "device";
}

std::vector<Prediction> left_out_predictions(ParameterFit& fit, LeaveOut what, const FitResult& full) {
    std::vector<Prediction> predictions(fit.rows().size());
    std::map<std::string, std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < fit.rows().size(); ++i)
        groups[what == LeaveOut::model ? fit.rows()[i].model : fit.rows()[i].hardware].push_back(i);
    FitOptions options;
    options.max_iterations = kRefitIterations;
    options.jacobian = full.jacobian;
    for (const auto& [_, members] : groups) {
        std::vector<double> weights = fit.weights();
        for (const std::size_t i : members)
            weights[i] = 0;
        const FitResult refit = fit.fit(weights, full.values, options);
        for (const std::size_t i : members)
            predictions[i] = fit.predict(i, refit.values);
    }
    return predictions;
}

FitResult fit_all(ParameterFit& fit) {
    FitOptions options;
    options.max_iterations = kFullIterations;
    return fit.fit(fit.weights(), fit.start(), options);
}

std::vector<Prediction> predict_left_out(const RowEstimator& estimator, const std::vector<MeasuredRow>& rows,
                                         LeaveOut what, unsigned threads) {
    const std::vector<TunedParameter> parameters = fitted_parameters(estimator, rows);
    const ParameterFit whole(estimator, rows, parameters, threads);
    std::vector<Prediction> predictions(rows.size());
    for (const std::vector<std::size_t>& members : connected_rows(whole)) {
        std::vector<MeasuredRow> part;
        for (const std::size_t i : members)
            part.push_back(rows[i]);
        std::vector<TunedParameter> own;
        for (std::size_t j = 0; j < parameters.size(); ++j)
            if (std::any_of(members.begin(), members.end(), [&](std::size_t i) { return whole.uses(i, j); }))
                own.push_back(parameters[j]);
        if (own.empty()) {
            for (const std::size_t i : members)
                predictions[i] = estimator(rows[i]);
            continue;
        }
        ParameterFit fit(estimator, std::move(part), std::move(own), threads);
        const FitResult full = fit_all(fit);
        std::vector<Prediction> left_out = left_out_predictions(fit, what, full);
        for (std::size_t k = 0; k < members.size(); ++k)
            predictions[members[k]] = std::move(left_out[k]);
    }
    return predictions;
}

std::vector<ValidatedRow> leave_out_rows(const RowEstimator& estimator, const std::vector<MeasuredRow>& rows,
                                         LeaveOut what, unsigned threads) {
    std::vector<Prediction> predictions = predict_left_out(estimator, rows, what, threads);
    std::vector<ValidatedRow> result;
    for (std::size_t i = 0; i < rows.size(); ++i)
        result.push_back({rows[i], std::move(predictions[i])});
    return result;
}

} // namespace archsim
