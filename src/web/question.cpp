#include "web/answers.hpp"

#include "archsim/core/finding.hpp"
#include "core/json_document.hpp"
#include "core/lists.hpp"
#include "core/text.hpp"
#include "fields/question_json.hpp"
#include "result/cost_terms.hpp"
#include "result/decisions.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace archsim::web {

using Json = nlohmann::ordered_json;

[[noreturn]] static void wrong(std::string_view key, std::string_view wanted) {
    throw UsageError(fmt::format("\"{}\" of a question is not {}", key, wanted));
}

static std::string text_of(const std::string& key, const Json& value) {
    if (!value.is_string())
        wrong(key, "a text");
    return value.get<std::string>();
}

static bool truth_of(const std::string& key, const Json& value) {
    if (!value.is_boolean())
        wrong(key, "true or false");
    return value.get<bool>();
}

template <class Read>
static void each(const std::string& key, const Json& value, Read read) {
    if (!value.is_object())
        wrong(key, "an object");
    for (const auto& [name, member] : value.items())
        read(name, member);
}

static std::vector<std::string> texts_of(const std::string& key, const Json& value) {
    if (!value.is_array())
        wrong(key, "a list of texts");
    return mapped(value, [&](const Json& item) { return text_of(key, item); });
}

static const Metric* metric_of(const std::string& key, std::string_view name) {
    return &MetricTable::standard().at(name, key);
}

/// A field of what is asked of each device.
static void read_field(const std::string& key, const Json& value, Question& question) {
    const QuestionField& field = question_field(key);
    for (const std::string& text : texts_of_json(field, value, fmt::format("\"{}\" of a question", key)))
        question.texts.give(field, text, fmt::format("\"{}\"", key));
}

static void read_limits(const std::string& key, const Json& value, Question& question) {
    each(key, value, [&](const std::string& name, const Json& limit) {
        question.limits.constraints.push_back(
            parse_constraint(*metric_of(key, name), text_of(name, limit), "limit on " + name));
    });
}

/// A text, a number or a truth value as the text that a form would hold.
static std::string written_text(const std::string& key, const Json& value) {
    if (value.is_string())
        return value.get<std::string>();
    if (!value.is_number() && !value.is_boolean())
        wrong(key, "a text or a number");
    return value.dump();
}

static void read_level(const std::string& key, const Json& value, Question& question) {
    each(key, value, [&](const std::string& name, const Json& member) {
        question.level.give(field_at(sizing_fields(), name, key), written_text(name, member), name);
    });
}

static void read_load(const std::string& key, const Json& value, Question& question) {
    each(key, value, [&](const std::string& name, const Json& member) {
        question.load.give(name, written_text(name, member));
    });
}

constexpr std::string_view kGrid = "grid_intensity", kTenure = "tenure", kPrices = "prices";

static void read_cost(const std::string& name, const Json& value, CostOptions& costs) {
    const std::string text = written_text(name, value);
    const auto numbers = cost_numbers();
    if (const auto number = std::ranges::find(numbers, name, &CostNumber::key); number != numbers.end()) {
        number->put(text, name, costs);
    } else if (name == kGrid) {
        costs.grid_intensity = parse_grid_intensity(text);
    } else if (name == kTenure) {
        if (text != "rent" && text != "buy")
            throw UsageError(fmt::format("\"{}\" is rent or buy, not \"{}\"", name, text));
        costs.tenure = text == "rent" ? Tenure::rent : Tenure::buy;
    } else if (name == kPrices) {
        for (std::string_view price : split(text, ' ')) {
            if (price.ends_with(','))
                price.remove_suffix(1);
            if (!price.empty())
                costs.prices.push_back(parse_price(price));
        }
    } else {
        throw UsageError(fmt::format("\"costs\" has no \"{}\"", name));
    }
}

static void read_costs(const std::string& key, const Json& value, Question& question) {
    each(key, value,
         [&](const std::string& name, const Json& member) { read_cost(name, member, question.costs); });
    check_cost_options(question.costs);
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
    Row{"limits", read_limits},
    Row{"load", read_load},
    Row{"level", read_level},
    Row{"costs", read_costs},
    Row{"metric",
        [](const std::string& k, const Json& v, Question& q) { q.metric = metric_of(k, text_of(k, v)); }},
    Row{"sort",
        [](const std::string& k, const Json& v, Question& q) { q.sort = metric_of(k, text_of(k, v)); }},
    Row{"format", [](const std::string& k, const Json& v, Question& q) { q.format = text_of(k, v); }},
    Row{"date", [](const std::string& k, const Json& v, Question& q) { q.date = text_of(k, v); }},
    Row{"charts", [](const std::string& k, const Json& v, Question& q) { q.charts = truth_of(k, v); }},
};

std::vector<FormField> cost_fields() {
    std::vector<FormField> fields;
    const CostOptions usual;
    for (const CostNumber& number : cost_numbers())
        fields.push_back({number.key, number.help,
                          usual.*number.at > 0 ? fmt::format("{}", usual.*number.at) : std::string()});
    fields.push_back({kGrid, "g CO2e per kWh, or a country: FRA, Germany, World",
                      fmt::format("{}", usual.grid_intensity)});
    fields.push_back({kTenure, "rent or buy", {}});
    fields.push_back({kPrices, "your own prices: H100=2.5/h to rent, H100=25000 to buy", {}});
    return fields;
}

Question read_question(std::string_view json) {
    const Json document =
        Json::parse(bounded_json(json, "the question", JsonKeys::as_written), nullptr, false);
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
