#include "hardware/schema_check.hpp"

#include "hardware/json_reader.hpp"

#include <exception>
#include <fmt/format.h>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace archsim {

using Adapter = valijson::adapters::NlohmannJsonAdapter;

/// {"<root>", "[engines]", "[0]"} -> "/engines/0"
static std::string pointer_of(const std::vector<std::string>& context) {
    std::string pointer;
    for (const std::string& step : context) {
        if (step.size() < 2 || step.front() != '[')
            continue;
        pointer += '/';
        append_escaped(pointer, std::string_view(step).substr(1, step.size() - 2));
    }
    return pointer.empty() ? "/" : pointer;
}

/// The validator repeats a violation for every enclosing schema; those lines only say that a child failed.
static bool is_echo(const std::string& description) {
    return description.starts_with("Failed to validate item") ||
           description.starts_with("Failed to validate against") ||
           description.starts_with("Missing required property 'extends'") || // one way of two
           description.starts_with("Cannot validate");
}

/// Keys that a violation of "additionalProperties" lists at its end: "...: 'a', 'b'". Empty for any other.
static std::vector<std::string> unknown_keys(std::string_view description) {
    std::vector<std::string> keys;
    if (!description.starts_with("Object contains a property that could not be validated"))
        return keys;
    std::string_view list =
        description.substr(std::min(description.rfind("constraints:"), description.size()));
    for (auto open = list.find('\''); open != std::string_view::npos; open = list.find('\'')) {
        list.remove_prefix(open + 1);
        const auto close = std::min(list.find('\''), list.size());
        keys.emplace_back(list.substr(0, close));
        list.remove_prefix(std::min(close + 1, list.size()));
    }
    return keys;
}

/// Bytes of the longest key or text in a document.
static std::size_t longest_text(const nlohmann::json& value) {
    std::size_t longest = value.is_string() ? value.get_ref<const std::string&>().size() : 0;
    if (value.is_structured())
        for (const auto& [key, member] : value.items())
            longest = std::max({longest, value.is_object() ? key.size() : 0, longest_text(member)});
    return longest;
}

struct SchemaCheck::Schema {
    valijson::Schema schema;
};

SchemaCheck::SchemaCheck(const std::string& schema_file, std::vector<Finding>& findings) {
    auto document = parse_json_file(schema_file, findings);
    if (!document)
        return;
    complete_schema(*document);
    auto parsed = std::make_unique<Schema>();
    try {
        valijson::SchemaParser parser;
        parser.populateSchema(Adapter(*document), parsed->schema);
        schema_ = std::move(parsed);
    } catch (const std::exception& error) {
        findings.push_back({.kind = FindingKind::malformed_file,
                            .message = fmt::format("this is not a usable JSON Schema ({})", error.what()),
                            .file = schema_file,
                            .hint = "restore the file that came with the database"});
    }
}

SchemaCheck::SchemaCheck(const nlohmann::json& schema) : schema_(std::make_unique<Schema>()) {
    valijson::SchemaParser().populateSchema(Adapter(schema), schema_->schema);
}

SchemaCheck::~SchemaCheck() = default;
SchemaCheck::SchemaCheck(SchemaCheck&&) noexcept = default;
SchemaCheck& SchemaCheck::operator=(SchemaCheck&&) noexcept = default;

std::vector<Finding> SchemaCheck::validate(const nlohmann::json& document, const std::string& file) const {
    std::vector<Finding> findings;
    if (schema_ == nullptr)
        return findings;
    // Patterns are matched by a call for every letter.
    constexpr std::size_t kLongest = 4096;
    if (longest_text(document) > kLongest) {
        findings.push_back({.kind = FindingKind::too_large,
                            .message = fmt::format("a text or a name has more than {} letters", kLongest),
                            .file = file,
                            .hint = "shorten it"});
        return findings;
    }
    valijson::Validator validator;
    valijson::ValidationResults results;
    if (validator.validate(schema_->schema, Adapter(document), &results))
        return findings;
    for (const auto& error : results) {
        if (is_echo(error.description))
            continue;
        for (const std::string& key : unknown_keys(error.description)) {
            std::vector<std::string> place = error.context;
            place.push_back('[' + key + ']');
            findings.push_back({.kind = FindingKind::unknown_key,
                                .message = fmt::format("the schema does not know the field \"{}\"", key),
                                .file = file,
                                .where = pointer_of(place),
                                .hint = "remove it, or see the schema for the known fields"});
        }
        if (!unknown_keys(error.description).empty())
            continue;
        Finding finding;
        finding.kind = error.description.starts_with("Missing required") ? FindingKind::missing_field
                                                                         : FindingKind::malformed_file;
        finding.file = file;
        finding.where = pointer_of(error.context);
        std::string_view description = error.description;
        if (description.ends_with('.'))
            description.remove_suffix(1);
        finding.message = fmt::format("the schema is violated: {}", description);
        finding.hint = "see the description of this field in the schema";
        findings.push_back(std::move(finding));
    }
    if (findings.empty()) {
        findings.push_back(
            {.message = "the schema is violated", .file = file, .where = "/", .hint = "see schema.json"});
    }
    return findings;
}

} // namespace archsim
