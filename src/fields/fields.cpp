#include "fields/fields.hpp"

#include "archsim/core/finding.hpp"
#include "archsim/hardware/database.hpp"
#include "core/parse_number.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace archsim {

namespace {

/// The library's own rows, and those that programs add.
std::vector<const QuestionField*>& table() {
    static const std::vector<QuestionField> own = [] {
        std::vector<QuestionField> rows;
        for (auto part : {format_fields(), workload_fields(), condition_fields()})
            for (QuestionField& row : part)
                rows.push_back(std::move(row));
        return rows;
    }();
    static std::vector<const QuestionField*> all = [] {
        std::vector<const QuestionField*> rows;
        for (const QuestionField& row : own)
            rows.push_back(&row);
        return rows;
    }();
    return all;
}

bool is_called(const QuestionField& field, std::string_view name) {
    return field.key == name || (!field.flag.empty() && field.flag == name) ||
           std::find(field.aliases.begin(), field.aliases.end(), name) != field.aliases.end();
}

} // namespace

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

std::vector<const QuestionField*> question_fields() {
    return table();
}

std::vector<std::string> keys_of(std::initializer_list<FieldOf> kinds) {
    std::vector<std::string> keys;
    for (const QuestionField* field : question_fields())
        if (std::find(kinds.begin(), kinds.end(), field->of) != kinds.end())
            keys.push_back(field->key);
    return keys;
}

const QuestionField* find_question_field(std::string_view name) {
    for (const QuestionField* field : table())
        if (is_called(*field, name))
            return field;
    return nullptr;
}

const QuestionField& question_field(std::string_view name) {
    if (const QuestionField* field = find_question_field(name))
        return *field;
    std::vector<std::string> keys;
    for (const QuestionField* field : table())
        keys.push_back(field->key);
    const auto nearest = nearest_names(name, keys, 1);
    throw UsageError(fmt::format("a question has no \"{}\"{}", name,
                                 nearest.empty() ? "" : fmt::format("; is {} meant?", nearest.front())));
}

AddedField::AddedField(const QuestionField& row) : row_(row) {
    if (row.key.empty() || !row.print || !row.parse)
        throw InputError(fmt::format("the field \"{}\" needs a key, print and parse", row.key));
    for (const QuestionField* other : table())
        if (is_called(*other, row.key) || (!row.flag.empty() && other->flag == row.flag))
            throw InputError(fmt::format("the field \"{}\" is in the table already", row.key));
    table().push_back(&row);
}

AddedField::~AddedField() {
    std::erase(table(), &row_);
}

} // namespace archsim
