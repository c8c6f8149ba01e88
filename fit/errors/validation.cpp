#include "fit/errors/validation.hpp"

#include "core/in_parallel.hpp"
#include "fit/errors/quantile.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <map>
#include <utility>

namespace archsim {

namespace {

using Key = std::string (*)(const ValidatedRow&);

constexpr std::array<std::pair<std::string_view, Key>, 9> kGroupings = {{
    {"family", [](const ValidatedRow& row) { return row.prediction.family; }},
    {"hardware", [](const ValidatedRow& row) { return row.measured.hardware; }},
    {"model", [](const ValidatedRow& row) { return row.measured.model; }},
    {"runtime", [](const ValidatedRow& row) { return row.measured.runtime; }},
    {"regime", [](const ValidatedRow& row) { return row.prediction.regime; }},
    {"scope", [](const ValidatedRow& row) { return row.measured.scope; }},
    {"precision", [](const ValidatedRow& row) { return row.measured.precision; }},
    {"metric", [](const ValidatedRow& row) { return std::string(name_of(row.measured.metric)); }},
    {"phase", [](const ValidatedRow& row) { return row.measured.phase; }},
}};

ValidationGroup group_of(std::string name, const std::vector<const ValidatedRow*>& rows) {
    return {std::move(name), error_statistics(rows), tau_of_devices(rows), tau_of_models(rows)};
}

ValidationSummary summary_of(std::string selection, const std::vector<const ValidatedRow*>& rows) {
    ValidationSummary summary;
    summary.selection = std::move(selection);
    summary.all = group_of("all", rows);
    for (const auto& [name, key] : kGroupings) {
        std::map<std::string, std::vector<const ValidatedRow*>> groups;
        for (const ValidatedRow* row : rows)
            groups[key(*row)].push_back(row);
        if (groups.size() == 1 && groups.begin()->first.empty())
            continue; // no row has the property
        auto& list = summary.by.emplace_back(std::string(name), std::vector<ValidationGroup>()).second;
        for (const auto& [value, members] : groups)
            list.push_back(group_of(value, members));
    }
    return summary;
}

} // namespace

std::vector<std::string_view> validation_groupings() {
    std::vector<std::string_view> names;
    for (const auto& [name, key] : kGroupings)
        names.push_back(name);
    return names;
}

ErrorStatistics error_statistics(const std::vector<const ValidatedRow*>& rows) {
    ErrorStatistics statistics;
    std::vector<double> errors;
    double sum = 0, log_sum = 0, covered = 0;
    for (const ValidatedRow* row : rows) {
        if (!row->prediction.ok())
            continue;
        const double error = std::abs(row->error());
        errors.push_back(error);
        sum += error;
        log_sum += std::log(row->prediction.predicted / row->measured.value);
        covered += row->covered() ? 1 : 0;
    }
    statistics.n = errors.size();
    if (errors.empty())
        return statistics;
    const auto n = static_cast<double>(errors.size());
    std::sort(errors.begin(), errors.end());
    const auto share_within = [&](double limit) {
        return static_cast<double>(std::upper_bound(errors.begin(), errors.end(), limit) - errors.begin()) /
               n;
    };
    statistics.median_ape = quantile(errors, 0.5);
    statistics.mean_ape = sum / n;
    statistics.p90_ape = quantile(errors, 0.9);
    statistics.bias = std::exp(log_sum / n) - 1;
    statistics.within_10 = share_within(0.10);
    statistics.within_25 = share_within(0.25);
    statistics.within_50 = share_within(0.50);
    statistics.coverage = covered / n;
    return statistics;
}

Validation summarize(std::vector<ValidatedRow> rows) {
    Validation validation;
    validation.rows = std::move(rows);
    std::vector<const ValidatedRow*> every, trusted;
    for (const ValidatedRow& row : validation.rows) {
        if (!row.prediction.ok())
            continue;
        every.push_back(&row);
        if (row.measured.weight >= kTrustedWeight)
            trusted.push_back(&row);
    }
    validation.trusted = summary_of("weight >= 0.7", trusted);
    validation.every = summary_of("all rows", every);
    return validation;
}

Validation validate(std::vector<MeasuredRow> rows, const Predict& predict, unsigned threads) {
    std::vector<ValidatedRow> validated(rows.size());
    in_parallel(rows.size(), threads, [&](std::size_t i) {
        try {
            validated[i].prediction = predict(rows[i]);
        } catch (const std::exception& problem) {
            // One row that cannot be estimated must not end the run.
            validated[i].prediction.status = "failed";
            validated[i].prediction.reason = problem.what();
        }
        validated[i].measured = std::move(rows[i]);
    });
    return summarize(std::move(validated));
}

} // namespace archsim
