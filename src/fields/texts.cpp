// Texts in, a question out; and the texts that state a question.

#include "fields/question.hpp"

#include "archsim/core/finding.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace archsim {

namespace {

/// What fields must keep to together, once all are there.
void check_together(const Question& question, Spelling spelling) {
    const auto name = [&](const char* key) { return question_field(key).spelled(spelling); };
    const auto& prompt = question.workload.prompt;
    if (!prompt) {
        if (question.conditions.devices == 0)
            throw UsageError(fmt::format("{} auto: only with {} or {}", name("devices"),
                                         name("prompt_tokens"), name("generate_tokens")));
        return;
    }
    if (prompt->context > 0 && prompt->context < prompt->tokens + prompt->generate)
        throw UsageError(fmt::format("{}: {} positions do not hold a prompt of {} tokens and an answer of {}",
                                     name("context"), prompt->context, prompt->tokens, prompt->generate));
    if (prompt->parallel && question.conditions.devices != 1)
        throw UsageError(fmt::format("{} says how many devices there are: no {} beside it", name("parallel"),
                                     name("devices")));
}

void put(const QuestionField& field, const std::string& text, const std::string& named, Question& question) {
    if (!field.choices.empty() &&
        std::find(field.choices.begin(), field.choices.end(), text) == field.choices.end())
        throw UsageError(
            fmt::format("{}: \"{}\" is not one of {}", named, text, fmt::join(field.choices, ", ")));
    field.parse(text, named, question);
}

} // namespace

void QuestionTexts::give(const QuestionField& field, std::string_view text, const std::string& named) {
    Question scratch; // with what other fields may say later
    scratch.workload.prompt.emplace();
    put(field, std::string(text), named, scratch);
    std::vector<Given>& texts = given_[&field];
    if (!field.many())
        texts.clear();
    texts.push_back({std::string(text), named});
}

void QuestionTexts::give(std::string_view name, std::string_view text) {
    const QuestionField& field = question_field(name);
    give(field, text, spelling_ == Spelling::flag ? field.flag : std::string(name));
}

bool QuestionTexts::has(std::string_view name) const {
    return given_.contains(&question_field(name));
}

Question QuestionTexts::question(const Model& model) const {
    Question question;
    question.workload.model = model;
    for (const QuestionField* field : question_fields()) // the order in which they refine each other
        if (const auto given = given_.find(field); given != given_.end())
            for (const Given& one : given->second)
                put(*field, one.text, one.named, question);
    check_together(question, spelling_);
    return question;
}

std::vector<StatedField> stated_fields(const Question& question) {
    std::vector<StatedField> stated;
    const Question none;
    for (const QuestionField* field : question_fields()) {
        std::vector<std::string> texts = field->print(question);
        if (texts != (field->usual ? field->usual(question) : field->print(none)))
            stated.push_back({field, std::move(texts)});
    }
    return stated;
}

std::string shell_quoted(std::string_view text) {
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=@+:,";
    if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos)
        return std::string(text);
    std::string out = "'";
    for (const char c : text)
        if (c == '\'')
            out += "'\\''";
        else
            out += c;
    return out + "'";
}

std::string command_flags(const Question& question, std::span<const std::string_view> without) {
    std::string line;
    for (const StatedField& stated : stated_fields(question)) {
        if (stated.field->flag.empty() ||
            std::find(without.begin(), without.end(), stated.field->key) != without.end())
            continue;
        if (stated.field->kind == FieldKind::truth)
            line += ' ' + stated.field->flag;
        else
            for (const std::string& text : stated.texts)
                line += fmt::format(" {} {}", stated.field->flag, shell_quoted(text));
    }
    return line;
}

} // namespace archsim
