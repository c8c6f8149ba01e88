#include "fit/parameters/parameter_fit.hpp"

#include "core/in_parallel.hpp"
#include "core/lists.hpp"
#include "fit/rows/served_row.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace archsim {

constexpr std::size_t kRemembered = 4; ///< base point, difference point, trial point, and one more

/// Times of runs. What clients of a loaded server wait for is simulated over such times and decides none of
/// them. Runs that state power and energy state the time of a step as well as the throughput that follows.
static bool takes_part(const MeasuredRow& row) {
    const bool time =
        row.metric == MeasuredMetric::latency_ms || row.metric == MeasuredMetric::throughput_per_s;
    return time && row.phase != "saturated" && !is_served(row) && row.decided_by.empty();
}

/// Whether a value at `site` decides runs of `runtime` on `device`.
static bool decides(const ParameterSite& site, const Device& device, const Runtime& runtime) {
    if (site.device.empty())
        return site_of(device, runtime, site.parameter) == site;
    if (site.device != device.id)
        return false;
    if (!site.runtime.empty())
        return site.runtime == runtime.id;
    const auto stated = site_of(device, runtime, site.parameter);
    return !stated || stated->device.empty() || stated->runtime.empty();
}

/// Who published a row: what its source names before a revision or a place in it.
static std::string publication_of(const MeasuredRow& row) {
    return row.source.substr(0, row.source.find_first_of("@ ,"));
}

static std::shared_ptr<const ParameterOverrides> overrides_of(const std::vector<TunedParameter>& parameters,
                                                              const std::vector<std::size_t>& chosen,
                                                              std::span<const double> values) {
    auto overrides = std::make_shared<ParameterOverrides>();
    for (const std::size_t j : chosen)
        for (const ParameterSite& site : parameters[j].sites)
            overrides->push_back({site, values[j]});
    return overrides;
}

// Which statements of the database a fit may vary, and what to expect of them without measurements.

// How far others lie apart says how much an expectation from them is worth. Shares of what the hardware can
// do are alike to 30 % at best: then a row that is wrong by 10 % weighs ten times as much. Costs in time and
// cycles are matters of software: a factor of e at least, as where only one or two say anything.
constexpr double kLeastSpread = 0.3, kLooseSpread = 1.0, kMostSpread = 2.0;
constexpr std::size_t kFewStatements = 2;

struct Statement {
    ParameterSite site;
    const Fact* fact;
};

/// All values inside their bounds that devices and stacks of a family state for a parameter: one at a bound
/// says that a mechanism is off (no overlap of streams), not how strong it is. Generations belong to the
/// families of their devices.
class Statements {
  public:
    Statements(const HardwareDatabase& hardware, Family family, Parameter parameter) {
        std::vector<Finding> findings;
        std::set<std::string, std::less<>> generations;
        devices_ = hardware.all_devices(findings);
        std::erase_if(devices_, [&](const auto& device) { return device->family != family; });
        for (const auto& device : devices_) {
            generations.insert(device->generation);
            for (const FittedParameter& fit : device->fitted)
                if (fit.name == info_of(parameter).name && fit.runtime.empty()) // else it follows its stack
                    add({device->id, {}, {}, parameter}, fit.fact);
        }
        for (const std::string& id : hardware.runtime_ids()) {
            const auto runtime = runtimes_.emplace_back(hardware.runtime(id));
            const bool serves = std::ranges::find(runtime->families, family) != runtime->families.end();
            for (const ParameterEntry& entry : runtime->parameters) {
                if (!serves || entry.parameter != parameter)
                    continue;
                add({{}, id, {}, parameter}, entry.value);
                for (const auto& [generation, fact] : entry.by_generation)
                    if (generations.contains(generation))
                        add({{}, id, generation, parameter}, fact);
            }
        }
    }
    const std::vector<Statement>& all() const { return statements_; }

  private:
    void add(ParameterSite site, const Fact& fact) {
        const ParameterInfo& info = info_of(site.parameter);
        if (fact.known() && fact.value > std::max(0.0, info.low) && fact.value < info.high)
            statements_.push_back({std::move(site), &fact});
    }

    std::vector<std::shared_ptr<const Device>> devices_;
    std::vector<std::shared_ptr<const Runtime>> runtimes_;
    std::vector<Statement> statements_;
};

/// An estimate is no evidence for another number, nor is a fit to a row or two, which is mostly what it was
/// expected to be: an expectation that followed it would feed on itself from fit to fit.
static bool is_estimate(const Statement& statement) {
    constexpr int kFewestRows = 3;
    const Fact& fact = *statement.fact;
    return fact.source == nullptr || fact.source->kind == SourceKind::assumed ||
           (fact.source->kind == SourceKind::fitted && fact.fitted_n > 0 && fact.fitted_n < kFewestRows);
}

/// Values of the statements that `take` accepts; estimates only where nothing else speaks.
static std::vector<double> evidence_of(const Statements& statements,
                                       const std::function<bool(const Statement&)>& take) {
    std::vector<double> evidence, estimates;
    for (const Statement& statement : statements.all())
        if (take(statement))
            (is_estimate(statement) ? estimates : evidence).push_back(statement.fact->value);
    return evidence.empty() ? estimates : evidence;
}

/// The stack that a statement concerns; a device's own, where it names none.
static std::string stack_of(const HardwareDatabase& hardware, const ParameterSite& site) {
    return site.runtime.empty() && !site.device.empty() ? hardware.device(site.device).device->default_runtime
                                                        : site.runtime;
}

/// Tells values of one fit from values of another.
using FitKey = std::tuple<Parameter, bool, std::string, double, int, double>;

static FitKey key_of(const ParameterSite& site, const Fact& fact) {
    return {site.parameter, site.device.empty(), site.device.empty() ? std::string() : site.runtime,
            fact.value,     fact.fitted_n,       fact.fitted_error};
}

/// A stack's kernels in 8 bits reach most nearly what its fp32 kernels do, which share their blocking and
/// their authors: more than like the 8-bit kernels of other stacks.
static std::vector<Parameter> same_kernels_in_fp32(Parameter parameter) {
    switch (parameter) {
    case Parameter::integer_vector_efficiency:
        return {Parameter::vector_convolution_efficiency, Parameter::vector_matrix_efficiency};
    case Parameter::integer_winograd_efficiency:
        return {Parameter::winograd_efficiency};
    default:
        return {};
    }
}

/// The values that the stacks of `own` state of their fp32 kernels.
static std::vector<double> of_same_kernels(const HardwareDatabase& hardware, Family family,
                                           const std::vector<ParameterSite>& own) {
    std::vector<double> values;
    for (const Parameter parameter : same_kernels_in_fp32(own.front().parameter)) {
        const Statements statements(hardware, family, parameter);
        for (const Statement& statement : statements.all())
            if (statement.site.device.empty() && std::any_of(own.begin(), own.end(), [&](const auto& mine) {
                    return mine.runtime == statement.site.runtime;
                }))
                values.push_back(statement.fact->value);
    }
    return values;
}

ParameterFit::ParameterFit(const RowEstimator& estimator, std::vector<MeasuredRow> rows,
                           std::vector<TunedParameter> parameters, unsigned threads)
    : estimator_(estimator), rows_(std::move(rows)), parameters_(std::move(parameters)),
      threads_(std::max(1U, threads)), used_(rows_.size()), fitted_(rows_.size()), memory_(rows_.size()),
      rows_alike_(rows_.size(), 1), parents_(parameters_.size(), kShared) {
    for (std::size_t j = 0; j < parameters_.size(); ++j)
        for (std::size_t k = 0; parameters_[j].parent && k < parameters_.size(); ++k)
            if (std::find(parameters_[k].sites.begin(), parameters_[k].sites.end(), *parameters_[j].parent) !=
                parameters_[k].sites.end())
                parents_[j] = k;
    const HardwareDatabase& hardware = estimator_.session().hardware();
    std::map<std::tuple<std::string, std::string, std::string>, std::vector<std::size_t>> members;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        if (!estimator_(rows_[i]).ok())
            continue;
        const auto device = hardware.device(rows_[i].hardware).device;
        const auto runtime = hardware.runtime_for(*device, estimator_.stack_of(rows_[i]));
        for (std::size_t j = 0; j < parameters_.size(); ++j)
            if (std::any_of(parameters_[j].sites.begin(), parameters_[j].sites.end(),
                            [&](const ParameterSite& site) { return decides(site, *device, *runtime); }))
                used_[i].push_back(j);
        const std::vector<std::size_t> all = used_[i];
        std::erase_if(used_[i], [&](std::size_t j) { // an own value stands before what it deviates from
            return std::any_of(all.begin(), all.end(), [&](std::size_t k) { return parents_[k] == j; });
        });
        fitted_[i] = takes_part(rows_[i]) ? 1 : 0;
        if (fitted_[i] != 0)
            members[{device->id, runtime->id, publication_of(rows_[i])}].push_back(i);
    }
    // Rows of a chip under a stack from one source weigh as the square root of their number where others
    // speak too: they err together.
    const bool one =
        members.empty() || std::get<0>(members.begin()->first) == std::get<0>(members.rbegin()->first);
    for (const auto& [shared, group] : members)
        for (const std::size_t i : group)
            rows_alike_[i] = one ? 1 : static_cast<double>(group.size());
}

std::vector<double> ParameterFit::weights() const {
    std::vector<double> weights(rows_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i)
        weights[i] = fitted_[i] != 0 ? rows_[i].weight : 0;
    return weights;
}

std::vector<double> ParameterFit::start() const {
    return mapped(parameters_, [&](const TunedParameter& parameter) -> double { return parameter.start; });
}

bool ParameterFit::uses(std::size_t row, std::size_t parameter) const {
    return std::binary_search(used_[row].begin(), used_[row].end(), parameter);
}

bool ParameterFit::touches(std::size_t row, std::size_t parameter) const {
    return std::any_of(used_[row].begin(), used_[row].end(),
                       [&](std::size_t j) { return j == parameter || parents_[j] == parameter; });
}

bool ParameterFit::used(std::size_t parameter) const {
    for (std::size_t i = 0; i < rows_.size(); ++i)
        if (fitted_[i] != 0 && uses(i, parameter))
            return true;
    return false;
}

Prediction ParameterFit::predict(std::size_t row, std::span<const double> values,
                                 const MachineChanges& changes) const {
    return estimator_(rows_[row], overrides_of(parameters_, used_[row], values), changes);
}

double ParameterFit::residual(std::size_t row, std::span<const double> values) {
    std::vector<double> key = mapped(used_[row], [&](const std::size_t j) -> double { return values[j]; });
    Memory& memory = memory_[row];
    for (std::size_t k = 0; k < memory.keys.size(); ++k)
        if (memory.keys[k] == key)
            return memory.residuals[k];
    const Prediction prediction = predict(row, values);
    const double residual = prediction.ok() ? std::log(prediction.predicted / rows_[row].value)
                                            : std::numeric_limits<double>::infinity();
    if (memory.keys.size() < kRemembered) {
        memory.keys.push_back(std::move(key));
        memory.residuals.push_back(residual);
    } else {
        memory.keys[memory.next] = std::move(key);
        memory.residuals[memory.next] = residual;
        memory.next = (memory.next + 1) % kRemembered;
    }
    return residual;
}

void ParameterFit::residuals(std::span<const double> values, std::span<double> out) {
    in_parallel(rows_.size(), threads_,
                [&](std::size_t i) { out[i] = fitted_[i] != 0 ? residual(i, values) : 0; });
}

std::vector<FitVariable> ParameterFit::variables(const std::vector<double>& start) const {
    std::vector<FitVariable> variables;
    for (std::size_t j = 0; j < parameters_.size(); ++j) {
        const TunedParameter& parameter = parameters_[j];
        const ParameterInfo& info = info_of(parameter.sites.front().parameter);
        FitVariable variable{.name = to_string(parameter.sites.front()),
                             .start = start[j],
                             .low = parameter.held ? start[j] : info.low,
                             .high = parameter.held ? start[j] : info.high,
                             .prior = parameter.prior};
        if (parameter.prior_spread > 0)
            variable.prior_spread = parameter.prior_spread;
        variables.push_back(std::move(variable));
    }
    return variables;
}

FitResult ParameterFit::fit(const std::vector<double>& weights, const std::vector<double>& start,
                            const FitOptions& options) {
    return fit_bounded(
        variables(start), [this](std::span<const double> x, std::span<double> r) { residuals(x, r); },
        weights, options);
}

FitResult ParameterFit::refit(const std::vector<double>& weights, const FitResult& full,
                              const FitOptions& options, const std::vector<char>& wanted) const {
    std::vector<PricedRow> priced;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        PricedRow& row = priced.emplace_back();
        row.residual = full.residuals[i];
        row.about_time = rows_[i].metric == MeasuredMetric::throughput_per_s ? -1 : 1;
        for (const std::size_t j : used_[i])
            row.shares.emplace_back(j, row.about_time * full.jacobian[i * parameters_.size() + j]);
        row.weight = weights[i];
        row.shared_weight = weights[i] / std::sqrt(rows_alike_[i]);
    }
    return fit_on_shares(variables(full.values), parents_, priced, options, wanted);
}

FitResult ParameterFit::with_own(std::vector<TunedParameter> own, const FitResult& at) {
    const std::size_t before = parameters_.size();
    const HardwareDatabase& hardware = estimator_.session().hardware();
    for (TunedParameter& parameter : own) {
        const auto parent = std::ranges::find_if(parameters_, [&](const TunedParameter& p) {
            return std::find(p.sites.begin(), p.sites.end(), *parameter.parent) != p.sites.end();
        });
        parents_.push_back(static_cast<std::size_t>(parent - parameters_.begin()));
        parameters_.push_back(std::move(parameter));
    }
    FitResult result = at;
    result.jacobian.assign(rows_.size() * parameters_.size(), 0);
    for (std::size_t j = before; j < parameters_.size(); ++j)
        result.values.push_back(result.values[parents_[j]]);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        for (std::size_t j = 0; j < before; ++j)
            result.jacobian[i * parameters_.size() + j] = at.jacobian[i * before + j];
        if (fitted_[i] == 0 && used_[i].empty())
            continue;
        const auto device = hardware.device(rows_[i].hardware).device;
        const auto runtime = hardware.runtime_for(*device, estimator_.stack_of(rows_[i]));
        for (std::size_t j = before; j < parameters_.size(); ++j)
            if (decides(parameters_[j].sites.front(), *device, *runtime)) {
                double& shared = result.jacobian[i * parameters_.size() + parents_[j]];
                result.jacobian[i * parameters_.size() + j] = std::exchange(shared, 0);
                std::erase(used_[i], parents_[j]);
                used_[i].push_back(j);
            }
    }
    return result;
}

FitResult ParameterFit::linearised(std::vector<double> values) {
    constexpr double kStep = 1e-3;
    FitResult at;
    at.residuals.resize(rows_.size());
    at.jacobian.resize(rows_.size() * parameters_.size());
    residuals(values, at.residuals);
    std::vector<double> moved(rows_.size());
    for (std::size_t j = 0; j < parameters_.size(); ++j) {
        std::vector<double> x = values;
        x[j] *= std::exp(kStep);
        residuals(x, moved);
        for (std::size_t i = 0; i < rows_.size(); ++i)
            if (const double slope = (moved[i] - at.residuals[i]) / kStep; std::isfinite(slope))
                at.jacobian[i * parameters_.size() + j] = slope;
    }
    at.values = std::move(values);
    return at;
}

bool is_continuous(Parameter parameter) {
    return info_of(parameter).kind == ParameterKind::fitted;
}

Expectation summarize_statements(std::vector<double> values, Parameter parameter) {
    if (values.empty())
        return {};
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    const double middle = quantile(values, 0.5);
    double squares = 0;
    for (const double value : values)
        squares += std::pow(std::log(value / middle), 2);
    const bool few = values.size() <= kFewStatements, share = info_of(parameter).unit == "1";
    const double least = share && !few ? kLeastSpread : kLooseSpread;
    const double scatter =
        values.size() > 1 ? std::sqrt(squares / static_cast<double>(values.size() - 1)) : least;
    const double spread = std::clamp(scatter, least, kMostSpread);
    return {middle, spread};
}

Expectation expect(const Session& session, Family family, const std::vector<ParameterSite>& own) {
    if (std::vector<double> values = of_same_kernels(session.hardware(), family, own); !values.empty())
        return summarize_statements(std::move(values), own.front().parameter);
    const Statements statements(session.hardware(), family, own.front().parameter);
    const auto is_own = [&](const ParameterSite& site) { return std::ranges::find(own, site) != own.end(); };
    std::set<double> own_values; // a copy of the value in question is no witness for it
    for (const Statement& statement : statements.all())
        if (is_own(statement.site))
            own_values.insert(statement.fact->value);
    const auto same_kind = [&](const ParameterSite& site) {
        return site.device.empty() == own.front().device.empty();
    };
    const auto same_scope = [&](const ParameterSite& site) {
        return site.generation.empty() == own.front().generation.empty();
    };
    const auto same_stack = [&](const ParameterSite& site) {
        return !site.runtime.empty() && contains(own, site.runtime, &ParameterSite::runtime);
    };
    const auto chips_of_stack = [&](const ParameterSite& site) {
        return !site.device.empty() && std::any_of(own.begin(), own.end(), [&](const ParameterSite& mine) {
            return mine.device.empty() && mine.runtime == stack_of(session.hardware(), site);
        });
    };
    const auto own_stack = [&](const ParameterSite& site) {
        return site.device.empty() && site.generation.empty() &&
               std::any_of(own.begin(), own.end(), [&](const ParameterSite& mine) {
                   return site.runtime == stack_of(session.hardware(), mine);
               });
    };
    // Devices are like devices, stacks like stacks, and what a stack says of all generations is like what
    // others say of all; a generation under a stack is most like other generations under that stack, whose
    // kernels and host code it shares, and what a stack says of all chips like what its chips say of
    // themselves. What no other device states its stack may state of every device. Where
    // there is no other of the kind, any will do, and a copy is better than nothing.
    for (const bool copies : {false, true})
        for (const auto& like : std::array<std::function<bool(const ParameterSite&)>, 6>{
                 [&](const ParameterSite& site) {
                     return same_kind(site) && same_scope(site) && same_stack(site);
                 },
                 chips_of_stack,
                 [&](const ParameterSite& site) { return same_kind(site) && same_scope(site); }, same_kind,
                 own_stack, [](const ParameterSite&) { return true; }}) {
            const std::vector<double> values = evidence_of(statements, [&](const Statement& statement) {
                return !is_own(statement.site) && like(statement.site) &&
                       (copies || !own_values.contains(statement.fact->value));
            });
            if (!values.empty())
                return summarize_statements(values, own.front().parameter);
        }
    return {};
}

Expectation expect_elsewhere(const Session& session, Family family, Parameter parameter) {
    std::vector<double> evidence, estimates;
    for (const Family& other : families()) {
        if (other == family)
            continue;
        const Statements statements(session.hardware(), other, parameter);
        for (const Statement& statement : statements.all())
            (is_estimate(statement) ? estimates : evidence).push_back(statement.fact->value);
    }
    return summarize_statements(std::move(evidence.empty() ? estimates : evidence), parameter);
}

/// The site that decides a parameter for a chip that has no value of its own under the stack.
static std::optional<ParameterSite> shared_site(const Device& device, const Runtime& runtime,
                                                Parameter parameter) {
    Device without = device;
    std::erase_if(without.fitted, [&](const FittedParameter& fit) {
        return fit.name == info_of(parameter).name && !fit.runtime.empty();
    });
    return site_of(without, runtime, parameter);
}

std::vector<TunedParameter>
stated_parameters(const RowEstimator& estimator, const std::vector<MeasuredRow>& rows,
                  const std::function<bool(const ParameterSite&, const Fact&)>& take) {
    const HardwareDatabase& hardware = estimator.session().hardware();
    std::map<FitKey, TunedParameter> found;
    std::map<FitKey, Family> families;
    std::set<std::pair<std::string, std::string>> seen;
    for (const MeasuredRow& row : known_rows(estimator, rows)) {
        if (!seen.emplace(row.hardware, estimator.stack_of(row)).second)
            continue;
        const auto device = hardware.device(row.hardware).device;
        const auto runtime = hardware.runtime_for(*device, estimator.stack_of(row));
        const auto add = [&](const ParameterSite& site) -> TunedParameter* {
            const Fact& fact = *stated_at(*device, *runtime, site);
            if (!(fact.value > 0) || !take(site, fact))
                return nullptr;
            const FitKey key = key_of(site, fact);
            families.emplace(key, device->family);
            TunedParameter& tuned = found[key];
            tuned.start = fact.value;
            if (std::find(tuned.sites.begin(), tuned.sites.end(), site) == tuned.sites.end())
                tuned.sites.push_back(site);
            return &tuned;
        };
        for (std::size_t p = 0; p < kParameterCount; ++p) {
            const auto parameter = static_cast<Parameter>(p);
            const auto site = is_continuous(parameter) ? site_of(*device, *runtime, parameter) : std::nullopt;
            TunedParameter* const tuned = site ? add(*site) : nullptr;
            const auto shared = tuned != nullptr && !site->device.empty() && !site->runtime.empty()
                                    ? shared_site(*device, *runtime, parameter)
                                    : std::nullopt;
            if (shared && add(*shared) != nullptr)
                tuned->parent = *shared;
        }
    }
    std::vector<TunedParameter> parameters;
    for (auto& [key, tuned] : found) {
        Expectation expected = expect(estimator.session(), families.at(key), tuned.sites);
        // A value that nobody else states keeps its order of magnitude: rows that hardly use it would send it
        // anywhere.
        if (!(expected.spread > 0))
            expected = {tuned.start, kLooseSpread};
        tuned.prior = expected.value;
        tuned.prior_spread = tuned.parent ? kOwnSpread : expected.spread;
        parameters.push_back(std::move(tuned));
    }
    return parameters;
}

std::vector<TunedParameter> fitted_parameters(const RowEstimator& estimator,
                                              const std::vector<MeasuredRow>& rows) {
    return stated_parameters(estimator, rows, [](const ParameterSite&, const Fact& fact) {
        return fact.source != nullptr && rests_on_measurements(fact.source->kind);
    });
}

std::string file_of(const HardwareDatabase& hardware, const ParameterSite& site) {
    return site.device.empty() ? hardware.runtime(site.runtime)->file
                               : hardware.device(site.device).device->file;
}

std::vector<MeasuredRow> known_rows(const RowEstimator& estimator, const std::vector<MeasuredRow>& rows) {
    std::vector<MeasuredRow> known;
    for (const MeasuredRow& row : rows) {
        try {
            const HardwareDatabase& hardware = estimator.session().hardware();
            hardware.runtime_for(*hardware.device(row.hardware).device, estimator.stack_of(row));
            known.push_back(row);
        } catch (const Error&) {
            continue; // validate_estimates lists such rows with their reason
        }
    }
    return known;
}

} // namespace archsim
