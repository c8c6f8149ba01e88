#include "fit/errors/left_out.hpp"

#include "core/lists.hpp"
#include "hardware/uncertainty.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <utility>

namespace archsim {

constexpr double kOutdated = 0.01;

using MembersOf = std::map<std::string, std::set<std::string>>;

/// The measured ones: devices of each stack, and networks of each device under its stack.
struct Measured {
    explicit Measured(const Validation& shipped) {
        for (const ValidatedRow& row : shipped.rows)
            if (row.prediction.ok()) {
                devices[row.prediction.runtime].insert(row.measured.hardware);
                networks[pair_of(row)].insert(row.measured.model);
            }
    }
    static std::string pair_of(const ValidatedRow& row) {
        return row.measured.hardware + " " + row.prediction.runtime;
    }
    MembersOf devices, networks;
};

/// The evidence that remains: after a network the other networks of its device where there are any, after a
/// device the stack where other devices carry it, after a family nothing.
static std::string evidence_after(LeaveOut what, const ValidatedRow& row, const Measured& measured) {
    const auto others = [](const MembersOf& members, const std::string& of) {
        const auto found = members.find(of);
        return found != members.end() && found->second.size() > 1;
    };
    const bool fitted = row.prediction.evidence != name_of(Evidence::none);
    if (what == LeaveOut::model && fitted)
        return std::string(
            name_of(others(measured.networks, Measured::pair_of(row)) ? Evidence::device : Evidence::stack));
    const bool known = what == LeaveOut::device && fitted && others(measured.devices, row.prediction.runtime);
    return std::string(name_of(known ? Evidence::stack : Evidence::none));
}

/// The shipped rows with left-out predictions, without intervals.
static std::vector<ValidatedRow> replaced(const Validation& shipped,
                                          const std::map<std::string, double>& predictions, LeaveOut what) {
    const Measured measured(shipped);
    std::vector<ValidatedRow> rows = shipped.rows;
    for (ValidatedRow& row : rows) {
        if (!row.prediction.ok())
            continue;
        const auto found = predictions.find(row.measured.id);
        if (found == predictions.end() || std::isnan(found->second)) {
            row.prediction.status = "not_left_out";
            row.prediction.reason = "no left-out prediction; write them again with scripts/validate";
            continue;
        }
        row.prediction.evidence = evidence_after(what, row, measured);
        row.prediction.predicted = row.prediction.low = row.prediction.high = found->second;
    }
    return rows;
}

/// Intervals from a model that has not seen the row's network, device or family.
static void nest(const ErrorEvidence& evidence, const ErrorModel& all, LeaveOut what,
                 std::vector<ValidatedRow>& rows) {
    std::map<std::string, ErrorModel> models;
    for (ValidatedRow& row : rows) {
        Prediction& p = row.prediction;
        if (!p.ok())
            continue;
        Unseen unseen;
        std::string& name = what == LeaveOut::model    ? unseen.model = row.measured.model
                            : what == LeaveOut::device ? unseen.device = row.measured.hardware
                                                       : unseen.family = p.family;
        auto model = models.find(name);
        if (model == models.end())
            model = models.emplace(name, fit_errors(evidence, unseen, &all)).first;
        ErrorRow of{.family = p.family,
                    .runtime = p.runtime,
                    .device = row.measured.hardware,
                    .metric = metric_of(row.measured)};
        const double factor = std::exp(half_width(model->second, of));
        p.low = p.predicted / factor;
        p.high = p.predicted * factor;
    }
}

static ErrorEvidence evidence_of(const std::vector<ValidatedRow>& without_model,
                                 const std::vector<ValidatedRow>& without_device, const FirstRuns& runs,
                                 const std::vector<ErrorRow>& served) {
    ErrorEvidence evidence{error_rows(without_model), error_rows(without_device), served, {}};
    for (const RecordedRun& run : runs)
        evidence.first_runs.push_back({error_rows(run.rows), run.unseen});
    return evidence;
}

static std::vector<ErrorRow> without(const std::vector<ErrorRow>& rows,
                                     const std::set<std::string_view>& ids) {
    return kept(rows, [&](const ErrorRow& row) { return !ids.contains(row.id); });
}

/// Intervals of rows, each by the model that `model_for` has for it.
template <class ModelFor>
static FirstRunCheck check_rows(std::string name, const std::vector<ErrorRow>& rows, ModelFor&& model_for) {
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

/// Every run by a model of the other runs, and of the rows that are not in it.
static std::vector<FirstRunCheck> check_first_runs(const ErrorEvidence& evidence, const FirstRuns& runs,
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

/// Waits of clients by models that have not seen the row's network; nothing where there are none.
static std::vector<FirstRunCheck> check_served(const ErrorEvidence& evidence, const ErrorModel& shares) {
    std::map<SpreadOf, std::vector<ErrorRow>> waits;
    std::map<std::string, ErrorModel> models;
    for (const ErrorRow& row : evidence.served) {
        waits[row.metric].push_back(row);
        if (!models.contains(row.model))
            models.emplace(row.model, fit_errors(evidence, {row.model, "", ""}, &shares));
    }
    const auto unseen = [&](const ErrorRow& row) -> const ErrorModel& { return models.at(row.model); };
    std::vector<FirstRunCheck> checks;
    for (const auto& [metric, rows] : waits) {
        const bool first = metric == SpreadOf::first_token || metric == SpreadOf::default_first_token;
        checks.push_back(check_rows(fmt::format("served{}: time {}", of_defaults(metric) ? " by default" : "",
                                                first ? "to first token" : "per output token"),
                                    rows, unseen));
    }
    return checks;
}

std::string_view name_of(LeaveOut what) {
    return what == LeaveOut::model ? "model" : what == LeaveOut::device ? "device" : "family";
}

std::vector<ValidatedRow> recorded_rows(const std::vector<FirstRun>& run,
                                        std::span<const Validation* const> validations) {
    std::map<std::string_view, const ValidatedRow*> known;
    for (const Validation* validation : validations)
        for (const ValidatedRow& row : validation->rows)
            known.try_emplace(row.measured.id, &row);
    std::vector<ValidatedRow> rows;
    for (const FirstRun& first : run) {
        const auto found = known.find(first.id);
        if (found == known.end() || !found->second->prediction.ok())
            continue; // renamed, withdrawn, or no longer estimated
        ValidatedRow row = *found->second;
        row.prediction.predicted = first.predicted;
        row.prediction.low = first.low;
        row.prediction.high = first.high;
        rows.push_back(std::move(row));
    }
    return rows;
}

LeftOutValidation left_out_validation(const Validation& shipped, const std::vector<LeftOutRow>& rows,
                                      const FirstRuns& first_runs, const std::vector<ErrorRow>& served) {
    std::map<std::string, double> model, device, family, before;
    for (const LeftOutRow& row : rows) {
        model[row.id] = row.without_model;
        device[row.id] = row.without_device;
        family[row.id] = row.without_family;
        before[row.id] = row.shipped;
    }
    std::vector<ValidatedRow> without_model = replaced(shipped, model, LeaveOut::model);
    std::vector<ValidatedRow> without_device = replaced(shipped, device, LeaveOut::device);
    std::vector<ValidatedRow> without_family = replaced(shipped, family, LeaveOut::family);
    const ErrorEvidence evidence = evidence_of(without_model, without_device, first_runs, served);
    const ErrorModel all = fit_errors(evidence);
    nest(evidence, all, LeaveOut::model, without_model);
    nest(evidence, all, LeaveOut::device, without_device);
    nest(evidence, all, LeaveOut::family, without_family);
    LeftOutValidation result{
        summarize(std::move(without_model)),      summarize(std::move(without_device)),
        summarize(std::move(without_family)),     0,
        check_pairs(evidence.without_model, all), check_first_runs(evidence, first_runs, all)};
    append(result.first_runs, check_served(evidence, all));
    for (const ValidatedRow& row : shipped.rows) {
        if (!row.prediction.ok())
            continue;
        const auto found = before.find(row.measured.id);
        if (found == before.end() || !(std::abs(found->second / row.prediction.predicted - 1) <= kOutdated))
            ++result.outdated;
    }
    return result;
}

ErrorModel fit_error_model(const LeftOutValidation& left_out, const FirstRuns& first_runs,
                           const std::vector<ErrorRow>& served) {
    return fit_errors(
        evidence_of(left_out.without_model.rows, left_out.without_device.rows, first_runs, served));
}

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

} // namespace archsim
