#include "fit/errors/leave_out.hpp"

#include "archsim/core/finding.hpp"
#include "core/csv_reader.hpp"
#include "core/lists.hpp"
#include "core/parse_number.hpp"
#include "core/text_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/ranges.h>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>

namespace archsim {

constexpr int kRefitIterations = 4;

/// Rows and parameters that hang together: rows are joined by the parameters they share.
static std::vector<std::vector<std::size_t>> connected(const ParameterFit& fit) {
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
            if (fit.touches(i, j)) {
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

static std::vector<MeasuredRow> picked(const std::vector<MeasuredRow>& rows,
                                       const std::vector<std::size_t>& which) {
    return mapped(which, [&](const std::size_t i) { return rows[i]; });
}

/// Parameters whose reverted value is not the shipped one: public facts alone say it ("before").
static std::vector<char> stated_before(const std::vector<TunedParameter>& reverted,
                                       const std::vector<TunedParameter>& shipped) {
    const auto value_of = [&](const ParameterSite& site) {
        for (const TunedParameter& parameter : shipped)
            if (std::find(parameter.sites.begin(), parameter.sites.end(), site) != parameter.sites.end())
                return parameter.start;
        return 0.0; // no fit varies the shipped one
    };
    return mapped(reverted, [&](const TunedParameter& parameter) -> char {
        return parameter.start != value_of(parameter.sites.front());
    });
}

/// Parameters as public facts give them, else as the other families state them, without any row of this one.
static std::vector<Prediction> from_other_families(const LeftOutEstimators& estimators,
                                                   const std::vector<MeasuredRow>& rows,
                                                   const PriceFits& prices, unsigned threads) {
    const RowEstimator& estimator = estimators.reverted;
    const HardwareDatabase& hardware = estimator.session().hardware();
    std::vector<Prediction> predictions(rows.size());
    std::map<Family, std::vector<std::size_t>> families;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        try {
            families[hardware.device(rows[i].hardware).device->family].push_back(i);
        } catch (const Error&) {
            predictions[i] = estimator(rows[i]); // its reason
        }
    }
    for (const auto& [family, members] : families) {
        const std::vector<MeasuredRow> own = picked(rows, members);
        std::vector<TunedParameter> parameters = fitted_parameters(estimator, own);
        const std::vector<char> before =
            stated_before(parameters, fitted_parameters(estimators.shipped, own));
        std::vector<double> values;
        for (std::size_t j = 0; j < parameters.size(); ++j) {
            const TunedParameter& parameter = parameters[j];
            const Expectation elsewhere =
                expect_elsewhere(estimator.session(), family, parameter.sites.front().parameter);
            values.push_back(elsewhere.spread > 0 && before[j] == 0 ? elsewhere.value : parameter.start);
        }
        const ParameterFit fit(estimator, own, std::move(parameters), threads);
        for (std::size_t k = 0; k < members.size(); ++k)
            predictions[members[k]] = fit.predict(k, values, prices.without(LeaveOut::family, own[k]));
    }
    return predictions;
}

/// `shipped` as they are expected where no row decides them: what public facts say of such a number goes
/// before what the same is of other stacks.
static std::vector<TunedParameter> expecting_public_facts(const RowEstimator& reverted,
                                                          const std::vector<MeasuredRow>& rows,
                                                          std::vector<TunedParameter> shipped) {
    for (const TunedParameter& stated : fitted_parameters(reverted, rows))
        for (TunedParameter& parameter : shipped)
            if (parameter.sites.front() == stated.sites.front() && stated.start != parameter.start)
                parameter.prior = stated.start;
    return shipped;
}

/// True where one device carries the rows: without it no row says how its stack behaves.
static bool one_device(const std::vector<MeasuredRow>& rows) {
    return std::all_of(rows.begin(), rows.end(),
                       [&](const MeasuredRow& row) { return row.hardware == rows.front().hardware; });
}

constexpr std::array<std::string_view, 5> kColumns = {"id", "shipped", "without_model", "without_device",
                                                      "without_family"};

static double prediction_of(const Prediction& prediction) {
    return prediction.ok() ? prediction.predicted : std::numeric_limits<double>::quiet_NaN();
}

/// Six significant digits; nothing where there is no prediction.
static std::string field(double value) {
    return std::isnan(value) ? std::string() : fmt::format("{:.6g}", value);
}

[[noreturn]] static void unusable(const std::filesystem::path& file, std::size_t line, std::string message,
                                  std::string hint = "write it again with scripts/validate") {
    throw InputError(Finding{.kind = FindingKind::malformed_file,
                             .message = std::move(message),
                             .file = file.string(),
                             .where = fmt::format("line {}", line),
                             .hint = std::move(hint)});
}

std::vector<Prediction> left_out_predictions(const ParameterFit& fit, LeaveOut what, const FitResult& full,
                                             const PriceFits* prices) {
    std::vector<Prediction> predictions(fit.rows().size());
    std::map<std::string, std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < fit.rows().size(); ++i)
        groups[what == LeaveOut::model ? fit.rows()[i].model : fit.rows()[i].hardware].push_back(i);
    FitOptions options{.max_iterations = kRefitIterations};
    for (const auto& [_, members] : groups) {
        std::vector<double> weights = fit.weights();
        for (const std::size_t i : members)
            weights[i] = 0;
        std::vector<char> wanted(fit.rows().size());
        for (const std::size_t i : members)
            wanted[i] = 1;
        const FitResult refit = fit.refit(weights, full, options, wanted);
        for (const std::size_t i : members)
            predictions[i] = fit.predict(
                i, refit.values, prices != nullptr ? prices->without(what, fit.rows()[i]) : MachineChanges{});
    }
    return predictions;
}

std::vector<ConnectedRows> connected_rows(const RowEstimator& estimator, const std::vector<MeasuredRow>& rows,
                                          const std::vector<TunedParameter>& parameters, unsigned threads) {
    const ParameterFit whole(estimator, rows, parameters, threads);
    std::vector<ConnectedRows> sets;
    for (std::vector<std::size_t>& members : connected(whole)) {
        ConnectedRows set;
        for (std::size_t j = 0; j < parameters.size(); ++j)
            if (std::ranges::any_of(members, [&](std::size_t i) { return whole.touches(i, j); }))
                set.parameters.push_back(parameters[j]);
        set.rows = std::move(members);
        sets.push_back(std::move(set));
    }
    return sets;
}

LeftOutPredictions predict_left_out(const LeftOutEstimators& estimators, const std::vector<MeasuredRow>& rows,
                                    unsigned threads) {
    LeftOutPredictions predictions;
    const PriceFits prices(estimators.shipped, rows);
    predictions.without_family = from_other_families(estimators, rows, prices, threads);
    predictions.without_model.resize(rows.size());
    predictions.without_device.resize(rows.size());
    for (const ConnectedRows& set :
         connected_rows(estimators.devices_reverted, rows,
                        fitted_parameters(estimators.devices_reverted, rows), threads)) {
        const std::vector<MeasuredRow> part = picked(rows, set.rows);
        const auto put = [&](std::vector<Prediction> left_out, std::vector<Prediction>& to) {
            for (std::size_t k = 0; k < set.rows.size(); ++k)
                to[set.rows[k]] = std::move(left_out[k]);
        };
        const bool alone = one_device(part);
        const RowEstimator& without_device = alone ? estimators.reverted : estimators.devices_reverted;
        if (set.parameters.empty()) {
            for (const std::size_t i : set.rows) {
                predictions.without_model[i] =
                    estimators.devices_reverted(rows[i], nullptr, prices.without(LeaveOut::model, rows[i]));
                predictions.without_device[i] =
                    without_device(rows[i], nullptr, prices.without(LeaveOut::device, rows[i]));
            }
            continue;
        }
        ParameterFit fit(estimators.devices_reverted, part, set.parameters, threads);
        const FitResult full = fit.linearised(fit.start());
        put(left_out_predictions(fit, LeaveOut::model, full, &prices), predictions.without_model);
        if (!alone) {
            put(left_out_predictions(fit, LeaveOut::device, full, &prices), predictions.without_device);
            continue;
        }
        ParameterFit reverted(without_device, part,
                              expecting_public_facts(without_device, part, set.parameters), threads);
        put(left_out_predictions(reverted, LeaveOut::device, reverted.linearised(reverted.start()), &prices),
            predictions.without_device);
    }
    return predictions;
}

std::vector<Prediction> predict_left_out(const LeftOutEstimators& estimators,
                                         const std::vector<MeasuredRow>& rows, LeaveOut what,
                                         unsigned threads) {
    LeftOutPredictions all = predict_left_out(estimators, rows, threads);
    return what == LeaveOut::model    ? std::move(all.without_model)
           : what == LeaveOut::device ? std::move(all.without_device)
                                      : std::move(all.without_family);
}

std::vector<Prediction> predict_left_out(const RowEstimator& estimator, const std::vector<MeasuredRow>& rows,
                                         LeaveOut what, unsigned threads) {
    return predict_left_out(LeftOutEstimators{estimator, estimator, estimator}, rows, what, threads);
}

std::vector<ValidatedRow> leave_out_rows(const LeftOutEstimators& estimators,
                                         const std::vector<MeasuredRow>& rows, LeaveOut what,
                                         unsigned threads) {
    std::vector<Prediction> predictions = predict_left_out(estimators, rows, what, threads);
    return mapped(indices(rows.size()), [&](const std::size_t i) {
        return ValidatedRow{rows[i], std::move(predictions[i])};
    });
}

std::vector<LeftOutRow> make_left_out(const LeftOutEstimators& estimators,
                                      const std::vector<MeasuredRow>& rows, unsigned threads) {
    const LeftOutPredictions left_out = predict_left_out(estimators, rows, threads);
    return mapped(indices(rows.size()), [&](const std::size_t i) {
        return LeftOutRow{rows[i].id, prediction_of(estimators.shipped(rows[i])),
                          prediction_of(left_out.without_model[i]), prediction_of(left_out.without_device[i]),
                          prediction_of(left_out.without_family[i])};
    });
}

std::string to_csv(const std::vector<LeftOutRow>& rows) {
    std::string text = fmt::format("{}\n", fmt::join(kColumns, ","));
    for (const LeftOutRow& row : rows)
        text += fmt::format("{},{},{},{},{}\n", row.id, field(row.shipped), field(row.without_model),
                            field(row.without_device), field(row.without_family));
    return text;
}

std::vector<LeftOutRow> read_left_out(const std::filesystem::path& file) {
    const std::vector<CsvRecord> records = parse_csv(read_text_file(file));
    if (records.empty() || !std::equal(kColumns.begin(), kColumns.end(), records.front().fields.begin(),
                                       records.front().fields.end()))
        unusable(file, 1, fmt::format("the columns are not {}", fmt::join(kColumns, ", ")));
    std::vector<LeftOutRow> rows;
    for (auto record = records.begin() + 1; record != records.end(); ++record) {
        if (record->fields.size() != kColumns.size())
            unusable(file, record->line,
                     fmt::format("{} fields instead of {}", record->fields.size(), kColumns.size()));
        std::array<double, 4> values{};
        for (std::size_t i = 0; i < values.size(); ++i) {
            const std::string& number = record->fields[i + 1];
            values[i] = std::numeric_limits<double>::quiet_NaN();
            if (number.empty())
                continue;
            if (const auto value = plain_number<double>(number))
                values[i] = *value;
            else
                unusable(file, record->line, fmt::format("\"{}\" is not a number", number));
        }
        rows.push_back({record->fields[0], values[0], values[1], values[2], values[3]});
    }
    return rows;
}

std::vector<FirstRun> read_first_run(const std::filesystem::path& file) {
    constexpr std::array<std::string_view, 5> kNames = {"id", "status", "predicted", "low", "high"};
    const std::vector<CsvRecord> records = parse_csv(read_text_file(file));
    const auto refuse = [&](std::size_t line, std::string message) {
        unusable(file, line, std::move(message), "give what validate_estimates --format csv wrote");
    };
    std::array<std::size_t, kNames.size()> at{};
    for (std::size_t i = 0; i < kNames.size(); ++i) {
        const std::vector<std::string> none;
        const auto& header = records.empty() ? none : records.front().fields;
        const auto found = std::find(header.begin(), header.end(), kNames[i]);
        if (found == header.end())
            refuse(1, fmt::format("the column {} is missing", kNames[i]));
        at[i] = static_cast<std::size_t>(found - header.begin());
    }
    std::vector<FirstRun> rows;
    for (auto record = records.begin() + 1; record != records.end(); ++record) {
        if (record->fields.size() != records.front().fields.size())
            refuse(record->line, fmt::format("{} fields instead of {}", record->fields.size(),
                                             records.front().fields.size()));
        if (record->fields[at[1]] != "ok")
            continue;
        const auto number = [&](std::size_t column) {
            const std::string& text = record->fields[at[column]];
            const auto value = plain_number<double>(text);
            if (!value)
                refuse(record->line, fmt::format("\"{}\" is not a number", text));
            return *value;
        };
        rows.push_back({record->fields[at[0]], number(2), number(3), number(4)});
    }
    return rows;
}

} // namespace archsim
