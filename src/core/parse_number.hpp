#pragma once
// Numbers as people write them, with the letters and units that go with them.

#include <cstdint>
#include <optional>
#include <string_view>

namespace archsim {

/// A whole number: "8192", "-1", "8k" (8,000), "1.5M" (1,500,000), "2G"; "8K" and "8Ki" are 8,192, "1Mi"
/// 1,048,576, "1Gi" 1,073,741,824. Nothing for another text, a fraction, or more than 64 bits hold.
std::optional<std::int64_t> parse_whole(std::string_view text);

/// The same where a plain number would be no text: in quotes "8k" is a number and "8" is a mistake.
std::optional<std::int64_t> scaled_number(std::string_view text);

/// A finite number with the same letters: "0.5", "2.5k", "1e6". Nothing for another text.
std::optional<double> parse_real(std::string_view text);

/// A factor: "0.5", "0.5x", "50%". Nothing for another text.
std::optional<double> parse_factor(std::string_view text);

/// A time in seconds: "2s", "500ms", "40 ms", "3us", "5min", "1h". Nothing for another text or without a
/// unit.
std::optional<double> parse_seconds(std::string_view text);

} // namespace archsim
