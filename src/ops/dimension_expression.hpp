#pragma once
// Sizes that a file writes as arithmetic over other sizes: "2*batch", "past + seq", "floor(height/32)",
// "min(past_sequence, 4096)". Names that only look like it ("Height (px)", "batch-size") are no expressions.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// The names that the expression is made of, each once, in order; empty for what is a name by itself.
std::vector<std::string> names_in_expression(std::string_view text);

/// The name of which a leading dimension says how many items there are: itself, or the one in its expression
/// ("batch" of "2*batch"); empty where that is not one.
std::string leading_name(const std::string& symbol);

/// What the expression is worth with the sizes that `size_of` knows; nothing where one is unknown, where the
/// result is negative or too large, and for what is a name by itself.
std::optional<std::int64_t>
evaluate_expression(std::string_view text,
                    const std::function<std::optional<std::int64_t>(const std::string&)>& size_of);

} // namespace archsim
