#include "checkpoint/fields.hpp"

#include "checkpoint/model_types.hpp"
#include "core/json_document.hpp"
#include "core/text_file.hpp"

#include <fmt/ranges.h>

#include <cmath>

namespace archsim::checkpoint {

using nlohmann::json;

/// Python's json module writes what JSON has no word for.
static std::string without_infinities(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    bool quoted = false;
    for (std::size_t i = 0; i < text.size();) {
        if (text[i] == '"' && (i == 0 || text[i - 1] != '\\'))
            quoted = !quoted;
        bool replaced = false;
        for (const std::string_view word : {"-Infinity", "Infinity", "NaN"})
            if (!quoted && text.substr(i).starts_with(word)) {
                out += "null";
                i += word.size();
                replaced = true;
                break;
            }
        if (!replaced)
            out += text[i++];
    }
    return out;
}

/// Letters of a pattern ("MEM*E"), or numbers with commas.
static bool lists_layers(const std::string& text) {
    constexpr std::size_t kShortest = 4;
    return text.size() >= kShortest &&
           (text.find_first_not_of("0123456789, ") == std::string::npos ||
            (text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ*-|") == std::string::npos &&
             std::set<char>(text.begin(), text.end()).size() < text.size()));
}

/// A value that could be a size or a pattern of layers: numbers that are no fractions, lists, objects,
/// `true`.
static bool could_be_size(const json& value) {
    if (value.is_string())
        return lists_layers(value.get_ref<const std::string&>());
    if (value.is_number_float())
        return value.get<double>() == std::floor(value.get<double>()) && value.get<double>() >= 2;
    if (value.is_number_integer())
        return value.get<std::int64_t>() >= 2;
    return (value.is_structured() && !value.empty()) || (value.is_boolean() && value.get<bool>());
}

Finding found(FindingKind kind, Severity severity, std::string file, std::string where, std::string message,
              std::string hint) {
    return {.kind = kind,
            .severity = severity,
            .message = std::move(message),
            .file = std::move(file),
            .where = std::move(where),
            .hint = std::move(hint)};
}

void refuse(std::string file, std::string message, std::string hint, std::string where, FindingKind kind) {
    throw InputError(
        found(kind, Severity::error, std::move(file), std::move(where), std::move(message), std::move(hint)));
}

bool changes_no_size(std::string_view key) {
    const auto any = [](const json& group, const char* list, const auto& holds) {
        const auto names = group.find(list);
        return names != group.end() && any_name(*names, holds);
    };
    const std::string padded = '_' + std::string(key) + '_';
    const bool sized = any(model_types(), "size_words", [&](std::string_view word) {
        return padded.find('_' + std::string(word) + '_') != std::string::npos;
    });
    const json& groups = model_types().at("harmless");
    return std::ranges::any_of(groups, [&](const json& group) {
        return any(group, "fields", [&](std::string_view name) { return key == name; }) ||
               (!sized &&
                (any(group, "endings", [&](std::string_view end) { return key.ends_with(end); }) ||
                 any(group, "beginnings", [&](std::string_view start) { return key.starts_with(start); })));
    });
}

json parse_python_json(std::string_view text, const std::string& file) {
    try {
        json document = read_json(without_infinities(text)).root.copy();
        if (document.is_object())
            return document;
    } catch (const JsonFault& fault) {
        throw InputError(fmt::format("{}: {}; {}", file, fault.what(), fault.hint));
    }
    throw InputError(fmt::format("{}: not the configuration of a model: no JSON object", file));
}

std::string read_config_text(const std::filesystem::path& file, std::uintmax_t largest) {
    std::error_code problem;
    const auto size = std::filesystem::file_size(file, problem);
    if (!problem && size > largest)
        throw InputError(fmt::format("{}: {} bytes are no configuration of a model", file.string(), size));
    return read_text_file(file);
}

std::string text_at(const json& object, const char* key) {
    const auto it = object.find(key);
    return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

Fields::Fields(const json& object, std::string file, std::string prefix)
    : object_(object), file_(std::move(file)), prefix_(std::move(prefix)) {}

const json* Fields::find(Names names) {
    const json* found = nullptr;
    for (const char* name : names) {
        read_.insert(name);
        if (const auto it = object_.find(name); !found && it != object_.end() && !it->is_null())
            found = &*it;
    }
    return found;
}

void Fields::refuse(const std::string& key, const std::string& why) const {
    checkpoint::refuse(
        file_, why,
        "where the file is as published, the model's GGUF file or ONNX export says the same by tensors",
        prefix_ + key, FindingKind::malformed_file);
}

std::int64_t Fields::count(Names names, std::int64_t fallback, std::int64_t least) {
    const json* value = find(names);
    if (!value)
        return fallback;
    const std::string key = *names.begin();
    if (value->is_array() && !value->empty()) { // one for each layer
        if (std::any_of(value->begin(), value->end(), [&](const json& one) { return one != value->front(); }))
            refuse(key, "differs from layer to layer, which is not known of this field");
        value = &value->front();
    }
    if (!value->is_number())
        refuse(key, "must be a whole number");
    const auto number = value->get<double>();
    if (number != std::floor(number) || number > kLargestCount || number < static_cast<double>(least))
        refuse(key, fmt::format("{} is no count of at least {}", value->dump(), least));
    return static_cast<std::int64_t>(number);
}

std::int64_t Fields::count(Names names) {
    if (!has(names))
        refuse(*names.begin(), fmt::format("missing; also looked for {}", fmt::join(names, ", ")));
    return count(names, 0, 1);
}

double Fields::number(Names names, double fallback) {
    const json* value = find(names);
    if (!value)
        return fallback;
    if (!value->is_number() || !std::isfinite(value->get<double>()))
        refuse(*names.begin(), "must be a number");
    return value->get<double>();
}

bool Fields::flag(Names names, bool fallback) {
    const json* value = find(names);
    if (!value)
        return fallback;
    if (value->is_number())
        return value->get<double>() != 0;
    if (!value->is_boolean())
        refuse(*names.begin(), "must be true or false");
    return value->get<bool>();
}

std::string Fields::text(Names names, const std::string& fallback) {
    const json* value = find(names);
    if (!value)
        return fallback;
    if (!value->is_string())
        refuse(*names.begin(), "must be text");
    return value->get<std::string>();
}

std::vector<std::string> Fields::texts(Names names) {
    std::vector<std::string> out;
    if (const json* value = find(names)) {
        if (!value->is_array())
            refuse(*names.begin(), "must be a list of text");
        for (const json& item : *value) {
            if (!item.is_string())
                refuse(*names.begin(), "must be a list of text");
            out.push_back(item.get<std::string>());
        }
    }
    return out;
}

std::vector<std::int64_t> Fields::counts(Names names) {
    std::vector<std::int64_t> out;
    if (const json* value = find(names)) {
        if (!value->is_array())
            refuse(*names.begin(), "must be a list of numbers");
        for (const json& item : *value) {
            if (!item.is_number() || std::abs(item.get<double>()) > kLargestCount)
                refuse(*names.begin(), "must be a list of numbers");
            out.push_back(static_cast<std::int64_t>(item.get<double>()));
        }
    }
    return out;
}

Fields Fields::part(Names names) {
    static const json kNothing = json::object();
    const json* value = find(names);
    if (value && value->is_array() && !value->empty())
        value = &value->front();
    return {value && value->is_object() ? *value : kNothing, file_, place(std::string(*names.begin()) + ".")};
}

void Fields::skip(Names names) {
    for (const char* name : names)
        read_.insert(name);
}

void Fields::report_unread(std::vector<Finding>& findings, Severity severity) const {
    constexpr std::size_t kShown = 40, kNamed = 4;
    std::string named;
    std::size_t count = 0;
    for (const auto& [key, value] : object_.items()) {
        if (read_.contains(key) || changes_no_size(key) || !could_be_size(value))
            continue;
        std::string shown = value.dump();
        if (shown.size() > kShown)
            shown = shown.substr(0, kShown) + "...";
        if (++count <= kNamed)
            named += fmt::format("{}{}{} ({})", count > 1 ? ", " : "", prefix_, key, shown);
    }
    if (count == 0)
        return;
    findings.insert(
        severity == Severity::error ? findings.begin() : findings.end(),
        found(
            FindingKind::unknown_key, severity, file_, {},
            fmt::format("{}{}: not known, and may change weights, cache or work; the model is counted "
                        "without {}",
                        named, count > kNamed ? fmt::format(" and {} more fields", count - kNamed) : "",
                        count > 1 ? "them" : "it"),
            "hold the parameters against the published count, or give the model's GGUF file or ONNX export"));
}

} // namespace archsim::checkpoint
