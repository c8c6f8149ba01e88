#include "ask/serving_fields_json.hpp"

#include "ask/serving_fields.hpp"
#include "core/parse_number.hpp"

namespace archsim {

nlohmann::ordered_json server_json(const ServingRequest& request) {
    using Json = nlohmann::ordered_json;
    Json object = Json::object();
    for (const ServingField& field : serving_fields()) {
        if (!field.print)
            continue;
        const std::vector<std::string> texts = field.print(request);
        Json& value = object[field.key];
        if (field.kind == FieldKind::truth)
            value = !texts.empty() && texts.front() == "true";
        else if (texts.empty())
            value = nullptr;
        else if (const auto whole = parse_whole(texts.front()))
            value = *whole;
        else if (const auto real = parse_real(texts.front()))
            value = *real;
        else
            value = texts.front();
    }
    return object;
}

} // namespace archsim
