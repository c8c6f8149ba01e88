#include "common/config_file.hpp"

#include "archsim/core/finding.hpp"
#include "core/json_limits.hpp"
#include "core/text_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>
#include <string_view>

namespace archsim::cli {

namespace {

using Json = nlohmann::json;

constexpr std::string_view kFlag = "--config";

/// A parser of TOML splits names into parts and holds each line's against all of the last one's.
void refuse_long_names(std::string_view text, const std::string& file) {
    constexpr std::size_t kLongest = 256;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        const bool table = line.starts_with('[');
        const std::size_t end = line.find_first_of(table ? "]" : "=\"'");
        const std::string_view name = line.substr(0, end);
        if (name.size() > kLongest && (table || end != std::string_view::npos) &&
            name.find_first_not_of(" \t") < kLongest)
            throw InputError(
                fmt::format("--config: {}: a name of {} letters is no name of an option", file, name.size()));
    }
}

/// A TOML file as the same object.
Json toml_object(std::istream& in, const std::string& file) {
    Json document = Json::object();
    for (const ConfigLine& line : read_toml(in, file)) {
        const bool truth = line.values.size() == 1 && (line.values[0] == "true" || line.values[0] == "false");
        document[line.key] = truth ? Json(line.values[0] == "true") : Json(line.values);
    }
    return document;
}

Json read_object(const std::string& file) {
    std::string text;
    try {
        text = read_text_file(file);
    } catch (const InputError& problem) {
        throw InputError(fmt::format("--config: {}", problem.what()), problem.findings());
    }
    if (file.ends_with(".toml")) {
        refuse_long_names(text, file);
        std::istringstream in(text);
        return toml_object(in, file);
    }
    const Json document = Json::parse(bounded_json(text, "--config: " + file), nullptr, false, true);
    if (!document.is_object())
        throw InputError(
            fmt::format("--config: {} is not a JSON object such as {{\"hardware\": [\"H100\"]}}", file));
    return document;
}

std::string text_of(const Json& value, const std::string& file, const std::string& key) {
    if (value.is_string())
        return value.get<std::string>();
    if (value.is_number())
        return value.dump();
    throw InputError(fmt::format(
        "--config: {}: /{}: a text, a number, a truth value or a list of these is meant", file, key));
}

/// True where the command line has the option itself, as "--key" or "--key=value".
bool given(const std::vector<std::string>& arguments, const std::string& flag) {
    return std::any_of(arguments.begin(), arguments.end(), [&](const std::string& argument) {
        return argument == flag || argument.starts_with(flag + "=");
    });
}

void append(const Json& document, const std::string& file, const std::string& positional,
            std::vector<std::string>& arguments) {
    std::vector<std::string> words, front;
    for (const auto& [key, value] : document.items()) {
        const std::string flag = "--" + key;
        if (given(arguments, flag) || (value.is_boolean() && !value.get<bool>()))
            continue;
        std::vector<std::string>& to = key == positional ? front : words;
        if (key != positional)
            to.push_back(flag);
        if (value.is_boolean())
            continue;
        for (const Json& item : value.is_array() ? value : Json::array({value}))
            to.push_back(text_of(item, file, key));
    }
    const bool named = !arguments.empty() && !arguments.front().starts_with("-");
    if (!named)
        arguments.insert(arguments.begin(), front.begin(), front.end());
    arguments.insert(arguments.end(), words.begin(), words.end());
}

} // namespace

std::vector<std::string> with_config(std::span<char* const> arguments, const std::string& positional) {
    std::vector<std::string> out, files;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string_view word = arguments[i];
        if (word == kFlag) {
            if (i + 1 == arguments.size())
                throw UsageError("--config: name a file");
            files.emplace_back(arguments[++i]);
        } else if (word.starts_with(std::string(kFlag) + "=")) {
            files.emplace_back(word.substr(kFlag.size() + 1));
        } else {
            out.emplace_back(word);
        }
    }
    for (const std::string& file : files)
        append(read_object(file), file, positional, out);
    return out;
}

} // namespace archsim::cli
