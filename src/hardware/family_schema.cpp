#include "hardware/family_schema.hpp"

#include "core/text_file.hpp"
#include "hardware/json_edit.hpp"
#include "hardware/schema_check.hpp"
#include "hardware/units.hpp"

#include <fmt/format.h>

namespace archsim {

using Json = nlohmann::ordered_json;

// Schemas of facts
// -----------------------------------------------------------------------------------------------

static Json number_schema(std::string_view doc, std::string_view unit) {
    const Unit* known = find_unit(unit);
    Json schema = {{"description", doc}};
    schema["allOf"] = Json::array({{{"$ref", "#/definitions/quantity"}}});
    schema["allOf"].push_back(
        {{"properties",
          {{"unit", {{"enum", symbols_of(known ? known->dimension : PhysicalDimension::one)}}}}}});
    return schema;
}

static Json text_schema(std::string_view doc) {
    return {{"type", "string"}, {"minLength", 1}, {"description", doc}};
}

/// Every object of a device file may name a source and carry a remark.
static Json closed_object(std::string_view doc, Json properties, const Json& required) {
    properties["source"] = {{"description", "Key of an entry of \"sources\"."}, {"type", "string"}};
    properties["note"] = {{"description", "Remark for people."}, {"type", "string"}};
    Json schema = {{"description", doc}, {"type", "object"}};
    schema["properties"] = std::move(properties);
    schema["additionalProperties"] = false;
    if (!required.empty())
        schema["required"] = required;
    return schema;
}

static Json tiles_schema(std::string_view doc) {
    Json properties = Json::object();
    properties["kind"] = text_schema("Kind of tile.");
    properties["count"] = {{"description", "Number of tiles."}, {"type", "number"}, {"exclusiveMinimum", 0}};
    properties["rows"] = number_schema("Rows of processing elements.", "1");
    properties["cols"] = number_schema("Columns of processing elements.", "1");
    properties["ops_per_clock"] = {{"$ref", "#/definitions/rates"}};
    Json schema = {{"description", doc}, {"type", "array"}};
    schema["items"] =
        closed_object("One kind of tile.", std::move(properties), Json::array({"kind", "count"}));
    schema["minItems"] = 1;
    return schema;
}

static Json fact_schema(const FactRow& row) {
    return std::visit(
        [&](auto member) -> Json {
            using Value = std::decay_t<decltype(std::declval<FamilyFacts&>().*member)>;
            if constexpr (std::is_same_v<Value, Fact>)
                return number_schema(row.doc, row.unit);
            else if constexpr (std::is_same_v<Value, std::vector<TileKind>>)
                return tiles_schema(row.doc);
            else if constexpr (std::is_same_v<Value, std::string>)
                if (row.words.empty())
                    return text_schema(row.doc);
            Json schema = {{"description", row.doc}};
            if constexpr (std::is_same_v<Value, std::string>) {
                schema["enum"] = std::vector<std::string>(row.words.begin(), row.words.end());
            } else if constexpr (std::is_same_v<Value, bool>) {
                schema["type"] = "boolean";
            } else {
                schema["type"] = "array";
                if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
                    schema["items"] = {{"type", "string"}, {"minLength", 1}};
                } else {
                    schema["items"] = {{"type", "integer"}, {"minimum", 1}};
                    schema["minItems"] = 2;
                    schema["maxItems"] = 2;
                }
            }
            return schema;
        },
        row.member);
}

static Json block_schema(const FamilyRow& family) {
    Json properties = Json::object(), required = Json::array();
    for (const FactRow& row : family.facts) {
        properties[std::string(row.name)] = fact_schema(row);
        if (row.required && row.unless.empty())
            required.push_back(row.name);
    }
    return closed_object(family.doc, std::move(properties), required);
}

// Schemas of files
// -----------------------------------------------------------------------------------------------

/// Family names in place of those that the list has; what else it has stays behind them.
template <class AnyJson>
static void replace_names(AnyJson& list) {
    const bool of_families = list.is_array() && !list.empty() && list.front().is_string() &&
                             parse_family(list.front().template get<std::string>());
    if (!of_families)
        return;
    AnyJson names = family_names();
    for (const auto& entry : list)
        if (!entry.is_string())
            names.push_back(entry);
    list = std::move(names);
}

template <class AnyJson>
static void replace_member(AnyJson& object, const char* key) {
    if (object.is_object() && object.contains(key))
        replace_names(object[key]);
}

template <class AnyJson>
static void visit_schema(AnyJson& schema) {
    if (schema.is_object()) {
        if (schema.contains("family"))
            replace_member(schema["family"], "enum");
        if (schema.contains("families")) {
            replace_member(schema["families"], "required");
            if (schema["families"].is_object() && schema["families"].contains("items"))
                replace_member(schema["families"]["items"], "enum");
        }
    }
    if (schema.is_structured())
        for (auto& part : schema)
            visit_schema(part);
}

template <class AnyJson>
static void complete(AnyJson& schema) {
    visit_schema(schema);
    // Blocks are made of the definitions that the schema of a device has.
    const bool of_device = schema.is_object() && schema.contains("properties") &&
                           schema["properties"].is_object() && schema["properties"].contains("family") &&
                           schema.contains("definitions") && schema["definitions"].contains("rates");
    if (!of_device)
        return;
    for (const Family family : families())
        if (!family.row().block.empty())
            schema["properties"][std::string(family.row().block)] = block_schema(family.row());
}

void complete_schema(nlohmann::json& schema) {
    complete(schema);
}

void complete_schema(Json& schema) {
    complete(schema);
}

std::string completed_schema(const std::filesystem::path& file) {
    const std::string text = read_text_file(file);
    Json schema;
    try {
        schema = Json::parse(text);
    } catch (const Json::parse_error& error) {
        throw InputError(fmt::format("{}: this is no JSON document ({})", file.string(), error.what()));
    }
    const Json before = schema;
    complete_schema(schema);
    return schema == before ? text : laid_out(schema, 0, 0, true) + "\n";
}

} // namespace archsim
