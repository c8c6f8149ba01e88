#include "common/question_options.hpp"

#include "archsim/core/finding.hpp"
#include "common/answer_options.hpp"
#include "core/lists.hpp"
#include "core/parse_number.hpp"
#include "result/decisions.hpp"
#include "session/given.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace archsim::cli {

constexpr const char* kFurther = "Further conditions";

/// "8 (default: 1)", and that several are a row each.
static std::string help_of(const QuestionField& field, bool several) {
    std::string text = field.help;
    if (several && field.kind == FieldKind::whole)
        text += "; several: a row for each";
    if (!field.fallback.empty())
        text += " (default: " + field.fallback + ")";
    return text;
}

/// "NAME=8,16" as one of its sides where a pair is asked, "NAME=8" as it is.
static std::string side_of(const std::string& text, std::size_t index) {
    const std::size_t equals = text.find('='), comma = text.find(',');
    if (equals == std::string::npos || comma == std::string::npos || comma < equals)
        return text;
    return index == 0 ? text.substr(0, comma) : text.substr(0, equals + 1) + text.substr(comma + 1);
}

void QuestionOptions::add_fields_to(Flags& flags, const AskedFields& fields) {
    pair_ = fields.most == 2;
    for (const QuestionField& field : question_fields()) {
        if (field.flag.empty() || contains(fields.without, field.key) ||
            (field.of == FieldOf::duty && !fields.duty) ||
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
    flags.add_option("--hardware-db", overlays, "folder(s) of device files that take precedence", "FOLDER")
        .in_group(kFurther);
}

void QuestionOptions::add_to(Flags& flags, const AskedFields& fields) {
    add_fields_to(flags, fields);
    add_overlays_to(flags);
    flags
        .add_option(
            "--measured", measured,
            "what you measured, \"resnet50 int8 on Hailo-8 = 3.1ms\", or a file of such lines (repeatable): "
            "estimates of the same device and stack follow it",
            "MEASUREMENT")
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

constexpr const char* kGroup = "Limits and choices";
constexpr std::size_t kMostBatches = 64;

static std::int64_t parse_batch(const std::string& text, const std::string& flag) {
    const auto batch = parse_whole(text);
    if (!batch || *batch < 1 || *batch > kLargestBatch)
        throw UsageError(fmt::format("{}: \"{}\" is not a batch of 1 to {}", flag, text, kLargestBatch));
    return *batch;
}

/// Appends what "..." stands for between the last two numbers and `last`: geometric where these double (or
/// grow by another whole factor), else in equal steps.
static void continue_to(std::int64_t last, const std::string& flag, std::vector<std::int64_t>& batches) {
    if (batches.size() < 2 || batches[batches.size() - 2] >= batches.back())
        throw UsageError(fmt::format("{}: \"...\" needs two rising numbers before it", flag));
    const std::int64_t before = batches[batches.size() - 2], step = batches.back() - before;
    const bool geometric =
        batches.back() % before == 0 &&
        (batches.size() < 3 || batches[1] != batches[0] + step || batches[2] != batches[1] + step);
    const std::int64_t factor = batches.back() / before;
    while (batches.size() < kMostBatches) {
        const std::int64_t next = geometric ? batches.back() * factor : batches.back() + step;
        if (next > last)
            break;
        batches.push_back(next);
    }
    if (batches.back() != last)
        batches.push_back(last);
}

std::string limit_flag(const Metric& metric) {
    std::string name = limit_key(metric);
    std::ranges::replace(name, '_', '-');
    return "--" + name;
}

void DecisionOptions::add_limits_to(Flags& flags) {
    for (const Metric* m : metrics->rows())
        flags
            .add_option(limit_flag(*m), limits[m->key], m->limit_help.empty() ? m->noun : m->limit_help,
                        "LIMIT")
            .number()
            .in_group(kGroup);
}

void DecisionOptions::add_to(Flags& flags) {
    add_limits_to(flags);
    flags
        .add_option("--pareto", pareto, "mark the Pareto front of these metrics, e.g. energy latency",
                    "METRIC")
        .in_group(kGroup);
}

DecisionRequest DecisionOptions::request(const Metric& preference) const {
    DecisionRequest request{.preference = &preference};
    for (const Metric* m : metrics->rows())
        if (const auto given = limits.find(m->key); given != limits.end() && !given->second.empty())
            request.constraints.push_back(parse_constraint(*m, given->second, limit_flag(*m)));
    for (const std::string& name : pareto)
        request.pareto.push_back(&metrics->at(name, "--pareto"));
    return request;
}

std::vector<std::int64_t> parse_batches(const std::string& text, const std::string& flag) {
    std::vector<std::int64_t> batches;
    const std::vector<std::string> pieces = split(text, ',');
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        if (pieces[i] != "...") {
            batches.push_back(parse_batch(pieces[i], flag));
        } else {
            if (i + 1 == pieces.size())
                throw UsageError(fmt::format("{}: give the last batch after \"...\"", flag));
            continue_to(parse_batch(pieces[++i], flag), flag, batches);
        }
        if (batches.size() > kMostBatches)
            throw UsageError(fmt::format("{}: more than {} batches", flag, kMostBatches));
    }
    for (std::size_t i = 1; i < batches.size(); ++i)
        if (batches[i] <= batches[i - 1])
            throw UsageError(
                fmt::format("{}: batches must rise, {} comes after {}", flag, batches[i], batches[i - 1]));
    return batches;
}

} // namespace archsim::cli
