// Which statements of the database a fit may vary, and what to expect of them without measurements.

#include "fit/errors/quantile.hpp"
#include "fit/parameters/parameter_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace archsim {

namespace {

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
            const bool serves = std::find(runtime->families.begin(), runtime->families.end(), family) !=
                                runtime->families.end();
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
bool is_estimate(const Statement& statement) {
    constexpr int kFewestRows = 3;
    const Fact& fact = *statement.fact;
    return fact.source == nullptr || fact.source->kind == SourceKind::assumed ||
           (fact.source->kind == SourceKind::fitted && fact.fitted_n > 0 && fact.fitted_n < kFewestRows);
}

/// Values of the statements that `take` accepts; estimates only where nothing else speaks.
std::vector<double> evidence_of(const Statements& statements,
                                const std::function<bool(const Statement&)>& take) {
    std::vector<double> evidence, estimates;
    for (const Statement& statement : statements.all())
        if (take(statement))
            (is_estimate(statement) ? estimates : evidence).push_back(statement.fact->value);
    return evidence.empty() ? estimates : evidence;
}

/// The stack that a statement concerns; a device's own, where it names none.
std::string stack_of(const HardwareDatabase& hardware, const ParameterSite& site) {
    return site.runtime.empty() && !site.device.empty() ? hardware.device(site.device).device->default_runtime
                                                        : site.runtime;
}

/// What tells values of one fit from values of another.
using FitKey = std::tuple<Parameter, bool, std::string, double, int, double>;

FitKey key_of(const ParameterSite& site, const Fact& fact) {
    return {site.parameter, site.device.empty(), site.device.empty() ? std::string() : site.runtime,
            fact.value,     fact.fitted_n,       fact.fitted_error};
}

/// What a stack's kernels reach in 8 bits is most like what its fp32 kernels reach, which share their
/// blocking and their authors: more than like the 8-bit kernels of other stacks.
std::vector<Parameter> same_kernels_in_fp32(Parameter parameter) {
    switch (parameter) {
    case Parameter::integer_vector_efficiency:
        return {Parameter::vector_convolution_efficiency, Parameter::vector_matrix_efficiency};
    case Parameter::integer_winograd_efficiency:
        return {Parameter::winograd_efficiency};
    default:
        return {};
    }
}

/// What the stacks of `own` say of their fp32 kernels.
std::vector<double> of_same_kernels(const HardwareDatabase& hardware, Family family,
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

} // namespace

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
    const auto is_own = [&](const ParameterSite& site) {
        return std::find(own.begin(), own.end(), site) != own.end();
    };
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
        return !site.runtime.empty() && std::any_of(own.begin(), own.end(), [&](const ParameterSite& mine) {
            return mine.runtime == site.runtime;
        });
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

std::optional<ParameterSite> shared_site(const Device& device, const Runtime& runtime, Parameter parameter) {
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
        // What nobody else states keeps its order of magnitude: rows that hardly use it would send it
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
