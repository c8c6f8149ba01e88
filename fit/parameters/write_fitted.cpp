#include "core/lists.hpp"
#include "core/text_file.hpp"
#include "fit/errors/leave_out.hpp"
#include "fit/parameters/calibrate.hpp"
#include "hardware/json_edit.hpp"
#include "hardware/units.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>
#include <utility>

namespace archsim {

using nlohmann::ordered_json;

/// Values that move by less stay, so that fits that follow each other settle.
constexpr double kLeastChange = 0.005;

// A chip has values of its own under a stack for what prices most of its time, one for so many rows, where
// networks of it differ and other chips say what the stack does without it.
constexpr std::size_t kMostOwn = 2, kRowsForOwn = 3, kFewestNetworks = 2;
constexpr double kLeastPriced = 1; ///< of the rows' times, together

/// Rows that a parameter decides, and their median error.
struct Support {
    int rows = 0;
    double error = 0;
};

static Support support_of(const ParameterFit& fit, std::size_t parameter,
                          const std::vector<Prediction>& left_out) {
    const std::vector<double> weights = fit.weights();
    std::vector<double> errors;
    for (std::size_t i = 0; i < weights.size(); ++i)
        if (weights[i] > 0 && fit.touches(i, parameter) && left_out[i].ok())
            errors.push_back(std::abs(left_out[i].predicted / fit.rows()[i].value - 1));
    std::sort(errors.begin(), errors.end());
    return {static_cast<int>(errors.size()), errors.empty() ? 0 : quantile(errors, 0.5)};
}

using Set = std::pair<std::string, std::string>; ///< a chip and its stack

static Set set_of(const RowEstimator& estimator, const MeasuredRow& row) {
    const HardwareDatabase& hardware = estimator.session().hardware();
    const auto device = hardware.device(row.hardware).device;
    return {device->id, hardware.runtime_for(*device, estimator.stack_of(row))->id};
}

/// Values of their own for chips that have none yet.
static std::vector<TunedParameter> own_parameters(const RowEstimator& estimator, const ParameterFit& fit,
                                                  const FitResult& at) {
    struct Rows {
        std::size_t number = 0;
        std::set<std::string_view> networks;
        std::map<std::size_t, double> priced; ///< by parameter: of their times, together
    };
    const std::vector<TunedParameter>& parameters = fit.parameters();
    const std::vector<double> weights = fit.weights();
    std::map<Set, Rows> sets;
    std::vector<std::set<std::string>> chips(parameters.size());
    for (std::size_t i = 0; i < weights.size(); ++i) {
        if (weights[i] <= 0)
            continue;
        const Set set = set_of(estimator, fit.rows()[i]);
        Rows& of_set = sets[set];
        ++of_set.number;
        of_set.networks.insert(fit.rows()[i].model);
        for (std::size_t j = 0; j < parameters.size(); ++j)
            if (fit.touches(i, j) && parameters[j].sites.front().device.empty() &&
                info_of(parameters[j].sites.front().parameter).role != ParameterRole::host) {
                of_set.priced[j] += weights[i] * std::abs(at.jacobian[i * parameters.size() + j]);
                chips[j].insert(set.first);
            }
    }
    for (const TunedParameter& parameter : parameters)
        if (parameter.parent)
            sets.erase({parameter.sites.front().device, parameter.sites.front().runtime});
    std::vector<TunedParameter> own;
    for (const auto& [set, rows] : sets) {
        std::vector<std::pair<double, std::size_t>> order;
        for (const auto& [j, sum] : rows.priced)
            if (sum >= kLeastPriced && chips[j].size() > 1 && rows.networks.size() >= kFewestNetworks)
                order.emplace_back(sum, j);
        std::sort(order.rbegin(), order.rend());
        order.resize(std::min({order.size(), kMostOwn, rows.number / kRowsForOwn}));
        for (const auto& [_, j] : order) {
            TunedParameter& tuned = own.emplace_back(parameters[j]);
            tuned.parent = tuned.sites.front();
            tuned.sites = {{set.first, set.second, {}, tuned.parent->parameter}};
            tuned.start = at.values[j];
            tuned.prior_spread = kOwnSpread;
        }
    }
    return own;
}

/// Units in which people read such numbers, where the library's own is far from them.
static std::string_view usual_unit(std::string_view unit) {
    return unit == "s" ? "us" : unit == "B/s" ? "GB/s" : unit;
}

/// Four significant digits: more would claim more than any fit knows.
static double rounded(double value) {
    return std::stod(fmt::format("{:.4g}", value));
}

class Writer {
  public:
    Writer(const std::string& text, const std::string& file) : text_(text) {
        document_ = ordered_json::parse(text, nullptr, false);
        if (!document_.is_object())
            throw InputError(
                fmt::format("{}: is not a JSON object; fix it before parameters are written", file));
    }

    void name_source(const std::string& cite, const std::string& date) {
        ordered_json& sources = member(document_, "sources");
        int number = 1;
        while (sources.contains(fmt::format("S{}", number)))
            ++number;
        source_ = fmt::format("S{}", number);
        sources[source_] = {{"kind", "fitted"}, {"cite", cite}, {"date", date}};
    }

    void set(const FittedValue& fitted) {
        const ParameterInfo& info = info_of(fitted.site.parameter);
        ordered_json& block = owner(fitted.site);
        const std::string key(fitted.site.device.empty() && !fitted.site.generation.empty()
                                  ? std::string_view(fitted.site.generation)
                              : !fitted.site.device.empty() ? info.name
                                                            : info.key);
        ordered_json& entry = member(block, key);
        std::string unit(usual_unit(info.unit));
        if (const auto stated = entry.find("unit"); stated != entry.end() && stated->is_string())
            unit = stated->get<std::string>();
        const Unit* from = find_unit(info.unit);
        const Unit* to = find_unit(unit);
        if (to == nullptr || from->dimension != to->dimension) {
            unit = info.unit;
            to = from;
        }
        ordered_json written = {{"value", rounded(fitted.value * from->factor / to->factor)},
                                {"unit", unit},
                                {"source", source_},
                                {"n", fitted.n},
                                {"error", rounded(std::round(fitted.error * 1e3) / 1e3)}};
        if (!fitted.note.empty())
            written["note"] = fitted.note;
        if (says_the_same(entry, written))
            return;
        changed_ = true;
        // Values from public facts alone outlive every fit.
        for (const char* kept : {"before", "by_generation"})
            if (const auto stated = entry.find(kept); stated != entry.end())
                written[kept] = *stated;
        entry = std::move(written);
    }

    void set(const std::vector<FittedMultiple>& multiples) {
        const ordered_json before = std::exchange(member(document_, "fitted"), ordered_json::object());
        ordered_json& families = document_["fitted"];
        for (const FittedMultiple& multiple : multiples)
            families[multiple.family][multiple.group] = {
                {"value", rounded(multiple.value)},
                {"unit", "1"},
                {"source", source_},
                {"n", multiple.n},
                {"error", rounded(std::round(multiple.error * 1e3) / 1e3)}};
        changed_ = before.size() != families.size();
        for (const auto& [family, groups] : families.items())
            for (const auto& [group, written] : groups.items()) {
                const auto at = ordered_json::json_pointer("/" + family + "/" + group);
                changed_ = changed_ || !before.contains(at) || !says_the_same(before[at], written);
            }
    }

    /// The text as it was where it says all of it already: numbers keep the source and date they have.
    std::string text() {
        if (!changed_)
            return text_;
        drop_unused_sources();
        std::string result = text_;
        for (const char* key : {"fitted", "parameters", "kernels", "sources"})
            if (const auto value = document_.find(key); value != document_.end())
                result = with_member(result, key, *value);
        return result;
    }

  private:
    static ordered_json& member(ordered_json& object, const std::string& key) {
        if (!object.contains(key) || !object[key].is_object())
            object[key] = ordered_json::object();
        return object[key];
    }

    /// The same number, unit and support, whatever fit found it.
    static bool says_the_same(const ordered_json& stated, const ordered_json& written) {
        for (const auto& [key, value] : written.items())
            if (key != "source" && (!stated.is_object() || !stated.contains(key) || stated[key] != value))
                return false;
        return true;
    }

    ordered_json& owner(const ParameterSite& site) {
        if (!site.device.empty()) {
            ordered_json& fitted = member(document_, "fitted");
            return site.runtime.empty() ? fitted : member(fitted, site.runtime);
        }
        const ParameterInfo& info = info_of(site.parameter);
        ordered_json& stated = info.kernel.empty()
                                   ? member(document_, "parameters")
                                   : member(member(document_, "kernels"), std::string(info.kernel));
        if (site.generation.empty())
            return stated;
        return member(member(stated, std::string(info.key)), "by_generation");
    }

    static void collect(const ordered_json& value, std::set<std::string>& used) {
        if (value.is_object())
            if (const auto source = value.find("source"); source != value.end() && source->is_string())
                used.insert(source->get<std::string>());
        if (value.is_structured())
            for (const auto& item : value)
                collect(item, used);
    }

    /// A fit none of whose numbers is left stands behind nothing, nor does a source whose last number was
    /// replaced.
    void drop_unused_sources() {
        const std::set<std::string> used = cited(document_);
        const std::set<std::string> used_before = cited(ordered_json::parse(text_, nullptr, false));
        ordered_json kept = ordered_json::object();
        for (const auto& [key, value] : document_["sources"].items()) {
            const bool fit = value.is_object() && value.value("kind", ordered_json()) == "fitted";
            if (used.contains(key) || (!used_before.contains(key) && !fit))
                kept[key] = value;
        }
        document_["sources"] = std::move(kept);
    }

    static std::set<std::string> cited(const ordered_json& document) {
        std::set<std::string> used;
        for (const auto& [key, value] : document.items())
            if (key != "sources")
                collect(value, used);
        return used;
    }

    const std::string& text_;
    ordered_json document_;
    std::string source_;
    bool changed_ = false;
};

Refit refit_all(const RowEstimator& estimator, const std::vector<MeasuredRow>& rows, unsigned threads,
                const std::vector<std::string>& held) {
    const HardwareDatabase& hardware = estimator.session().hardware();
    Refit result;
    std::map<std::string, std::vector<FittedValue>> files;
    std::vector<TunedParameter> parameters = fitted_parameters(estimator, rows);
    for (TunedParameter& parameter : parameters) { // others that share a value of theirs go on without them
        std::vector<ParameterSite> free = parameter.sites;
        std::erase_if(free, [&](const ParameterSite& site) {
            return site.device.empty() && std::find(held.begin(), held.end(), site.runtime) != held.end();
        });
        parameter.held = free.empty();
        if (!parameter.held)
            parameter.sites = std::move(free);
    }
    for (ConnectedRows& set : connected_rows(estimator, rows, parameters, threads)) {
        if (set.parameters.empty())
            continue;
        std::vector<MeasuredRow> part = mapped(set.rows, [&](const std::size_t i) { return rows[i]; });
        ParameterFit fit(estimator, std::move(part), std::move(set.parameters), threads);
        FitResult stated = fit.linearised(fit.start());
        stated = fit.with_own(own_parameters(estimator, fit, stated), stated);
        const FitResult full = fit.refit(fit.weights(), stated);
        const std::vector<Prediction> left_out = left_out_predictions(fit, LeaveOut::model, stated);
        const std::vector<double> weights = fit.weights();
        result.rows += static_cast<std::size_t>(
            std::count_if(weights.begin(), weights.end(), [](double w) { return w > 0; }));
        for (std::size_t j = 0; j < fit.parameters().size(); ++j) {
            const Support support = support_of(fit, j, left_out);
            if (support.rows == 0)
                continue;
            ++result.parameters;
            const TunedParameter& parameter = fit.parameters()[j];
            const bool stays = std::abs(std::log(full.values[j] / parameter.start)) < kLeastChange;
            const double value = stays ? parameter.start : full.values[j];
            for (const ParameterSite& site : parameter.sites)
                files[file_of(hardware, site)].push_back({site, value, support.rows, support.error, {}});
        }
    }
    for (auto& [file, values] : files)
        result.files.push_back({file, std::move(values)});
    for (const auto& [family, fitted] : PriceFits(estimator, rows).families())
        for (std::size_t g = 0; g < kPriceGroupCount; ++g)
            if (fitted.used[g])
                result.multiples.push_back({family, std::string(name_of(static_cast<PriceGroup>(g))),
                                            fitted.values[g], static_cast<int>(fitted.runs), fitted.error});
    return result;
}

std::string multiples_text(const Session& session, const std::vector<FittedMultiple>& multiples,
                           const std::string& date) {
    const std::filesystem::path& file = session.energy().file();
    return with_multiples(read_text_file(file), file.string(), multiples,
                          "power of tests/measured and tests/measured/energy at measured times, "
                          "validate_estimates --refit",
                          date);
}

std::string with_fitted(const std::string& text, const std::string& file,
                        const std::vector<FittedValue>& values, const std::string& cite,
                        const std::string& date) {
    Writer writer(text, file);
    writer.name_source(cite, date);
    for (const FittedValue& value : values)
        writer.set(value);
    return writer.text();
}

std::string with_multiples(const std::string& text, const std::string& file,
                           const std::vector<FittedMultiple>& multiples, const std::string& cite,
                           const std::string& date) {
    Writer writer(text, file);
    writer.name_source(cite, date);
    writer.set(multiples);
    return writer.text();
}

} // namespace archsim
