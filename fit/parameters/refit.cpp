#include "fit/parameters/refit.hpp"

#include "core/text_file.hpp"
#include "fit/errors/leave_out_groups.hpp"
#include "fit/parameters/least_gain.hpp"
#include "result/quantile.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace archsim {

namespace {

/// Enough for starts that are off by a factor; a fit that has settled ends before.
constexpr int kJointIterations = 8;

/// A fit ends where a step gains hardly anything, so that its values are known to about that much: one that
/// moves by less stays, and fits that follow each other settle.
constexpr double kLeastChange = 0.003;

/// Rows that a parameter decides, and their median error.
struct Support {
    int rows = 0;
    double error = 0;
};

Support support_of(const ParameterFit& fit, std::size_t parameter, const std::vector<Prediction>& left_out) {
    const std::vector<double> weights = fit.weights();
    std::vector<double> errors;
    for (std::size_t i = 0; i < weights.size(); ++i)
        if (weights[i] > 0 && fit.uses(i, parameter) && left_out[i].ok())
            errors.push_back(std::abs(left_out[i].predicted / fit.rows()[i].value - 1));
    std::sort(errors.begin(), errors.end());
    return {static_cast<int>(errors.size()), errors.empty() ? 0 : quantile(errors, 0.5)};
}

} // namespace

Refit refit_all(const RowEstimator& estimator, const std::vector<MeasuredRow>& rows, unsigned threads) {
    const HardwareDatabase& hardware = estimator.session().hardware();
    Refit result;
    std::map<std::string, std::vector<FittedValue>> files;
    for (ConnectedRows& set : connected_rows(estimator, rows, threads)) {
        if (set.parameters.empty())
            continue;
        std::vector<MeasuredRow> part;
        for (const std::size_t i : set.rows)
            part.push_back(rows[i]);
        ParameterFit fit(estimator, std::move(part), std::move(set.parameters), threads);
        const FitResult full = fit_all(fit, kJointIterations, kLeastGain);
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
