#include "fields/question_json.hpp"

#include "archsim/core/finding.hpp"
#include "core/lists.hpp"
#include "core/parse_number.hpp"
#include "core/text.hpp"
#include "fields/serving_fields.hpp"
#include "hardware/parameter_site.hpp"
#include "session/usual_precision.hpp"

#include <cmath>
#include <fmt/ranges.h>
#include <tuple>

namespace archsim {

using Json = nlohmann::ordered_json;

static Json number_json(const std::string& text) {
    if (const auto whole = parse_whole(text))
        return *whole;
    const auto real = parse_real(text);
    return real ? Json(*real) : Json(text);
}

/// {"NAME": value} of "NAME=value" texts; a list of numbers where the field has lists.
static Json object_json(FieldKind kind, const std::vector<std::string>& texts) {
    Json object = Json::object();
    for (const std::string& text : texts) {
        const std::size_t equals = text.find('=');
        const std::string name = text.substr(0, equals), value = text.substr(equals + 1);
        const bool list = kind == FieldKind::lists || value.find(',') != std::string::npos;
        Json numbers = Json::array();
        if (!value.empty())
            for (const std::string& piece : split(value, ','))
                numbers.push_back(number_json(piece));
        object[name] = list ? std::move(numbers) : number_json(value);
    }
    return object;
}

[[noreturn]] static void wrong(const std::string& name, const char* wanted) {
    throw UsageError(fmt::format("{} is not {}", name, wanted));
}

static std::string number_of(const Json& value, const std::string& name) {
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX)
        wrong(name, "a whole number");
    if (value.is_number_integer())
        return fmt::format("{}", value.get<std::int64_t>());
    if (value.is_number() && std::isfinite(value.get<double>()))
        return number_text(value.get<double>());
    if (value.is_string())
        return value.get<std::string>();
    wrong(name, "a number");
}

static std::string whole_text(const Json& value, const std::string& name, bool words) {
    if (value.is_string() && (words || scaled_number(value.get<std::string>())))
        return value.get<std::string>();
    if (!value.is_number_integer() &&
        !(value.is_number_float() && value.get<double>() == std::floor(value.get<double>()) &&
          std::abs(value.get<double>()) < 9e15))
        wrong(name, "a whole number");
    return value.is_number_float() ? fmt::format("{:.0f}", value.get<double>()) : number_of(value, name);
}

static Json server_field_json(const ServingField& field, const ServingRequest& request) {
    std::vector<std::string> texts = field.print(request);
    if (field.kind == FieldKind::truth)
        return !texts.empty() && texts.front() == "true";
    if (texts.empty() && field.usual)
        texts = field.usual(request);
    return texts.empty() ? Json(nullptr) : number_json(texts.front());
}

/// Texts may be numbers: a rate, a share, a size with a spread.
static Json server_field_schema(const ServingField& field) {
    if (field.kind == FieldKind::truth)
        return {{"type", "boolean"}};
    if (!field.choices.empty())
        return json_schema::or_null(json_schema::one_of(field.choices));
    return {{"type", {"number", "string", "null"}}};
}

Json field_json(FieldKind kind, const std::vector<std::string>& texts) {
    switch (kind) {
    case FieldKind::truth:
        return Json(!texts.empty() && texts.front() == "true");
    case FieldKind::sizes:
    case FieldKind::lists:
    case FieldKind::reals:
        return object_json(kind, texts);
    case FieldKind::texts:
        return Json(texts);
    case FieldKind::whole:
    case FieldKind::real:
        return texts.empty() ? Json(nullptr) : number_json(texts.front());
    case FieldKind::text:
    case FieldKind::file:
        break;
    }
    return texts.empty() ? Json(nullptr) : Json(texts.front());
}

Members<Question> question_members(std::span<const std::string_view> only) {
    std::vector<Member<Question>> members;
    for (const QuestionField& field : question_fields())
        if (only.empty() || contains(only, field.key))
            members.emplace_back(
                field.key, field.help,
                [&field](const Question& question) {
                    std::vector<std::string> texts = field.print(question);
                    if (field.flag.empty() && field.usual && texts == field.usual(question))
                        texts.clear();
                    return field_json(field.kind, texts);
                },
                Shaped{[&field] {
                    Json schema = field_schema(field.kind, {});
                    if (field.key == "devices") // "auto": as many as hold the model
                        schema["type"].push_back("string");
                    return schema;
                }});
    return Members<Question>(std::move(members));
}

Members<Question> question_members(std::initializer_list<FieldOf> kinds) {
    const std::vector<std::string> keys = keys_of(kinds);
    return question_members(std::vector<std::string_view>(keys.begin(), keys.end()));
}

Json field_schema(FieldKind kind, const std::vector<std::string>& words) {
    const Json whole = {{"type", "integer"}}, real = {{"type", "number"}};
    const auto or_several = [](const Json& one) {
        return Json{{"type", {one["type"], "array"}}, {"items", one}};
    };
    switch (kind) {
    case FieldKind::truth:
        return {{"type", "boolean"}};
    case FieldKind::sizes:
        return {{"type", "object"}, {"additionalProperties", whole}};
    case FieldKind::lists:
        return {{"type", "object"}, {"additionalProperties", {{"type", "array"}, {"items", whole}}}};
    case FieldKind::reals:
        return {{"type", "object"}, {"additionalProperties", or_several(real)}};
    case FieldKind::texts:
        return {{"type", "array"}, {"items", {{"type", "string"}}}};
    case FieldKind::whole:
        return json_schema::or_null(whole);
    case FieldKind::real:
        return {{"type", {"number", "string", "null"}}};
    case FieldKind::text:
    case FieldKind::file:
        break;
    }
    return json_schema::or_null(words.empty() ? Json{{"type", "string"}} : json_schema::one_of(words));
}

std::vector<std::string> texts_of_json(const QuestionField& field, const Json& value,
                                       const std::string& name) {
    std::vector<std::string> texts;
    if (value.is_null())
        return texts;
    const bool one = field.kind == FieldKind::whole || field.kind == FieldKind::real;
    if (one && value.is_string()) // as a flag writes it: what the field reads, it takes
        return {value.get<std::string>()};
    switch (field.kind) {
    case FieldKind::truth:
        if (!value.is_boolean())
            wrong(name, "true or false");
        return {value.get<bool>() ? "true" : "false"};
    case FieldKind::whole:
        return {whole_text(value, name, field.key == "devices")};
    case FieldKind::real:
        return {number_of(value, name)};
    case FieldKind::text:
    case FieldKind::file:
        if (field.kind == FieldKind::text && value.is_number())
            return {value.dump()};
        if (!value.is_string())
            wrong(name, "a text");
        return {value.get<std::string>()};
    case FieldKind::texts:
        if (!value.is_array())
            wrong(name, "a list of texts");
        for (const Json& item : value) {
            if (!item.is_string())
                wrong(name, "a list of texts");
            texts.push_back(item.get<std::string>());
        }
        return texts;
    case FieldKind::sizes:
    case FieldKind::lists:
    case FieldKind::reals:
        break;
    }
    if (!value.is_object())
        wrong(name, "an object");
    for (const auto& [key, member] : value.items()) {
        std::vector<std::string> numbers;
        const std::string at = fmt::format("\"{}\" of {}", key, name);
        if (member.is_array() && field.kind != FieldKind::sizes)
            for (const Json& item : member)
                numbers.push_back(number_of(item, at));
        else
            numbers.push_back(field.kind == FieldKind::reals ? number_of(member, at)
                                                             : whole_text(member, at, false));
        texts.push_back(fmt::format("{}={}", key, fmt::join(numbers, ",")));
    }
    return texts;
}

std::string question_key(const Question& question, std::span<const std::string_view> without) {
    nlohmann::json object = nlohmann::json::object(); // which sorts its keys
    for (const StatedField& stated : stated_fields(question))
        if (!contains(without, stated.field->key))
            object[stated.field->key] =
                nlohmann::json::parse(field_json(stated.field->kind, stated.texts)
                                          .dump(-1, ' ', false, Json::error_handler_t::replace));
    return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

bool same_question(const Question& a, const Question& b) {
    // A member that is added to these does not compile until somebody decides whether an answer depends on
    // it.
    const auto workload = [](const Workload& w) {
        const auto& [model, batch, sizes, prompt, single_pass] = w;
        const auto& [dims, shapes, values, reals, sequences, batch_size] = sizes;
        return std::tie(batch, prompt, single_pass, dims, shapes, values, reals, sequences, batch_size);
    };
    const auto overrides = [](const std::shared_ptr<const ParameterOverrides>& given) {
        std::vector<std::pair<ParameterSite, double>> all;
        for (const ParameterOverride& one : given ? *given : ParameterOverrides{})
            all.emplace_back(one.site, one.value);
        return all;
    };
    const auto same_conditions = [&](const Conditions& x, const Conditions& y) {
        const auto all = [](const Conditions& c) {
            const auto& [precision, of_device, weights, kv_cache, scenario, scope, devices, stack, fusion,
                         ideal_mapping, allow_unknown, keep_subgraphs, changes, structure, overrides_of,
                         duty] = c; // what is kept is no number
            return std::tie(static_cast<const PrecisionConfig&>(precision), of_device, weights, kv_cache,
                            scenario, scope, devices, stack, fusion, ideal_mapping, allow_unknown, changes,
                            structure, duty);
        };
        return all(x) == all(y) && overrides(x.overrides) == overrides(y.overrides);
    };
    return workload(a.workload) == workload(b.workload) &&
           same_conditions(settled(a.conditions, a.workload), settled(b.conditions, b.workload));
}

Members<ServingRequest> server_members(std::span<const std::string_view> without) {
    std::vector<Member<ServingRequest>> members;
    for (const ServingField& field : serving_fields())
        if (!contains(without, field.key))
            members.emplace_back(
                field.key, field.help,
                [&field](const ServingRequest& request) { return server_field_json(field, request); },
                Shaped{[&field] { return server_field_schema(field); }});
    return Members<ServingRequest>(std::move(members));
}

Members<ServiceLevel> level_members() {
    std::vector<Member<ServiceLevel>> members;
    for (const Field<ServiceLevel>& field : level_fields())
        members.emplace_back(field.key, field.help + "; null: none", [&field](const ServiceLevel& level) {
            const std::vector<std::string> texts = field.print(level);
            return texts.empty() ? std::nullopt : std::optional(texts.front());
        });
    return Members<ServiceLevel>(std::move(members));
}

} // namespace archsim
