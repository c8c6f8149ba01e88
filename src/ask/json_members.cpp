#include "ask/json_members.hpp"

#include <algorithm>
#include <cmath>

namespace archsim {

namespace json_schema {

Json or_null(Json schema) {
    if (schema.contains("enum")) {
        schema["enum"].push_back(nullptr);
        return schema;
    }
    if (const auto type = schema.find("type"); type != schema.end()) {
        if (!type->is_array())
            *type = Json::array({*type});
        if (std::find(type->begin(), type->end(), "null") == type->end())
            type->push_back("null");
        return schema;
    }
    return {{"anyOf", {std::move(schema), {{"type", "null"}}}}};
}

Json one_of(const std::vector<std::string>& words) {
    return {{"enum", words}};
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
