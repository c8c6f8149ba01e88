#include "core/text_file.hpp"
#include "fit/errors/leave_out.hpp"
#include "fit/errors/quantile.hpp"
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

namespace {

/// Units in which people read such numbers, where the library's own is far from them.
std::string_view usual_unit(std::string_view unit) {
    return unit == "s" ? "us" : unit == "B/s" ? "GB/s" : unit;
}

/// Four significant digits: more would claim more than any fit knows.
double rounded(double value) {
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
                                  : info.name);
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
        // What public facts alone say outlives every fit.
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
        for (const char* key : {"fitted", "parameters", "sources"})
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
        ordered_json& parameters = member(document_, "parameters");
        if (site.generation.empty())
            return parameters;
        return member(member(parameters, std::string(info_of(site.parameter).name)), "by_generation");
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

} // namespace

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
