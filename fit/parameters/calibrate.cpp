#include "fit/parameters/calibrate.hpp"

#include "core/text_file.hpp"
#include "fit/errors/leave_out.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>

namespace archsim {

namespace {

/// With fewer networks, leaving one out leaves nothing to fit on.
constexpr std::size_t kLeastModels = 3;
constexpr int kCalibrationIterations = 24;

std::vector<MeasuredRow> rows_of(const RowEstimator& estimator, const std::vector<MeasuredRow>& rows,
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

std::vector<ValidatedRow> validated(const std::vector<MeasuredRow>& rows,
                                    std::vector<Prediction> predictions) {
    std::vector<ValidatedRow> result;
    for (std::size_t i = 0; i < rows.size(); ++i)
        result.push_back({rows[i], std::move(predictions[i])});
    return result;
}

std::vector<Prediction> predictions_at(const ParameterFit& fit, const std::vector<double>& values) {
    std::vector<Prediction> predictions;
    for (std::size_t i = 0; i < fit.rows().size(); ++i)
        predictions.push_back(fit.predict(i, values));
    return predictions;
}

std::vector<const ValidatedRow*> pointers(const std::vector<ValidatedRow>& rows) {
    std::vector<const ValidatedRow*> result;
    for (const ValidatedRow& row : rows)
        result.push_back(&row);
    return result;
}

std::string where_of(const ParameterSite& site) {
    const std::string text = to_string(site);
    return text.substr(text.find(" of ") + 4);
}

int rows_deciding(const ParameterFit& fit, std::size_t parameter) {
    const std::vector<double> weights = fit.weights();
    int n = 0;
    for (std::size_t i = 0; i < weights.size(); ++i)
        n += weights[i] > 0 && fit.uses(i, parameter) ? 1 : 0;
    return n;
}

void check(const CalibrationRequest& request) {
    if (request.device.empty() == request.stacks.empty())
        throw UsageError("calibrate: name either a device or, with --stack, a software stack");
    if (!request.device.empty() && request.parameters.size() > kMostDeviceParameters)
        throw UsageError(fmt::format("calibrate: {} parameters are asked for; a device takes at most {}",
                                     request.parameters.size(), kMostDeviceParameters));
}

/// The stack that most of a device's rows were measured with.
std::string main_stack(const RowEstimator& estimator, const std::vector<MeasuredRow>& rows,
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
    return std::max_element(counts.begin(), counts.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
}

} // namespace

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
    FitOptions options;
    options.max_iterations = kCalibrationIterations;
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

} // namespace archsim
