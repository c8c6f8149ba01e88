#pragma once
// The rows of the table of fields, by the half of a question that they stand in.

#include "fields/question.hpp"

#include <optional>
#include <string>
#include <vector>

namespace archsim {

/// What has the fields, in messages.
inline constexpr std::string_view kQuestion = "a question";
/// Heading of what single passes on one device do without.
inline constexpr const char* kSeveralGroup = "Language models and several devices";
/// Heading of what few questions state.
inline constexpr const char* kFurtherGroup = "Further conditions";

/// Formats: the first fields, since others refine them.
std::vector<QuestionField> format_fields();
/// Batch, sizes and prompts.
std::vector<QuestionField> workload_fields();
/// Devices, stacks, scopes and changes.
std::vector<QuestionField> condition_fields();

/// One text, or none.
inline std::vector<std::string> text_or_none(std::optional<std::string> text) {
    return text ? std::vector{std::move(*text)} : std::vector<std::string>{};
}
/// "true", or nothing.
inline std::vector<std::string> truth_text(bool value) {
    return value ? std::vector<std::string>{"true"} : std::vector<std::string>{};
}
/// The truth of a text. Throws UsageError naming the field.
bool truth_of(const std::string& text, const std::string& name);
/// A whole number within bounds. Throws UsageError naming the field.
std::int64_t whole_of(const std::string& text, const std::string& name, std::int64_t low, std::int64_t high);
/// The shortest text that reads back as the same number.
std::string number_text(double value);

} // namespace archsim
