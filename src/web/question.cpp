#include "web/question.hpp"

#include "archsim/core/finding.hpp"
#include "archsim/hardware/structure.hpp"

#include <array>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace archsim::web {

namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void wrong(std::string_view key, std::string_view wanted) {
    throw UsageError(fmt::format("\"{}\" of a question is not {}", key, wanted));
}

std::string text_of(const std::string& key, const Json& value) {
    if (!value.is_string())
        wrong(key, "a text");
    return value.get<std::string>();
}

std::int64_t whole_of(const std::string& key, const Json& value) {
    if (!value.is_number_integer() || (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX))
        wrong(key, "a whole number");
    return value.get<std::int64_t>();
}

double positive_of(const std::string& key, const Json& value) {
    if (!value.is_number() || !std::isfinite(value.get<double>()) || value.get<double>() <= 0)
        wrong(key, "a number above 0");
    return value.get<double>();
}

bool truth_of(const std::string& key, const Json& value) {
    if (!value.is_boolean())
        wrong(key, "true or false");
    return value.get<bool>();
}

template <class Read>
void each(const std::string& key, const Json& value, Read read) {
    if (!value.is_object())
        wrong(key, "an object");
    for (const auto& [name, member] : value.items())
        read(name, member);
}

std::vector<std::string> texts_of(const std::string& key, const Json& value) {
    if (!value.is_array())
        wrong(key, "a list of texts");
    std::vector<std::string> texts;
    for (const Json& item : value)
        texts.push_back(text_of(key, item));
    return texts;
}

const Metric* metric_of(const std::string& key, std::string_view name) {
    return &MetricTable::standard().at(name, key);
}

void read_prompt(const std::string& key, const Json& value, Question& question) {
    Prompt& prompt = question.workload.prompt.emplace();
    each(key, value, [&](const std::string& name, const Json& number) {
        if (name == "tokens")
            prompt.tokens = whole_of(name, number);
        else if (name == "generate")
            prompt.generate = whole_of(name, number);
        else
            throw UsageError(fmt::format("\"prompt\" has no \"{}\"", name));
    });
}

/// Factors on the parts of a device ("clock", "units") and on its rates and limits ("bandwidth").
void read_changes(const std::string& key, const Json& value, Question& question) {
    each(key, value, [&](const std::string& name, const Json& number) {
        const double factor = positive_of(name, number);
        if (const auto structure = parse_structure(name))
            question.conditions.structure[*structure] = factor;
        else if (const auto lever = parse_lever(name))
            question.conditions.changes[*lever] = factor;
        else
            throw UsageError(fmt::format("\"changes\": nothing of a device is called \"{}\"", name));
    });
}

void read_limits(const std::string& key, const Json& value, Question& question) {
    each(key, value, [&](const std::string& name, const Json& limit) {
        question.limits.constraints.push_back(
            parse_constraint(*metric_of(key, name), text_of(name, limit), "limit on " + name));
    });
}

using Reader = void (*)(const std::string& key, const Json& value, Question& question);
struct Row {
    std::string_view key;
    Reader read;
};
constexpr std::array kRows = {
    Row{"ask", [](const std::string& k, const Json& v, Question& q) { q.ask = text_of(k, v); }},
    Row{"model", [](const std::string& k, const Json& v, Question& q) { q.model = text_of(k, v); }},
    Row{"hardware", [](const std::string& k, const Json& v, Question& q) { q.hardware = texts_of(k, v); }},
    Row{"deployment", [](const std::string& k, const Json& v, Question& q) { q.deployment = text_of(k, v); }},
    Row{"batch", [](const std::string& k, const Json& v, Question& q) { q.workload.batch = whole_of(k, v); }},
    Row{"sizes",
        [](const std::string& k, const Json& v, Question& q) {
            each(k, v, [&](const std::string& name, const Json& size) {
                q.workload.sizes.dims[name] = whole_of(name, size);
            });
        }},
    Row{"prompt", read_prompt},
    Row{"precision", [](const std::string& k, const Json& v,
                        Question& q) { q.conditions.precision = precision_named(text_of(k, v), k); }},
    Row{"scenario", [](const std::string& k, const Json& v,
                       Question& q) { q.conditions.scenario = scenario_named(text_of(k, v), k); }},
    Row{"scope", [](const std::string& k, const Json& v,
                    Question& q) { q.conditions.scope = scope_named(text_of(k, v), k); }},
    Row{"stack",
        [](const std::string& k, const Json& v, Question& q) { q.conditions.stack = text_of(k, v); }},
    Row{"devices", [](const std::string& k, const Json& v,
                      Question& q) { q.conditions.devices = static_cast<double>(whole_of(k, v)); }},
    Row{"changes", read_changes},
    Row{"limits", read_limits},
    Row{"metric",
        [](const std::string& k, const Json& v, Question& q) { q.metric = metric_of(k, text_of(k, v)); }},
    Row{"sort",
        [](const std::string& k, const Json& v, Question& q) { q.sort = metric_of(k, text_of(k, v)); }},
    Row{"format", [](const std::string& k, const Json& v, Question& q) { q.format = text_of(k, v); }},
    Row{"date", [](const std::string& k, const Json& v, Question& q) { q.date = text_of(k, v); }},
    Row{"charts", [](const std::string& k, const Json& v, Question& q) { q.charts = truth_of(k, v); }},
};

} // namespace

Question read_question(std::string_view json) {
    const Json document = Json::parse(json, nullptr, false);
    if (document.is_discarded() || !document.is_object())
        throw UsageError("a question is a JSON object");
    Question question;
    for (const auto& [key, value] : document.items()) {
        const Row* found = nullptr;
        for (const Row& row : kRows)
            found = row.key == key ? &row : found;
        if (!found)
            throw UsageError(fmt::format("a question has no \"{}\"", key));
        found->read(key, value, question);
    }
    question.conditions.usual_precision = !document.contains("precision");
    question.limits.preference = &question.ranked();
    return question;
}

} // namespace archsim::web
