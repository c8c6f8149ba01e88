#include "fields/fields.hpp"

#include "archsim/core/finding.hpp"
#include "core/parse_number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

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

std::string number_text(double value) {
    return fmt::format("{}", value);
}

const FieldTable<Question>& question_fields() {
    static const FieldTable<Question> table = [] {
        FieldTable<Question> rows;
        for (auto part : {format_fields(), workload_fields(), condition_fields()})
            std::move(part.begin(), part.end(), std::back_inserter(rows));
        return rows;
    }();
    return table;
}

std::vector<std::string> keys_of(std::initializer_list<FieldOf> kinds) {
    std::vector<std::string> keys;
    for (const QuestionField& field : question_fields())
        if (std::find(kinds.begin(), kinds.end(), field.of) != kinds.end())
            keys.push_back(field.key);
    return keys;
}

const QuestionField* find_question_field(std::string_view name) {
    return find_field(question_fields(), name);
}

const QuestionField& question_field(std::string_view name) {
    return field_at(question_fields(), name, kQuestion);
}

} // namespace archsim
