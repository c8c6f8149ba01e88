#include "report/blocks/csv_text.hpp"
#include "core/parse_number.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <array>

namespace archsim {

namespace {

bool is_number(std::string_view text) {
    if (text.starts_with('+'))
        text.remove_prefix(1);
    return plain_number<double>(text).has_value();
}

/// "-3.4 % better", "+12 ms": digits, then words and units without any sign that calculates or calls.
bool is_change(std::string_view text) {
    constexpr std::string_view kDigits = "0123456789.";
    text.remove_prefix(1);
    const std::size_t digits = std::min(text.find_first_not_of(kDigits), text.size());
    return digits > 0 &&
           std::all_of(text.begin() + static_cast<std::ptrdiff_t>(digits), text.end(), [](char c) {
               return c == ' ' || c == '%' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      static_cast<unsigned char>(c) >= 0x80U;
           });
}

/// What spreadsheets begin a formula with, in East Asian ones the wide forms of the same too; and GitHub, in
/// a log, a command.
bool begins_formula(std::string_view text) {
    constexpr std::array<std::string_view, 7> kAlways = {"=",      "@",      "::",    "\uff1d",
                                                         "\uff0b", "\uff0d", "\uff20"};
    if (std::any_of(kAlways.begin(), kAlways.end(),
                    [&](std::string_view sign) { return text.starts_with(sign); }))
        return true;
    const bool is_signed = text.size() > 1 && (text.front() == '+' || text.front() == '-');
    return is_signed && !is_number(text) && !is_change(text);
}

} // namespace

std::string csv_field(std::string_view given) {
    std::string text = one_line(std::string(given), std::string::npos);
    if (begins_formula(text))
        text.insert(text.begin(), '\'');
    if (text.find_first_of(",\"") == std::string::npos)
        return text;
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"')
            quoted += '"';
        quoted += c;
    }
    return quoted + "\"";
}

} // namespace archsim
