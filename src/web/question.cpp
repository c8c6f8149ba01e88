#include "web/question.hpp"

#include "archsim/core/finding.hpp"
#include "ask/question_json.hpp"

#include <array>
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

/// A field of what is asked of each device.
void read_field(const std::string& key, const Json& value, Question& question) {
    const QuestionField& field = question_field(key);
    for (const std::string& text : texts_of_json(field, value, fmt::format("\"{}\" of a question", key)))
        question.texts.give(field, text, fmt::format("\"{}\"", key));
}

/// {"tokens": 512, "generate": 128}, and other fields of a prompt by their keys.
void read_prompt(const std::string& key, const Json& value, Question& question) {
    each(key, value, [&](const std::string& name, const Json& member) {
        const std::string field = name == "tokens"     ? "prompt_tokens"
                                  : name == "generate" ? "generate_tokens"
                                                       : name;
        if (find_question_field(field) == nullptr)
            throw UsageError(fmt::format("\"prompt\" has no \"{}\"", name));
        read_field(field, member, question);
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
    Row{"prompt", read_prompt},
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
        if (found)
            found->read(key, value, question);
        else
            read_field(key, value, question);
    }
    archsim::Question asked = question.texts.question();
    question.workload = std::move(asked.workload);
    question.conditions = std::move(asked.conditions);
    question.limits.preference = &question.ranked();
    return question;
}

} // namespace archsim::web
