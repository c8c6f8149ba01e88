// The table of a question's fields; texts in, a question out; and the texts that state a question.

#include "fields/question.hpp"

#include "core/parse_number.hpp"

namespace archsim {

bool truth_of(const std::string& text, const std::string& name) {
    if (text == "true" || text == "1")
        return true;
    if (text == "false" || text == "0")
        return false;
    throw UsageError(fmt::format("{}: \"{}\" is neither true nor false", name, text));
}

std::int64_t whole_of(const std::string& text, const std::string& name, std::int64_t low, std::int64_t high) {
    const auto value = parse_whole(text);
    if (!value)
        throw UsageError(
            fmt::format("{}: \"{}\" is not a whole number{}", name, text,
                        name.starts_with("--") ? "; a model stands before the flags, or after --model" : ""));
    if (*value < low || *value > high)
        throw UsageError(fmt::format("{}: {} is not between {} and {}", name, text, low, high));
    return *value;
}

double seconds_of(const std::string& text, const std::string& name, bool none) {
    const auto seconds = parse_seconds(text);
    if (!seconds || *seconds < 0 || (*seconds == 0 && !none))
        throw UsageError(
            fmt::format("{}: expected a time with a unit (500ms, 0.5s), got \"{}\"", name, text));
    return *seconds;
}

std::string number_text(double value) {
    return fmt::format("{}", value);
}

const FieldTable<Question>& question_fields() {
    static const FieldTable<Question> table = [] {
        FieldTable<Question> rows;
        for (auto part : {format_fields(), workload_fields(), condition_fields()})
            append(rows, std::move(part));
        return with_flags(std::move(rows));
    }();
    return table;
}

std::vector<std::string> keys_of(std::initializer_list<FieldOf> kinds) {
    std::vector<std::string> keys;
    for (const QuestionField& field : question_fields())
        if (contains(kinds, field.of))
            keys.push_back(field.key);
    return keys;
}

const QuestionField* find_question_field(std::string_view name) {
    return find_field(question_fields(), name);
}

const QuestionField& question_field(std::string_view name) {
    return field_at(question_fields(), name, kQuestion);
}

/// Checks what fields must keep to together, once all are there.
static void check_together(const Question& question, Spelling spelling) {
    const auto name = [&](const char* key) { return question_field(key).spelled(spelling); };
    if (const Duty& duty = question.conditions.duty;
        (duty.battery_wh > 0 || duty.idle_w > 0) && !duty.stated())
        throw UsageError(fmt::format("{}: say how often it works, with {} or {}",
                                     name(duty.battery_wh > 0 ? "battery" : "idle_power"), name("every"),
                                     name("fps")));
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

QuestionTexts::QuestionTexts(Spelling spelling)
    : FieldTexts(question_fields(), kQuestion, spelling, {.workload = {.prompt = Prompt{}}}) {}

Question QuestionTexts::question(const Model& model) const {
    Question question;
    question.workload.model = model;
    put_into(question);
    check_together(question, spelling());
    return question;
}

std::vector<StatedField> stated_fields(const Question& question) {
    std::vector<StatedField> stated;
    const Question none;
    for (const QuestionField& field : question_fields()) {
        std::vector<std::string> texts = field.print(question);
        if (texts != (field.usual ? field.usual(question) : field.print(none)))
            stated.push_back({&field, std::move(texts)});
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
        if (stated.field->flag.empty() || contains(without, stated.field->key))
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
