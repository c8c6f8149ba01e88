// Which statements of the database a fit may vary, and what to expect of them without measurements.

#include "compare/quantile.hpp"
#include "run/parameter_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <tuple>

namespace archsim {

namespace {

constexpr std::array kStructural = {
    Parameter::fused_attention_bits, Parameter::alignment_bytes,     Parameter::merge_products,
    Parameter::channels_last,        Parameter::dequantization_rows, Parameter::microbatch_rows,
    Parameter::int4_weight_bits,     Parameter::int4_head_bits,      Parameter::int8_weight_bits,
    Parameter::int8_head_bits,       Parameter::fp8_head_bits,       Parameter::fp4_weight_bits,
    Parameter::fp4_head_bits,        Parameter::kv_cache_bits,       Parameter::static_context,
    Parameter::largest_batch,        Parameter::operand_replication, Parameter::head_parallel_attention,
    Parameter::wide_element_bytes,   Parameter::channel_block,       Parameter::row_packing,
    Parameter::column_packing,       Parameter::wide_passes,         Parameter::cores_per_inference,
    Parameter::weight_residency,     Parameter::input_refetch,       Parameter::reserved_memory};

// An expectation from other devices and stacks is loose: a factor of e, more where they disagree or only one
// says anything. It weighs less than a measurement.
constexpr double kLeastSpread = 1.0, kLoneSpread = 1.5, kMostSpread = 2.0;

/// Median and spread of values above zero: one device of another kind must not move what to expect.
Expectation summary(std::vector<double> values) {
    if (values.empty())
        return {};
    std::sort(values.begin(), values.end());
    const double middle = quantile(values, 0.5);
    double squares = 0;
    for (const double value : values)
        squares += std::pow(std::log(value / middle), 2);
    const double spread = values.size() == 1
                              ? kLoneSpread
                              : std::clamp(std::sqrt(squares / static_cast<double>(values.size() - 1)),
                                           kLeastSpread, kMostSpread);
    return {middle, spread};
}

struct Statement {
    ParameterSite site;
    const Fact* fact;
};

/// All values above zero that devices and stacks of a family state for a parameter. Generations belong to the
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
                if (fit.name == info_of(parameter).name)
                    add({device->id, fit.runtime, {}, parameter}, fit.fact);
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
        if (fact.known() && fact.value > 0)
            statements_.push_back({std::move(site), &fact});
    }

    std::vector<std::shared_ptr<const Device>> devices_;
    std::vector<std::shared_ptr<const Runtime>> runtimes_;
    std::vector<Statement> statements_;
};

/// What tells values of one fit from values of another.
using FitKey = std::tuple<Parameter, bool, double, int, double>;

FitKey key_of(const ParameterSite& site, const Fact& fact) {
    return {site.parameter, site.device.empty(), fact.value, fact.fitted_n, fact.fitted_error};
}

} // namespace

bool is_continuous(Parameter parameter) {
    return std::find(kStructural.begin(), kStructural.end(), parameter) == kStructural.end();
}

Expectation expect(const Session& session, Family family, const std::vector<ParameterSite>& own) {
    const Statements statements(session.hardware(), family, own.front().parameter);
    // Devices are like devices, stacks like stacks; where there is no other of the kind, any will do.
    for (const bool same_kind : {true, false}) {
        std::vector<double> values;
        for (const Statement& statement : statements.all())
            if (std::find(own.begin(), own.end(), statement.site) == own.end() &&
                (!same_kind || statement.site.device.empty() == own.front().device.empty()))
                values.push_back(statement.fact->value);
        if (!values.empty())
            return summary(std::move(values));
    }
    return {};
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
        for (std::size_t p = 0; p < kParameterCount; ++p) {
            const auto parameter = static_cast<Parameter>(p);
            const auto site = is_continuous(parameter) ? site_of(*device, *runtime, parameter) : std::nullopt;
            if (!site)
                continue;
            const Fact& fact = *stated_at(*device, *runtime, *site);
            if (!(fact.value > 0) || !take(*site, fact))
                continue;
            const FitKey key = key_of(*site, fact);
            families.emplace(key, device->family);
            TunedParameter& tuned = found[key];
            tuned.start = fact.value;
            if (std::find(tuned.sites.begin(), tuned.sites.end(), *site) == tuned.sites.end())
                tuned.sites.push_back(*site);
        }
    }
    std::vector<TunedParameter> parameters;
    for (auto& [key, tuned] : found) {
        const Expectation expected = expect(estimator.session(), families.at(key), tuned.sites);
        tuned.prior = expected.value;
        tuned.prior_spread = expected.spread;
        parameters.push_back(std::move(tuned));
    }
    return parameters;
}

std::vector<TunedParameter> fitted_parameters(const RowEstimator& estimator,
                                              const std::vector<MeasuredRow>& rows) {
    return stated_parameters(estimator, rows, [](const ParameterSite&, const Fact& fact) {
        return fact.source != nullptr && fact.source->kind == SourceKind::fitted;
    });
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
