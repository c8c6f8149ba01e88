#pragma once
// Picking lines, words and numbers out of what programs and the kernel print.

#include "core/parse_number.hpp"

namespace archsim {

/// Without blanks and line ends at its ends.
inline std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kBlank = " \t\r\n";
    const auto first = text.find_first_not_of(kBlank);
    return first == std::string_view::npos ? std::string_view{}
                                           : text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

/// Calls `use` with every part between separators; a separator at the end begins no further part.
template <class Use>
void each_part(std::string_view text, char separator, const Use& use) {
    while (!text.empty()) {
        const auto end = text.find(separator);
        use(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
}

/// Calls `use` with every line.
template <class Use>
void each_line(std::string_view text, const Use& use) {
    each_part(text, '\n', use);
}

/// The finite number that a text begins with after blanks: decimal, or hexadecimal after 0x.
inline std::optional<double> number_at_start(std::string_view text) {
    text = trimmed(text);
    if (text.starts_with("0x")) {
        constexpr int kHexadecimal = 16;
        text.remove_prefix(2);
        const auto value = take_number<unsigned long long>(text, kHexadecimal);
        return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
    }
    return take_number<double>(text);
}

} // namespace archsim
