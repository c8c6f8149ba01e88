#pragma once
// What a tool printed as the result of a call: sentences for who reads, the document for who computes, an
// error where there is no answer.

#include "mcp/capture.hpp"

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace archsim::cli {

/// What a call may ask beside the tool's own arguments.
struct AnswerOptions {
    std::optional<std::int64_t> most_rows; ///< of every list in the document; 0: all; nothing: what fits
};

/// Adds them to the schema of a tool's input.
void add_answer_options(nlohmann::ordered_json& schema);
/// Takes them out of the arguments. Throws UsageError.
AnswerOptions take_answer_options(nlohmann::ordered_json& arguments);

/// The result of a run that printed JSON; `as_text` runs the same for its text where the document has no
/// verdict, and is empty for tools that print no JSON.
nlohmann::ordered_json answer_of(const Captured& run, const std::function<Captured()>& as_text,
                                 const AnswerOptions& options);

/// The result that only says what is wrong.
nlohmann::ordered_json failed(const std::string& sentence);

} // namespace archsim::cli
