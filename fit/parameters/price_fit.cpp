#include "fit/parameters/price_fit.hpp"

#include "estimate/price.hpp"
#include "fit/errors/price_check.hpp"
#include "fit/parameters/fit.hpp"
#include "fit/parameters/parameter_fit.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace archsim {

/// Far above what any device draws.
constexpr double kNoLimit = 1e3;
/// Share of the limit from which on it may have lowered the clock.
constexpr double kAtLimit = 0.99;

static PowerParts parts_at(const Machine& machine, const ClockAtLimit& at) {
    const EnergyTable& table = *machine.energy;
    const double highest = machine.rate(Resource::overhead_cycles), clock = at.clock.value;
    const double matrix = machine.matrix_ops(at.precision);
    const double per_clock = matrix > 0 ? matrix : machine.vector_ops(at.precision);
    PowerParts parts{.static_w = static_power_at(machine, clock / highest),
                     .family = std::string(name_of(machine.device->family))};
    const double stands = machine.static_power_w - table.clocked_power.value_or(0);
    parts.awake_w = table.clocked_power.known() ? std::max(0.0, parts.static_w - stands) : 0;
    parts.event_w[static_cast<std::size_t>(Event::mac)] =
        at.share.value * per_clock * clock * table.operation[static_cast<std::size_t>(at.precision)] *
        table.voltage_factor(clock);
    for (std::size_t g = 0; g < kPriceGroupCount; ++g)
        parts.multiple[g] = table.multiple[g].value_or(1);
    return parts;
}

constexpr std::size_t kRunsPerMultiple = 10, kLeastDevices = 3;
/// Sums of published parts are known within a factor of 1.6 (-30/+50 % for memory and wires, docs/energy.md).
constexpr double kPriorSpread = 0.5;
constexpr double kLeastMultiple = 0.05, kMostMultiple = 20;

static bool is_power(const MeasuredRow& row) {
    return row.metric == MeasuredMetric::power_w || row.metric == MeasuredMetric::energy_mj;
}

std::map<std::string, std::vector<PricedRun>> priced_runs(const RowEstimator& estimator,
                                                          const std::vector<MeasuredRow>& rows) {
    MachineChanges unlimited;
    unlimited[Lever::power_limit] = kNoLimit;
    std::map<std::string, const MeasuredRow*> energies;
    for (const MeasuredRow& row : rows)
        if (row.metric == MeasuredMetric::energy_mj)
            energies.emplace(run_of(row), &row);
    std::map<std::string, std::vector<PricedRun>> families;
    for (const MeasuredRow& row : rows) {
        if (row.metric != MeasuredMetric::power_w || row.weight < kTrustedWeight)
            continue;
        const std::optional<PowerParts> limited = estimator.power_parts(row);
        const std::optional<PowerParts> parts = limited && limited->total() >= kAtLimit * limited->limit_w
                                                    ? estimator.power_parts(row, unlimited)
                                                    : limited;
        if (!parts)
            continue;
        PricedRun run{row.value, *parts, &row, limited->limit_w};
        if (const auto energy = energies.find(run_of(row)); energy != energies.end()) {
            const double all_w = row.value * (row.boundary == PowerBoundary::wall ? 1 : row.devices);
            const double measured_s = energy->second->value * 1e-3 / all_w;
            for (double& watts : run.parts.event_w)
                watts *= parts->item_s / measured_s;
        }
        families[parts->family].push_back(run);
    }
    return families;
}

std::vector<MeasuredRow> clocks_as_rows(const Session& session) {
    std::vector<MeasuredRow> rows;
    for (const ClockAtLimit& at : session.energy().clocks_at_limit()) {
        rows.push_back({.id = at.device + " at its power limit",
                        .model = "multiply-adds at the power limit",
                        .hardware = at.device,
                        .metric = MeasuredMetric::power_w,
                        .value = session.machine(at.device)->power_limit_w});
    }
    return rows;
}

std::map<std::string, std::vector<PricedRun>> clock_runs(const Session& session,
                                                         const std::vector<MeasuredRow>& rows) {
    std::map<std::string, std::vector<PricedRun>> runs;
    const std::vector<ClockAtLimit>& clocks = session.energy().clocks_at_limit();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        PricedRun run{.measured_w = rows[i].value,
                      .parts = parts_at(*session.machine(clocks[i].device), clocks[i]),
                      .row = &rows[i]};
        runs[run.parts.family].push_back(run);
    }
    return runs;
}

double PriceFit::Run::at(const PriceMultiples& x) const {
    double sum = rest_w;
    for (std::size_t g = 0; g < kPriceGroupCount; ++g)
        sum += x[g] * watts[g];
    return std::min(sum, from->limit_w);
}

PriceFit::PriceFit(const std::vector<PricedRun>& runs) {
    for (const PricedRun& run : runs) {
        Run r{.rest_w = run.parts.total(), .from = &run};
        const auto move = [&](PriceGroup group, double watts) {
            const auto g = static_cast<std::size_t>(group);
            r.watts[g] += watts / run.parts.multiple[g];
            r.rest_w -= watts;
            used_[g] = used_[g] || watts > 0;
        };
        for (std::size_t e = 0; e < kEventCount; ++e)
            if (const auto group = price_group(static_cast<Event>(e)))
                move(*group, run.parts.event_w[e]);
        move(PriceGroup::awake, run.parts.awake_w);
        runs_.push_back(r);
    }
    all_ = solve(&MeasuredRow::model, {}, kLeastGain);
    for (const Run& run : runs_) {
        const MeasuredRow& row = *run.from->row;
        if (!without_model_.contains(row.model))
            without_model_[row.model] = solve(&MeasuredRow::model, row.model);
        if (!without_device_.contains(row.hardware))
            without_device_[row.hardware] = solve(&MeasuredRow::hardware, row.hardware);
    }
}

bool PriceFit::decided() const {
    const auto groups = static_cast<std::size_t>(std::count(used_.begin(), used_.end(), true));
    return runs_.size() >= kRunsPerMultiple * groups && without_device_.size() >= kLeastDevices;
}

PriceMultiples PriceFit::solve(const std::string MeasuredRow::*name, const std::string& left_out,
                               double least_gain) const {
    std::vector<FitVariable> variables;
    for (std::size_t g = 0; g < kPriceGroupCount; ++g)
        variables.push_back({.name = std::string(name_of(static_cast<PriceGroup>(g))),
                             .start = runs_.empty() ? 1 : runs_.front().from->parts.multiple[g],
                             .low = kLeastMultiple,
                             .high = kMostMultiple,
                             .prior_spread = kPriorSpread});
    std::vector<double> weights;
    for (const Run& run : runs_)
        weights.push_back(run.from->row->*name == left_out ? 0 : run.from->row->weight);
    const auto residuals = [&](std::span<const double> x, std::span<double> r) {
        const PriceMultiples multiples{x[0], x[1], x[2]};
        for (std::size_t i = 0; i < runs_.size(); ++i)
            r[i] = std::log(runs_[i].at(multiples) / runs_[i].from->measured_w);
    };
    FitOptions options{.least_gain = least_gain};
    const FitResult result = fit_bounded(variables, residuals, weights, options);
    return {result.values[0], result.values[1], result.values[2]};
}

FittedPrices PriceFit::fitted() const {
    FittedPrices fitted{all_, used_, runs_.size(), 0};
    std::vector<double> errors;
    for (const Run& run : runs_)
        errors.push_back(
            std::abs(run.at(without_model_.at(run.from->row->model)) / run.from->measured_w - 1));
    std::sort(errors.begin(), errors.end());
    fitted.error = errors.empty() ? 0 : quantile(errors, 0.5);
    return fitted;
}

PriceMultiples PriceFit::without(LeaveOut what, const MeasuredRow& row) const {
    if (what == LeaveOut::family)
        return {1, 1, 1};
    const auto& found = what == LeaveOut::model ? without_model_ : without_device_;
    const auto own = found.find(what == LeaveOut::model ? row.model : row.hardware);
    return own == found.end() ? all_ : own->second;
}

PriceFits::PriceFits(const RowEstimator& estimator, const std::vector<MeasuredRow>& rows)
    : clocks_(clocks_as_rows(estimator.session())), runs_(priced_runs(estimator, rows)) {
    for (auto& [family, runs] : clock_runs(estimator.session(), clocks_))
        runs_[family].insert(runs_[family].end(), runs.begin(), runs.end());
    for (const auto& [family, runs] : runs_)
        if (PriceFit fit(runs); fit.decided())
            fits_.emplace(family, std::move(fit));
    for (const MeasuredRow& row : rows) {
        if (row.metric != MeasuredMetric::power_w || devices_.contains(row.hardware))
            continue;
        if (const auto parts = estimator.power_parts(row))
            devices_[row.hardware] = {
                parts->family, parts->static_w > 0 ? parts->awake_w / parts->static_w : 0, parts->multiple};
    }
}

std::map<std::string, FittedPrices> PriceFits::families() const {
    std::map<std::string, FittedPrices> families;
    for (const auto& [family, fit] : fits_)
        families.emplace(family, fit.fitted());
    return families;
}

MachineChanges PriceFits::without(LeaveOut what, const MeasuredRow& row) const {
    MachineChanges changes;
    const auto device = is_power(row) ? devices_.find(row.hardware) : devices_.end();
    const auto fit = device == devices_.end() ? fits_.end() : fits_.find(device->second.family);
    if (fit == fits_.end())
        return changes;
    const PriceMultiples multiples = fit->second.without(what, row);
    const auto factor = [&](PriceGroup group) {
        const auto g = static_cast<std::size_t>(group);
        return multiples[g] / device->second.shipped[g];
    };
    changes[Lever::static_power] = 1 + device->second.awake_share * (factor(PriceGroup::awake) - 1);
    changes[Lever::memory_energy] = factor(PriceGroup::dram);
    for (const Lever lever : {Lever::operation_energy, Lever::control_energy, Lever::on_chip_energy})
        changes[lever] = factor(PriceGroup::chip);
    return changes;
}

} // namespace archsim
