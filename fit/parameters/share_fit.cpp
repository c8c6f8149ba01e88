#include "fit/parameters/share_fit.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace archsim {

namespace {

/// Of a row's time, what remains at least when all that variables price vanishes.
constexpr double kLeastTime = 0.02;

/// What a change leaves of a time is added to the rest, as in the lanes.
double residual_of(const PricedRow& row, const std::vector<FitVariable>& start, std::span<const double> x) {
    double time = 1;
    for (const auto& [j, share] : row.shares) {
        const double ratio = x[j] / start[j].start;
        time += std::abs(share) * ((share > 0 ? ratio : 1 / ratio) - 1);
    }
    return row.residual + row.about_time * std::log(std::max(time, kLeastTime));
}

/// The fit of the variables `chosen` on the rows `picked`; `fill` makes all values of theirs.
template <class Fill>
std::vector<double> fit_part(const std::vector<FitVariable>& variables, const std::vector<FitVariable>& part,
                             const std::vector<PricedRow>& rows, const std::vector<std::size_t>& picked,
                             double PricedRow::*weight, const FitOptions& options, Fill fill) {
    std::vector<double> weights;
    for (const std::size_t i : picked)
        weights.push_back(rows[i].*weight);
    return fit_bounded(
               part,
               [&](std::span<const double> x, std::span<double> r) {
                   const std::vector<double> all = fill(x);
                   for (std::size_t k = 0; k < picked.size(); ++k)
                       r[k] = residual_of(rows[picked[k]], variables, all);
               },
               weights, options)
        .values;
}

} // namespace

FitResult fit_on_shares(const std::vector<FitVariable>& variables, const std::vector<std::size_t>& parents,
                        const std::vector<PricedRow>& rows, const FitOptions& options,
                        const std::vector<char>& wanted) {
    std::vector<std::size_t> every, shared;
    std::vector<FitVariable> of_all;
    for (std::size_t i = 0; i < rows.size(); ++i)
        every.push_back(i);
    for (std::size_t j = 0; j < variables.size(); ++j)
        if (parents[j] == kShared) {
            shared.push_back(j);
            of_all.push_back(variables[j]);
        }
    const auto follow = [&](std::span<const double> x) {
        std::vector<double> all(variables.size());
        for (std::size_t k = 0; k < shared.size(); ++k)
            all[shared[k]] = x[k];
        for (std::size_t j = 0; j < variables.size(); ++j)
            if (parents[j] != kShared)
                all[j] = std::clamp(all[parents[j]], variables[j].low, variables[j].high);
        return all;
    };
    FitResult result;
    result.values =
        follow(fit_part(variables, of_all, rows, every, &PricedRow::shared_weight, options, follow));

    // Own values hang together where a row has several.
    std::map<std::vector<std::size_t>, std::vector<std::size_t>> sets;
    std::set<std::vector<std::size_t>> asked;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        std::vector<std::size_t> own;
        for (const auto& [j, _] : rows[i].shares)
            if (parents[j] != kShared)
                own.push_back(j);
        if (own.empty())
            continue;
        sets[own].push_back(i);
        if (wanted.empty() || wanted[i] != 0)
            asked.insert(own);
    }
    for (const auto& own : asked) {
        std::vector<FitVariable> part;
        for (const std::size_t j : own) {
            FitVariable& variable = part.emplace_back(variables[j]);
            variable.start = variable.prior = result.values[j];
        }
        const std::vector<double> values = fit_part(variables, part, rows, sets[own], &PricedRow::weight,
                                                    options, [&](std::span<const double> x) {
                                                        std::vector<double> all = result.values;
                                                        for (std::size_t k = 0; k < own.size(); ++k)
                                                            all[own[k]] = x[k];
                                                        return all;
                                                    });
        for (std::size_t k = 0; k < own.size(); ++k)
            result.values[own[k]] = values[k];
    }
    for (const PricedRow& row : rows)
        result.residuals.push_back(residual_of(row, variables, result.values));
    return result;
}

} // namespace archsim
