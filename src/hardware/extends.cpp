#include "hardware/extends.hpp"

#include <algorithm>
#include <utility>

namespace archsim {

using nlohmann::json;

namespace {

void qualify_sources(json& value, const std::string& prefix) {
    if (value.is_array()) {
        for (json& item : value)
            qualify_sources(item, prefix);
        return;
    }
    if (!value.is_object())
        return;
    for (auto& [key, member] : value.items()) {
        if (key == "source" && member.is_string())
            member.get_ref<std::string&>().insert(0, prefix);
        else
            qualify_sources(member, prefix);
    }
}

bool has_names(const json& array) {
    return !array.empty() && std::all_of(array.begin(), array.end(), [](const json& item) {
        return item.is_object() && item.contains("name") && item["name"].is_string();
    });
}

void merge_object(json& target, const json& patch);

void merge_by_name(json& target, const json& patch) {
    for (const json& item : patch) {
        const auto same = std::find_if(target.begin(), target.end(), [&](const json& candidate) {
            return candidate["name"] == item["name"];
        });
        if (same == target.end())
            target.push_back(item);
        else
            merge_object(*same, item);
    }
}

void merge_object(json& target, const json& patch) {
    for (const auto& [key, value] : patch.items()) {
        if (value.is_null()) {
            target.erase(key);
            continue;
        }
        const auto existing = target.find(key);
        const bool both = existing != target.end();
        if (both && value.is_object() && existing->is_object() && !value.contains("value"))
            merge_object(*existing, value);
        else if (both && value.is_array() && existing->is_array() && has_names(value) && has_names(*existing))
            merge_by_name(*existing, value);
        else
            target[key] = value;
    }
}

} // namespace

json extend_device(json base, const json& derived, const std::string& base_id) {
    const std::string prefix = base_id + ":";
    json sources = json::object();
    if (const auto own = base.find("sources"); own != base.end() && own->is_object()) {
        for (const auto& [key, source] : own->items())
            sources[prefix + key] = source;
        base.erase("sources");
    }
    qualify_sources(base, prefix);
    base["sources"] = std::move(sources);
    for (const char* key : {"id", "name", "aliases", "notes", "extends", "measured_as", "$schema"})
        base.erase(key);
    if (derived.contains("engines") || derived.contains("clocks"))
        base.erase("peaks");
    merge_object(base, derived);
    return base;
}

} // namespace archsim
