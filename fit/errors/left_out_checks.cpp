#include "fit/errors/left_out_checks.hpp"

#include "result/quantile.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace archsim {

namespace {

std::vector<ErrorRow> without(const std::vector<ErrorRow>& rows, const std::set<std::string_view>& ids) {
    std::vector<ErrorRow> result;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(result),
                 [&](const ErrorRow& row) { return !ids.contains(row.id); });
    return result;
}

/// Intervals of rows, each by the model that `model_for` has for it.
template <class ModelFor>
FirstRunCheck check_rows(std::string name, const std::vector<ErrorRow>& rows, ModelFor&& model_for) {
    FirstRunCheck check{std::move(name), rows.size(), 0, 0, 0};
    std::vector<double> errors, widths;
    for (const ErrorRow& row : rows) {
        const double half = half_width(model_for(row), row);
        check.covered += std::abs(row.value) <= half;
        errors.push_back(std::abs(std::exp(-row.value) - 1));
        widths.push_back(std::exp(2 * half));
    }
    std::sort(errors.begin(), errors.end());
    std::sort(widths.begin(), widths.end());
    check.median_error = quantile(errors, 0.5);
    check.median_width = quantile(widths, 0.5);
    return check;
}

} // namespace

PairOdds check_pairs(const std::vector<ErrorRow>& rows, const ErrorModel& model) {
    PairOdds odds;
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) {
            const ErrorRow &a = rows[i], &b = rows[j];
            if (!comparable(a, b))
                continue;
            const double said = b.predicted - a.predicted, was = said + b.value - a.value;
            const double variance = difference_variance(model, a, b) * model.difference_scale;
            const double likelier = model.at_most(std::abs(said) / std::sqrt(variance));
            const auto last = odds.tenths.size() - 1;
            const auto tenth = std::min(last, static_cast<std::size_t>((likelier - 0.5) * 10));
            const bool right = (said > 0) == (was > 0);
            ++odds.tenths[tenth].pairs;
            odds.tenths[tenth].right += right;
            odds.tenths[tenth].said += likelier;
            ++odds.pairs;
            odds.right += right;
        }
    return odds;
}

std::vector<FirstRunCheck> check_first_runs(const ErrorEvidence& evidence, const FirstRuns& runs,
                                            const ErrorModel& shares) {
    std::vector<FirstRunCheck> checks;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const std::vector<ErrorRow>& run = evidence.first_runs[i].rows;
        if (run.empty())
            continue;
        std::set<std::string_view> ids;
        for (const ErrorRow& row : run)
            ids.insert(row.id);
        ErrorEvidence others{
            without(evidence.without_model, ids), without(evidence.without_device, ids), evidence.served, {}};
        for (std::size_t k = 0; k < runs.size(); ++k)
            if (k != i)
                others.first_runs.push_back(
                    {without(evidence.first_runs[k].rows, ids), evidence.first_runs[k].unseen});
        const ErrorModel model = fit_errors(others, {}, &shares);
        checks.push_back(
            check_rows(runs[i].name, run, [&](const ErrorRow&) -> const ErrorModel& { return model; }));
    }
    return checks;
}

std::vector<FirstRunCheck> check_served(const ErrorEvidence& evidence, const ErrorModel& shares) {
    std::vector<ErrorRow> first, later;
    std::map<std::string, ErrorModel> models;
    for (const ErrorRow& row : evidence.served) {
        (row.metric == SpreadOf::first_token ? first : later).push_back(row);
        if (!models.contains(row.model))
            models.emplace(row.model, fit_errors(evidence, {row.model, "", ""}, &shares));
    }
    const auto unseen = [&](const ErrorRow& row) -> const ErrorModel& { return models.at(row.model); };
    std::vector<FirstRunCheck> checks;
    if (!first.empty()) {
        checks.push_back(check_rows("served: time to first token", first, unseen));
        checks.push_back(check_rows("served: time per output token", later, unseen));
    }
    return checks;
}

} // namespace archsim
