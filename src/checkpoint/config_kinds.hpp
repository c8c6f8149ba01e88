#pragma once
// Configurations that describe no decoder of text: what they are, in a sentence.

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace archsim::checkpoint {

/// Throws InputError that says what `document` describes and what to give instead, where it is no decoder.
/// `text` is its part that would be read, `type` that part's model_type.
void refuse_other_kinds(const nlohmann::json& document, const nlohmann::json& text, const std::string& type,
                        const std::string& file);

/// What lies behind the last norm, by the name of the class.
enum class HeadKind : std::uint8_t { generates, scores, embeds };
HeadKind head_of(std::string_view architecture);

} // namespace archsim::checkpoint
