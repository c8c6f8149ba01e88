#include "fields/serving_fields_json.hpp"

#include "core/parse_number.hpp"
#include "fields/serving_fields.hpp"

namespace archsim {

namespace {

using Json = nlohmann::ordered_json;

Json text_json(const std::string& text) {
    if (const auto whole = parse_whole(text))
        return *whole;
    const auto real = parse_real(text);
    return real ? Json(*real) : Json(text);
}

Json server_field_json(const ServingField& field, const ServingRequest& request) {
    const std::vector<std::string> texts = field.print(request);
    if (field.kind == FieldKind::truth)
        return !texts.empty() && texts.front() == "true";
    return texts.empty() ? Json(nullptr) : text_json(texts.front());
}

/// Texts may be numbers: a rate, a share, a size with a spread.
Json server_field_schema(const ServingField& field) {
    if (field.kind == FieldKind::truth)
        return {{"type", "boolean"}};
    if (!field.choices.empty())
        return json_schema::or_null(json_schema::one_of(field.choices));
    return {{"type", {"number", "string", "null"}}};
}

} // namespace

Members<ServingRequest> server_members() {
    std::vector<Member<ServingRequest>> members;
    for (const ServingField& field : serving_fields())
        if (field.print)
            members.emplace_back(
                field.key, field.help,
                [&field](const ServingRequest& request) { return server_field_json(field, request); },
                Shaped{[&field] { return server_field_schema(field); }});
    return Members<ServingRequest>(std::move(members));
}

} // namespace archsim
