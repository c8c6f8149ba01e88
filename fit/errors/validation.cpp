#include "fit/errors/validation.hpp"

#include "core/in_parallel.hpp"

#include <array>
#include <cmath>
#include <exception>
#include <map>
#include <utility>

namespace archsim {

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

static ValidationGroup group_of(std::string name, const std::vector<const ValidatedRow*>& rows) {
    return {std::move(name), error_statistics(rows), tau_of_devices(rows), tau_of_models(rows)};
}

static ValidationSummary summary_of(std::string selection, const std::vector<const ValidatedRow*>& rows) {
    ValidationSummary summary{.selection = std::move(selection), .all = group_of("all", rows)};
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

using Rows = std::vector<const ValidatedRow*>;
using RankKey = std::string (*)(const MeasuredRow&);

/// The part of a row that both rankings hold fixed; '\n' cannot be part of a field.
static std::string workload_key(const MeasuredRow& row) {
    return (row.batch ? std::to_string(*row.batch) : "best") + '\n' + row.precision + '\n' + row.scope +
           '\n' + std::string(name_of(row.metric)) + '\n' + row.phase + '\n' + row.prompt_tokens + '\n' +
           row.generated_tokens + '\n' + std::to_string(row.devices);
}

static std::string model_name(const MeasuredRow& row) {
    return row.model + '\n' + (row.image_size ? std::to_string(*row.image_size) : "") + '\n' + row.sequence;
}

/// Two stacks on one device are no two devices.
static std::string device_name(const MeasuredRow& row) {
    return row.hardware + '\n' + row.power_mode;
}

static std::string model_key(const MeasuredRow& row) {
    return model_name(row) + '\n' + workload_key(row);
}

static std::string device_key(const MeasuredRow& row) {
    return device_name(row) + '\n' + row.runtime + '\n' + workload_key(row);
}

/// Kendall's tau: rows that agree in `held` are ranked by what `ranked` names.
static RankAgreement agreement(const Rows& rows, RankKey held, RankKey ranked) {
    std::map<std::string, std::vector<RankedValue>> groups;
    for (const ValidatedRow* row : rows)
        if (row->prediction.ok())
            groups[held(row->measured)].push_back(
                {ranked(row->measured), row->measured.value, row->prediction.predicted});
    RankAgreement result;
    double balance = 0;
    for (const auto& [name, group] : groups) {
        const PairCounts pairs = count_pairs(group);
        if (pairs.comparable() == 0)
            continue;
        ++result.groups;
        result.pairs += pairs.comparable();
        balance += static_cast<double>(pairs.concordant) - static_cast<double>(pairs.discordant);
    }
    if (result.pairs > 0)
        result.tau = balance / static_cast<double>(result.pairs);
    return result;
}

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
        return static_cast<double>(std::ranges::upper_bound(errors, limit) - errors.begin()) / n;
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
    Validation validation{.rows = std::move(rows)};
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

PairCounts count_pairs(std::span<const RankedValue> values) {
    PairCounts counts;
    for (std::size_t i = 0; i < values.size(); ++i)
        for (std::size_t j = i + 1; j < values.size(); ++j) {
            const double truth = values[i].measured - values[j].measured;
            const double guess = values[i].predicted - values[j].predicted;
            if (truth == 0 || values[i].item == values[j].item)
                continue;
            if (guess == 0)
                ++counts.undecided;
            else if ((truth > 0) == (guess > 0))
                ++counts.concordant;
            else
                ++counts.discordant;
        }
    return counts;
}

RankAgreement tau_of_devices(const Rows& rows) {
    return agreement(rows, model_key, device_name);
}

RankAgreement tau_of_models(const Rows& rows) {
    return agreement(rows, device_key, model_name);
}

} // namespace archsim
