#include "fit/parameters/calibrate.hpp"

#include "core/lists.hpp"
#include "core/text.hpp"
#include "core/text_file.hpp"
#include "fit/errors/leave_out.hpp"
#include "hardware/error_model.hpp"

#include <algorithm>
#include <cmath>
#include <Eigen/Dense>
#include <filesystem>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <tuple>

namespace archsim {

/// With fewer networks, leaving one out leaves nothing to fit on.
constexpr std::size_t kLeastModels = 3;
constexpr int kCalibrationIterations = 24;

static std::vector<MeasuredRow> rows_of(const RowEstimator& estimator, const std::vector<MeasuredRow>& rows,
                                        const CalibrationRequest& request) {
    const HardwareDatabase& hardware = estimator.session().hardware();
    const std::string device = request.device.empty() ? "" : hardware.device(request.device).device->id;
    std::set<std::string> stacks;
    for (const std::string& name : request.device.empty() ? request.stacks : std::vector{request.runtime})
        stacks.insert(hardware.runtime(name)->id);
    std::vector<MeasuredRow> chosen;
    for (const MeasuredRow& row : rows) {
        if (row.metric != MeasuredMetric::latency_ms && row.metric != MeasuredMetric::throughput_per_s)
            continue; // power and energy are no matter of these parameters
        const auto on = hardware.device(row.hardware).device;
        if (!device.empty() && on->id != device)
            continue;
        if (stacks.contains(hardware.runtime_for(*on, estimator.stack_of(row))->id))
            chosen.push_back(row);
    }
    return chosen;
}

static std::vector<ValidatedRow> validated(const std::vector<MeasuredRow>& rows,
                                           std::vector<Prediction> predictions) {
    return mapped(indices(rows.size()), [&](const std::size_t i) {
        return ValidatedRow{rows[i], std::move(predictions[i])};
    });
}

static std::vector<Prediction> predictions_at(const ParameterFit& fit, const std::vector<double>& values) {
    return mapped(indices(fit.rows().size()),
                  [&](const std::size_t i) -> Prediction { return fit.predict(i, values); });
}

static std::vector<const ValidatedRow*> pointers(const std::vector<ValidatedRow>& rows) {
    return mapped(rows, [&](const ValidatedRow& row) { return &row; });
}

static std::string where_of(const ParameterSite& site) {
    const std::string text = to_string(site);
    return text.substr(text.find(" of ") + 4);
}

static int rows_deciding(const ParameterFit& fit, std::size_t parameter) {
    const std::vector<double> weights = fit.weights();
    int n = 0;
    for (std::size_t i = 0; i < weights.size(); ++i)
        n += weights[i] > 0 && fit.uses(i, parameter) ? 1 : 0;
    return n;
}

static void check(const CalibrationRequest& request) {
    if (request.device.empty() == request.stacks.empty())
        throw UsageError("calibrate: name either a device or, with --stack, a software stack");
    if (!request.device.empty() && request.parameters.size() > kMostDeviceParameters)
        throw UsageError(fmt::format("calibrate: {} parameters are asked for; a device takes at most {}",
                                     request.parameters.size(), kMostDeviceParameters));
}

/// The stack that most of a device's rows were measured with.
static std::string main_stack(const RowEstimator& estimator, const std::vector<MeasuredRow>& rows,
                              const std::string& device_name) {
    const HardwareDatabase& hardware = estimator.session().hardware();
    const std::string device = hardware.device(device_name).device->id;
    std::map<std::string, int> counts;
    for (const MeasuredRow& row : rows)
        if (const auto on = hardware.device(row.hardware).device; on->id == device)
            ++counts[hardware.runtime_for(*on, estimator.stack_of(row))->id];
    if (counts.empty())
        throw InputError(fmt::format("the measurements hold no row of {}; rows name it in the column "
                                     "\"hardware\"",
                                     device));
    return std::ranges::max_element(counts, [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
}

struct Carried {
    std::set<std::size_t> rows;
    std::set<std::string> networks;
    std::size_t fitted = 0, tuned = 0;
};

static const Fact* fact_of(const HardwareDatabase& hardware, const MeasuredRow& row,
                           const RowEstimator& estimator, const ParameterSite& site) {
    const auto device = hardware.device(row.hardware).device;
    return stated_at(*device, *hardware.runtime_for(*device, estimator.stack_of(row)), site);
}

// A parameter is worth fitting when measurements that scatter by 10 % determine it to 30 %.
constexpr double kScatter = 0.1, kDetermined = 0.3;
constexpr std::size_t kRowsPerParameter = 2;

static Parameter parameter_named(const std::string& name) {
    if (const auto parameter = parse_parameter(name))
        return *parameter;
    std::vector<std::string> known;
    for (std::size_t i = 0; i < kParameterCount; ++i)
        known.emplace_back(info_of(static_cast<Parameter>(i)).name);
    throw UsageError(fmt::format("no parameter is called \"{}\"; nearest: {}", name,
                                 fmt::join(nearest_names(name, known), ", ")));
}

struct DeviceStack {
    std::shared_ptr<const Device> device;
    std::shared_ptr<const Runtime> runtime;
};

/// A device's own value of a parameter, expected to be what the stack states, or what its family does.
static TunedParameter device_parameter(const Session& session, const DeviceStack& on, Parameter parameter,
                                       const std::string& asked_runtime) {
    const auto stated = site_of(*on.device, *on.runtime, parameter);
    if (!stated)
        throw UsageError(fmt::format("{} states no {}; give it a value in \"fitted\" first", on.device->id,
                                     info_of(parameter).name));
    TunedParameter tuned;
    // An existing statement is replaced where it stands; a new one holds for the stack that was measured.
    tuned.sites = {stated->device.empty() || (!asked_runtime.empty() && stated->runtime != asked_runtime)
                       ? ParameterSite{on.device->id, on.runtime->id, {}, parameter}
                       : *stated};
    tuned.start = stated_at(*on.device, *on.runtime, *stated)->value;
    if (!(tuned.start > 0))
        throw UsageError(fmt::format("{} of {} is zero: a switched-off cost cannot be scaled",
                                     info_of(parameter).name, on.device->id));
    Device without = *on.device;
    std::erase_if(without.fitted,
                  [&](const FittedParameter& fit) { return fit.name == info_of(parameter).name; });
    const auto shared = site_of(without, *on.runtime, parameter);
    Expectation expected = expect(session, on.device->family, tuned.sites);
    if (shared)
        if (const double value = stated_at(without, *on.runtime, *shared)->value; value > 0)
            expected = {value, expected.spread > 0 ? expected.spread : 1.0};
    tuned.prior = expected.value;
    tuned.prior_spread = expected.spread;
    return tuned;
}

/// The columns of the sensitivities that say most, each beyond what those before it say.
static std::vector<std::size_t> independent_columns(ParameterFit& fit, std::size_t most) {
    const auto m = static_cast<Eigen::Index>(fit.rows().size());
    const auto n = static_cast<Eigen::Index>(fit.parameters().size());
    const std::vector<double> sensitivity = fit.linearised(fit.start()).jacobian, weights = fit.weights();
    Eigen::MatrixXd columns(m, n);
    for (Eigen::Index i = 0; i < m; ++i)
        for (Eigen::Index j = 0; j < n; ++j) {
            const auto row = static_cast<std::size_t>(i), column = static_cast<std::size_t>(j);
            columns(i, j) = std::sqrt(weights[row]) * sensitivity[row * fit.parameters().size() + column];
        }
    const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(columns);
    std::vector<std::size_t> chosen;
    for (Eigen::Index k = 0; k < std::min(m, n) && chosen.size() < most; ++k)
        if (std::abs(qr.matrixQR()(k, k)) * kDetermined > kScatter)
            chosen.push_back(static_cast<std::size_t>(qr.colsPermutation().indices()(k)));
    return chosen;
}

static std::vector<TunedParameter> device_parameters(const RowEstimator& estimator,
                                                     const std::vector<MeasuredRow>& rows,
                                                     const CalibrationRequest& request) {
    const Session& session = estimator.session();
    const auto device = session.hardware().device(request.device).device;
    const DeviceStack on{device, session.hardware().runtime_for(*device, request.runtime)};
    std::vector<TunedParameter> tuned;
    for (const std::string& name : request.parameters)
        tuned.push_back(device_parameter(session, on, parameter_named(name), request.runtime));
    if (!tuned.empty())
        return tuned;
    for (std::size_t p = 0; p < kParameterCount; ++p) {
        const auto parameter = static_cast<Parameter>(p);
        const auto site = site_of(*device, *on.runtime, parameter);
        if (!site || !is_continuous(parameter) || site->device.empty())
            continue;
        const Fact& fact = *stated_at(*device, *on.runtime, *site);
        if (fact.source != nullptr && rests_on_measurements(fact.source->kind) && fact.value > 0)
            tuned.push_back(device_parameter(session, on, parameter, {}));
    }
    if (!tuned.empty())
        return tuned;
    for (std::size_t p = 0; p < kParameterCount; ++p) {
        const auto parameter = static_cast<Parameter>(p);
        const auto site = is_continuous(parameter) ? site_of(*device, *on.runtime, parameter) : std::nullopt;
        if (site && stated_at(*device, *on.runtime, *site)->value > 0)
            tuned.push_back(device_parameter(session, on, parameter, request.runtime));
    }
    const std::size_t most =
        std::min(kMostDeviceParameters, std::max<std::size_t>(1, rows.size() / kRowsPerParameter));
    ParameterFit all(estimator, rows, tuned, request.threads);
    return mapped(independent_columns(all, most), [&](const std::size_t j) { return tuned[j]; });
}

static std::vector<TunedParameter> stack_parameters(const RowEstimator& estimator,
                                                    const std::vector<MeasuredRow>& rows,
                                                    const CalibrationRequest& request) {
    std::set<std::string> stacks;
    for (const std::string& name : request.stacks)
        stacks.insert(estimator.session().hardware().runtime(name)->id);
    std::vector<Parameter> named =
        mapped(request.parameters, [&](const std::string& name) { return parameter_named(name); });
    const auto fitted = [](const Fact& fact) {
        return fact.source != nullptr && rests_on_measurements(fact.source->kind);
    };
    std::vector<TunedParameter> tuned =
        stated_parameters(estimator, rows, [&](const ParameterSite& site, const Fact& fact) {
            if (!site.device.empty()) // a device's own values take part where they were fitted before
                return request.with_devices && fitted(fact);
            return stacks.contains(site.runtime) &&
                   (named.empty() ? fitted(fact) : std::ranges::find(named, site.parameter) != named.end());
        });
    if (tuned.empty())
        throw InputError(fmt::format("{} states none of the parameters that these measurements could fit",
                                     fmt::join(request.stacks, ", ")));
    return tuned;
}

/// See calibrate(). `rows` are those of the device or the stack of the request.
static std::vector<TunedParameter> choose_parameters(const RowEstimator& estimator,
                                                     const std::vector<MeasuredRow>& rows,
                                                     const CalibrationRequest& request) {
    return request.device.empty() ? stack_parameters(estimator, rows, request)
                                  : device_parameters(estimator, rows, request);
}

/// Standard error of the logarithm of every fitted value, from the scatter of the residuals and the
/// expectations; infinite where nothing determines it.
static std::vector<double> standard_errors(const ParameterFit& fit, const FitResult& result) {
    const std::vector<double> weights = fit.weights();
    const auto n = static_cast<Eigen::Index>(fit.parameters().size());
    Eigen::MatrixXd information = Eigen::MatrixXd::Zero(n, n);
    double sum = 0, total = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        if (weights[i] <= 0)
            continue;
        const Eigen::Map<const Eigen::VectorXd> row(&result.jacobian[i * fit.parameters().size()], n);
        information += weights[i] * row * row.transpose();
        sum += weights[i] * result.residuals[i] * result.residuals[i];
        total += weights[i];
    }
    const double variance = total > 0 ? sum / total : 1;
    information /= variance;
    for (Eigen::Index j = 0; j < n; ++j)
        if (const double spread = fit.parameters()[static_cast<std::size_t>(j)].prior_spread; spread > 0)
            information(j, j) += 1 / (spread * spread);
    const Eigen::MatrixXd covariance =
        (information + 1e-9 * Eigen::MatrixXd::Identity(n, n)).inverse(); // 1e-9: nothing is known exactly
    std::vector<double> errors;
    for (Eigen::Index j = 0; j < n; ++j)
        errors.push_back(std::sqrt(std::max(0.0, covariance(j, j))));
    return errors;
}

CalibrationOutcome calibrate(const RowEstimator& estimator, const std::vector<MeasuredRow>& rows,
                             const CalibrationRequest& asked) {
    check(asked);
    CalibrationRequest request = asked;
    std::vector<MeasuredRow> known = known_rows(estimator, rows);
    if (!request.device.empty() && request.runtime.empty())
        request.runtime = main_stack(estimator, known, request.device);
    known = rows_of(estimator, known, request);
    std::vector<TunedParameter> parameters = choose_parameters(estimator, known, request);
    ParameterFit fit(estimator, known, std::move(parameters), request.threads);
    const std::vector<double> weights = fit.weights();
    const auto usable = std::count_if(weights.begin(), weights.end(), [](double w) { return w > 0; });
    if (usable == 0)
        throw InputError(fmt::format("none of the {} measured latencies and throughputs can be estimated; "
                                     "validate_estimates gives the reasons",
                                     known.size()));
    const std::vector<double> start = fit.start();
    FitOptions options{.max_iterations = kCalibrationIterations};
    const FitResult full = fit.fit(fit.weights(), start, options);
    const std::vector<double> errors = standard_errors(fit, full);

    CalibrationOutcome outcome;
    Calibration& calibration = outcome.calibration;
    const HardwareDatabase& hardware = estimator.session().hardware();
    calibration.subject = request.device.empty() ? fmt::format("{}", fmt::join(request.stacks, ", "))
                                                 : hardware.device(request.device).device->id;
    calibration.before = validated(known, predictions_at(fit, start));
    calibration.after = validated(known, predictions_at(fit, full.values));
    calibration.left_out = validated(known, left_out_predictions(fit, LeaveOut::model, full));
    std::set<std::string> models;
    for (const MeasuredRow& row : known)
        models.insert(row.model);
    const bool few = models.size() < kLeastModels;
    const double error =
        error_statistics(pointers(few ? calibration.after : calibration.left_out)).median_ape;
    std::map<std::string, std::vector<FittedValue>> files;
    for (std::size_t j = 0; j < fit.parameters().size(); ++j) {
        const int n = rows_deciding(fit, j);
        for (const ParameterSite& site : fit.parameters()[j].sites) {
            const ParameterInfo& info = info_of(site.parameter);
            calibration.parameters.push_back({std::string(info.name), where_of(site), std::string(info.unit),
                                              start[j], full.values[j], info.low, info.high, errors[j], n});
            if (n > 0)
                files[file_of(hardware, site)].push_back({site, full.values[j], n, error, {}});
        }
    }
    for (auto& [file, values] : files)
        outcome.files.push_back({file, std::move(values)});
    if (!full.converged)
        calibration.notes.emplace_back("The fit stopped before it converged: look at parameters at a bound.");
    if (few)
        calibration.notes.push_back(
            fmt::format("{} network(s) only: the left-out error says little.", models.size()));
    return outcome;
}

std::string describe_fit(const Calibration& calibration, const std::vector<std::string>& files) {
    std::set<std::string> models, names;
    for (const ValidatedRow& row : calibration.after)
        models.insert(row.measured.model);
    for (const std::string& file : files)
        names.insert(std::filesystem::path(file).filename().string());
    const ErrorStatistics left_out = error_statistics(pointers(calibration.left_out));
    const ErrorStatistics training = error_statistics(pointers(calibration.after));
    return fmt::format(
        "calibrate_device on {} rows of {} networks ({}): median error {:.1f} % with the network left "
        "out, {:.1f} % training",
        left_out.n, models.size(), fmt::join(names, ", "), 100 * left_out.median_ape,
        100 * training.median_ape);
}

std::string calibrated_text(const CalibratedFile& file, const std::string& cite, const std::string& date) {
    return with_fitted(read_text_file(file.file), file.file, file.values, cite, date);
}

std::vector<FitSupport> fit_support(const RowEstimator& estimator, const std::vector<MeasuredRow>& rows,
                                    unsigned threads) {
    const HardwareDatabase& hardware = estimator.session().hardware();
    const std::vector<TunedParameter> parameters = fitted_parameters(estimator, rows);
    const ParameterFit fit(estimator, rows, parameters, threads);
    const std::vector<double> weights = fit.weights();
    std::map<std::pair<std::string, std::string>, Carried> owners;
    for (std::size_t j = 0; j < parameters.size(); ++j) {
        std::set<std::pair<std::string, std::string>> of_parameter;
        for (const ParameterSite& site : parameters[j].sites)
            of_parameter.insert(site.device.empty() ? std::pair{std::string("stack"), site.runtime}
                                                    : std::pair{std::string("device"), site.device});
        const Fact* fact = nullptr;
        std::vector<std::size_t> decided;
        for (std::size_t i = 0; i < rows.size(); ++i)
            if (weights[i] > 0 && fit.touches(i, j)) {
                decided.push_back(i);
                for (const ParameterSite& site : parameters[j].sites)
                    if (fact == nullptr)
                        fact = fact_of(hardware, rows[i], estimator, site);
            }
        for (const auto& owner : of_parameter) {
            Carried& carried = owners[owner];
            (fact != nullptr && fact->source->kind == SourceKind::tuned ? carried.tuned : carried.fitted) +=
                1;
            for (const std::size_t i : decided) {
                carried.rows.insert(i);
                carried.networks.insert(rows[i].model);
            }
        }
    }
    std::vector<FitSupport> support;
    for (const auto& [owner, carried] : owners)
        support.push_back({owner.first, owner.second, carried.rows.size(), carried.networks.size(),
                           carried.fitted, carried.tuned});
    std::stable_sort(support.begin(), support.end(), [](const FitSupport& a, const FitSupport& b) {
        return std::tie(a.kind, b.rows) < std::tie(b.kind, a.rows);
    });
    return support;
}

} // namespace archsim
