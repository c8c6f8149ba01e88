#include "common/question_options.hpp"

#include "archsim/core/finding.hpp"
#include "common/allowed_budget.hpp"
#include "session/given.hpp"

#include <algorithm>
#include <cmath>

namespace archsim::cli {

namespace {

constexpr const char* kFurther = "Further conditions";

bool contains(const std::vector<std::string>& keys, const std::string& key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

/// "8 (default: 1)", and that several are a row each.
std::string help_of(const QuestionField& field, bool several) {
    std::string text = field.help;
    if (several && field.kind == FieldKind::whole)
        text += "; several: a row for each";
    if (!field.fallback.empty())
        text += " (default: " + field.fallback + ")";
    return text;
}

/// "NAME=8,16" as one of its sides where a pair is asked, "NAME=8" as it is.
std::string side_of(const std::string& text, std::size_t index) {
    const std::size_t equals = text.find('='), comma = text.find(',');
    if (equals == std::string::npos || comma == std::string::npos || comma < equals)
        return text;
    return index == 0 ? text.substr(0, comma) : text.substr(0, equals + 1) + text.substr(comma + 1);
}

} // namespace

void QuestionOptions::add_fields_to(Flags& flags, const AskedFields& fields) {
    pair_ = fields.most == 2;
    for (const QuestionField& field : question_fields()) {
        if (field.flag.empty() || contains(fields.without, field.key) ||
            (!fields.only.empty() && !contains(fields.only, field.key)))
            continue;
        const bool several = contains(fields.several, field.key);
        const auto dressed = [&](Option option) {
            if (fields.grouped && !field.group.empty())
                option.in_group(field.group);
            if (!field.choices.empty())
                option.one_of(field.choices);
            else if (!field.value.empty())
                option.value_named(field.value);
            return option;
        };
        if (field.kind == FieldKind::truth) {
            dressed(flags.add_flag(field.flag, truths_[field.key], help_of(field, several)));
            continue;
        }
        Option option = dressed(flags.add_option(field.flag, texts_[field.key], help_of(field, several)));
        if (!field.many())
            option.expects(1, several ? fields.most : 1);
        if (several && !field.many() && !field.commas)
            option.list();
    }
    flags.add_rule([this] {
        for (std::size_t i = 0; i < most_given(); ++i)
            question(i);
    });
}

void QuestionOptions::add_overlays_to(Flags& flags) {
    flags.add_option("--hardware-db", overlays, "folder(s) of device files that take precedence")
        .value_named("FOLDER")
        .in_group(kFurther);
}

void QuestionOptions::add_to(Flags& flags, const AskedFields& fields) {
    add_fields_to(flags, fields);
    add_overlays_to(flags);
    flags
        .add_option(
            "--measured", measured,
            "what you measured, \"resnet50 int8 on Hailo-8 = 3.1ms\", or a file of such lines (repeatable): "
            "estimates of the same device and stack follow it")
        .value_named("MEASUREMENT")
        .in_group(kFurther);
}

std::size_t QuestionOptions::most_given() const {
    std::size_t most = 1;
    for (const auto& [key, texts] : texts_)
        if (!question_field(key).many())
            most = std::max(most, texts.size());
    return most;
}

const std::vector<std::string>& QuestionOptions::given(std::string_view key) const {
    static const std::vector<std::string> none;
    const auto found = texts_.find(key);
    return found == texts_.end() ? none : found->second;
}

Question QuestionOptions::question(std::size_t index) const {
    QuestionTexts texts(Spelling::flag);
    for (const auto& [key, values] : texts_) {
        const QuestionField& field = question_field(key);
        if (field.many())
            for (const std::string& text : values)
                texts.give(field, pair_ && field.kind == FieldKind::sizes ? side_of(text, index) : text,
                           field.flag);
        else if (!values.empty())
            texts.give(field, values[values.size() > 1 ? std::min(index, values.size() - 1) : 0], field.flag);
    }
    for (const auto& [key, value] : truths_)
        if (const QuestionField& field = question_field(key); value)
            texts.give(field, "true", field.flag);
    return texts.question();
}

void QuestionOptions::pass_on(std::string_view key, std::vector<std::string>& models) {
    const auto found = texts_.find(key);
    if (found == texts_.end() || found->second.size() < 2 || !models.empty())
        return;
    const QuestionField& field = question_field(key);
    try {
        QuestionTexts(Spelling::flag).give(field, found->second.back(), field.flag);
    } catch (const UsageError&) {
        models.push_back(std::move(found->second.back()));
        found->second.pop_back();
    }
}

std::vector<std::int64_t> QuestionOptions::numbers(std::string_view key) const {
    const QuestionField& field = question_field(key);
    std::vector<std::string> texts = given(key);
    if (texts.empty())
        texts = field.print({});
    std::vector<std::int64_t> numbers;
    for (const std::string& text : texts) {
        Question one;
        one.workload.prompt.emplace(); // what needs one
        field.parse(text, field.flag, one);
        const std::string read = field.print(one).front(); // "8k" is 8000
        numbers.push_back(read == "auto" ? 0 : std::stoll(read));
    }
    return numbers;
}

Session QuestionOptions::opened() const {
    SessionOptions options;
    options.hardware_overlays.assign(overlays.begin(), overlays.end());
    options.budget = allowed_budget();
    return Session(options);
}

Session QuestionOptions::open(const std::string& device) const {
    Session session = opened();
    if (!measured.empty())
        session.given(read_given(measured, session, device, "--measured"));
    return session;
}

} // namespace archsim::cli
