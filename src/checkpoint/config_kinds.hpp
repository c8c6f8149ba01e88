#pragma once
// Configurations that describe no decoder of text: what they are, in a sentence.

#include <nlohmann/json.hpp>

#include <string>

namespace archsim::checkpoint {

/// Throws InputError that says what `document` describes and what to give instead, where it is no decoder.
/// `text` is its part that would be read, `type` that part's model_type.
void refuse_other_kinds(const nlohmann::json& document, const nlohmann::json& text, const std::string& type,
                        const std::string& file);

} // namespace archsim::checkpoint
