#include "fields/json_members.hpp"
#include "core/lists.hpp"

#include <algorithm>
#include <cmath>

namespace archsim {

namespace json_schema {

Json json_of(bool value) {
    return value;
}
Json json_of(double value) {
    return value;
}
Json json_of(long long value) {
    return value;
}
Json json_of(unsigned long long value) {
    return value;
}
Json json_of(std::string_view value) {
    return value;
}

void append(Json& list, Json value) {
    list.push_back(std::move(value));
}

void append(Json& object, std::string_view key, Json value) {
    // operator[] looks through all it has.
    object.get_ref<Json::object_t&>().emplace_back(std::string(key), std::move(value));
}

Json of_type(const char* type) {
    return {{"type", type}};
}

Json count_schema() {
    return {{"type", "integer"}, {"minimum", 0}};
}

Json keyed_schema(Json item) {
    return {{"type", "object"}, {"additionalProperties", std::move(item)}};
}

Json list_schema(Json item, std::optional<std::size_t> length) {
    Json schema = {{"type", "array"}, {"items", std::move(item)}};
    if (length) {
        schema["minItems"] = *length;
        schema["maxItems"] = *length;
    }
    return schema;
}

Json or_null(Json schema) {
    if (schema.contains("enum")) {
        schema["enum"].push_back(nullptr);
        return schema;
    }
    if (const auto type = schema.find("type"); type != schema.end()) {
        if (!type->is_array())
            *type = Json::array({*type});
        if (!contains(*type, "null"))
            type->push_back("null");
        return schema;
    }
    return {{"anyOf", {std::move(schema), {{"type", "null"}}}}};
}

Json one_of(const std::vector<std::string>& words) {
    return {{"enum", words}};
}

AnyMember::AnyMember() = default;
AnyMember::AnyMember(std::string_view its_key, std::string_view its_meaning)
    : key(its_key), meaning(its_meaning) {}
AnyMember::AnyMember(const AnyMember&) = default;
AnyMember::AnyMember(AnyMember&&) noexcept = default;
AnyMember& AnyMember::operator=(const AnyMember&) = default;
AnyMember& AnyMember::operator=(AnyMember&&) noexcept = default;
AnyMember::~AnyMember() = default;

Json object_of(const AnyMembers& list, const void* row) {
    Json object(Json::value_t::object);
    auto& members = object.get_ref<Json::object_t&>();
    members.reserve(list.size());
    for (const AnyMember& member : list)
        if (Json value; member.put(member, row, value))
            members.emplace_back(member.key, std::move(value));
    return object;
}

Json schema_of_members(const AnyMembers& list) {
    Json required = Json::array(), properties = Json::object();
    for (const AnyMember& member : list) {
        if (member.always)
            required.push_back(member.key);
        Json& property = properties[member.key] = member.schema(member);
        if (!member.meaning.empty())
            property["description"] = member.meaning;
    }
    Json object = {{"type", "object"}};
    if (!required.empty())
        object["required"] = std::move(required);
    object["properties"] = std::move(properties);
    object["additionalProperties"] = false;
    return object;
}

AnyMembers with(const AnyMembers& these, const AnyMembers& more) {
    AnyMembers all = these;
    for (const AnyMember& member : more) {
        const auto same = [&member](const AnyMember& other) { return other.key == member.key; };
        if (const auto at = std::ranges::find_if(all, same); at != all.end())
            *at = member;
        else
            all.push_back(member);
    }
    return all;
}

AnyMembers under(const AnyMembers& these, const std::function<std::string(const std::string&)>& key) {
    AnyMembers all;
    for (const AnyMember& member : these)
        if (std::string other = key(member.key); !other.empty())
            all.emplace_back(member).key = std::move(other);
    return all;
}

AnyMember around(const AnyMember& inner) {
    AnyMember outer(inner.key, inner.meaning);
    outer.leaf = std::make_shared<const AnyMember>(inner);
    outer.schema = [](const AnyMember& self) {
        const AnyMember& within = inside(self);
        return within.schema(within);
    };
    return outer;
}

const AnyMember& inside(const AnyMember& outer) {
    return *static_cast<const AnyMember*>(outer.leaf.get());
}

std::shared_ptr<const AnyMembers> shared(AnyMembers members) {
    return std::make_shared<const AnyMembers>(std::move(members));
}

} // namespace json_schema

std::optional<double> known(bool whether, double value) {
    return whether && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::optional<double> finite(double value) {
    return known(true, value);
}

std::optional<double> positive(double value) {
    return known(value > 0, value);
}

std::optional<std::string> nonempty(std::string text) {
    return text.empty() ? std::nullopt : std::optional(std::move(text));
}

} // namespace archsim
