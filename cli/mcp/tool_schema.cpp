#include "mcp/mcp.hpp"

#include "core/input_file.hpp"
#include "core/lists.hpp"
#include "core/text.hpp"
#include "fields/question_json.hpp"

#include <cmath>
#include <system_error>

namespace archsim::cli {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

/// Files are not written for assistants (core/new_file refuses it in any case), and nobody reads their
/// terminal.
static bool given_by_assistants(const OptionFacts& option) {
    return option.group != "Output" && !option.kept_back;
}

static bool on_first_screen(const OptionFacts& option) {
    return option.group == "Arguments" || option.group == "Options" || option.required;
}

/// "batch_size" of "batch-size", "model" of "MODEL".
static std::string key_of(std::string_view name) {
    std::string key(name);
    for (char& letter : key)
        letter = letter == '-'                    ? '_'
                 : letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a')
                                                  : letter;
    return key;
}

/// The field that the flag is of; a flag with the field's as its second name takes something else.
static const QuestionField* field_of(const OptionFacts& option) {
    const std::string flag = "--" + option.name;
    const QuestionField* const field = find_question_field(flag);
    return !option.flags.empty() && field != nullptr && field->flag == flag ? field : nullptr;
}

static Json value_schema(const QuestionField& field) {
    if (field.kind == FieldKind::text || field.kind == FieldKind::file)
        return field.choices.empty() ? Json{{"type", "string"}}
                                     : Json{{"type", "string"}, {"enum", field.choices}};
    if (field.kind != FieldKind::whole && field.kind != FieldKind::real)
        return field_schema(field.kind, {});
    Json schema = {{"type", {field.kind == FieldKind::whole ? "integer" : "number", "string"}}}; // "8k" too
    if (field.kind == FieldKind::whole && (field.low != 0 || field.high != 0))
        schema.update({{"minimum", field.low}, {"maximum", field.high}});
    return schema;
}

static Json value_schema(const OptionFacts& option) {
    if (!option.takes_value)
        return {{"type", "boolean"}};
    if (option.kind == ValueKind::whole)
        return {{"type", {"integer", "string"}}};
    if (option.kind == ValueKind::real || option.number)
        return {{"type", {"number", "string"}}};
    Json schema = {{"type", "string"}};
    if (!option.choices.empty())
        schema["enum"] = option.choices;
    return schema;
}

static Json one_or_several(Json one) {
    return {{"anyOf", {one, {{"type", "array"}, {"items", one}}}}};
}

/// Texts may be named by people or programs that nobody here knows.
static std::string expect_text(const std::string& text, const std::string& key) {
    if (text.empty())
        throw UsageError(fmt::format("{}: is empty; leave it out or give it a value", key));
    if (text.find('\0') != std::string::npos)
        throw UsageError(fmt::format("{}: holds a zero byte", key));
    if (text == "-")
        throw UsageError(fmt::format("{}: there is no standard input here; name a model or a file", key));
    return text;
}

/// Every part of a text that may name a file must lead into the folder.
static void expect_inside(const std::string& text, const std::string& key, const fs::path& folder) {
    constexpr std::string_view kBetween = ",=@;: \t\n";
    std::vector<std::string> parts = {text};
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find_first_of(kBetween, at), text.size());
        parts.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    for (const std::string& part : parts) {
        if (part.empty())
            continue;
        std::error_code problem;
        const fs::path real = fs::weakly_canonical(fs::current_path(problem) / part, problem);
        if (problem || leads_into(folder, real))
            continue; // what cannot be a path is no file
        throw UsageError(
            fmt::format("{}: \"{}\" lies outside of {}; copy it there, or start archsim mcp with "
                        "--files FOLDER",
                        key, part, folder.string()));
    }
}

static std::string scalar_text(const Json& value, const std::string& key) {
    if (value.is_string())
        return value.get<std::string>();
    if (value.is_number() && std::isfinite(value.get<double>()))
        return value.dump();
    throw UsageError(fmt::format("{}: expected a text or a number", key));
}

static std::vector<std::string> texts_of(const Json& value, const OptionFacts& option,
                                         const std::string& key) {
    std::vector<std::string> texts;
    const bool list = value.is_array();
    if (list && !option.many && !option.takes_value)
        throw UsageError(fmt::format("{}: expected true or false", key));
    if (const QuestionField* const field = field_of(option)) {
        // Texts as the flag takes them, "8k" too, which the tool reads.
        const auto one_of = [&](const Json& one) {
            return one.is_string() ? std::vector{one.get<std::string>()} : texts_of_json(*field, one, key);
        };
        if (!list ||
            (field->many() && !std::ranges::all_of(value, [](const Json& one) { return one.is_string(); })))
            return one_of(value);
        for (const Json& one : value)
            append(texts, one_of(one));
        return texts;
    }
    if (!list)
        return {scalar_text(value, key)};
    for (const Json& one : value)
        texts.push_back(scalar_text(one, key));
    return texts;
}

/// The first level of a document's schema; of several documents all that one of them may have.
static Json first_level(const Json& schema) {
    Json properties = {{"schema", {{"type", "string"}}}};
    const auto add = [&](const Json& kind) {
        for (const auto& [name, member] : kind.at("properties").items())
            properties.emplace(name,
                               member.contains("type") ? Json{{"type", member["type"]}} : Json::object());
    };
    if (const auto kinds = schema.find("anyOf"); kinds != schema.end())
        std::ranges::for_each(*kinds, add);
    else
        add(schema);
    return {{"type", "object"}, {"properties", std::move(properties)}, {"required", {"schema"}}};
}

ToolInput::ToolInput(const Flags& flags) : description_(flags.description()) {
    if (!flags.documents().empty())
        answer_ = first_level(flags.documents().front().schema());
    const std::vector<OptionFacts> facts = flags.facts();
    for (const OptionFacts& option : facts)
        all_.push_back(key_of(option.name));
    for (const OptionFacts& option : facts) {
        if (!given_by_assistants(option))
            continue;
        // "MODEL..." and "--model" are one argument, which the first explains.
        const auto first = std::ranges::find_if(
            options_, [&](const OptionFacts& other) { return key_of(other.name) == key_of(option.name); });
        if (first == options_.end()) {
            options_.push_back(option);
        } else {
            const std::string explained = first->description;
            *first = option;
            first->description = explained;
        }
    }
}

bool ToolInput::has(std::string_view name) const {
    return contains(all_, key_of(name));
}

Json ToolInput::schema(bool every) const {
    Json properties = Json::object(), required = Json::array();
    for (const OptionFacts& option : options_) {
        if (!every && !on_first_screen(option))
            continue;
        const QuestionField* const field = field_of(option);
        Json one = field != nullptr ? value_schema(*field) : value_schema(option);
        if (option.many && (field == nullptr || !field->many()))
            one = one_or_several(std::move(one));
        one["description"] = option.description;
        if (option.required)
            required.push_back(key_of(option.name));
        properties[key_of(option.name)] = std::move(one);
    }
    Json schema = {{"type", "object"}, {"properties", std::move(properties)}};
    if (!required.empty())
        schema["required"] = std::move(required);
    if (every)
        schema["additionalProperties"] = false;
    return schema;
}

std::vector<std::string> ToolInput::further() const {
    return mapped(kept(options_, [](const OptionFacts& option) { return !on_first_screen(option); }),
                  [](const OptionFacts& option) { return key_of(option.name); });
}

std::vector<std::string> ToolInput::words(const Json& arguments, const fs::path& folder) const {
    if (!arguments.is_object())
        throw UsageError("arguments: expected an object");
    std::vector<std::string> words, positional;
    std::vector<std::pair<std::string, Json>> asked;
    for (const auto& [name, value] : arguments.items()) {
        const Json alone = {{name, value}};
        const bool group =
            value.is_object() && !has(name) && find_question_field(key_of(name)) == nullptr; // "limits"
        const Json& shown = group ? value : alone;
        for (const auto& [inner, one] : shown.items())
            asked.emplace_back(inner, one);
    }
    for (const auto& [name, value] : asked) {
        const std::string key = key_of(name);
        if (asks_nothing(value) && !has(name))
            continue;
        auto found = std::ranges::find_if(
            options_, [&](const OptionFacts& option) { return key_of(option.name) == key; });
        if (found == options_.end()) // another key of the same
            found = std::ranges::find_if(options_,
                                         [&, flag = flag_of_key(key, options_)](const OptionFacts& option) {
                                             return contains(option.flags, flag);
                                         });
        if (found == options_.end()) {
            std::vector<std::string> known =
                mapped(options_, [](const OptionFacts& option) { return key_of(option.name); });
            const std::vector<std::string> near = nearest_names(key, known, 1);
            throw UsageError(
                fmt::format("there is no argument \"{}\"{}", printable(name.substr(0, 100)),
                            near.empty() ? std::string() : fmt::format("; is {} meant?", near.front())));
        }
        if (value.is_null() || (value.is_array() && value.empty()))
            continue;
        if (!found->takes_value) {
            if (!value.is_boolean())
                throw UsageError(fmt::format("{}: expected true or false", key));
            if (value.get<bool>())
                words.push_back("--" + found->name);
            continue;
        }
        const std::vector<std::string> texts = texts_of(value, *found, key);
        if (texts.size() > 1 && !found->many)
            throw UsageError(fmt::format("{}: takes one value, and there are {}", key, texts.size()));
        for (const std::string& text : texts) {
            expect_inside(expect_text(text, key), key, folder);
            if (!found->flags.empty())
                words.push_back(fmt::format("--{}={}", found->name, text));
            else if (text.starts_with('-'))
                throw UsageError(fmt::format("{}: \"{}\" is a flag, not a value", key, text));
            else
                positional.push_back(text);
        }
    }
    // First: behind a flag that takes several values they would be among its values.
    words.insert(words.begin(), positional.begin(), positional.end());
    return words;
}

} // namespace archsim::cli
