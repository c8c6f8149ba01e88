#include "report/blocks/number_format.hpp"

#include "core/parse_number.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace archsim {

struct Prefix {
    double factor;
    const char* text;
};

static std::string with_prefix(double value, const Prefix* first, const Prefix* last, const char* unit) {
    if (std::isnan(value))
        return "-";
    const double magnitude = std::abs(value);
    if (magnitude == 0)
        return fmt::format("0 {}", unit);
    const Prefix* best = first;
    for (const Prefix* p = first; p != last; ++p)
        if (magnitude >= p->factor * 0.9995)
            best = p;
    return fmt::format("{} {}{}", format_number(value / best->factor), best->text, unit);
}

constexpr std::array kDecimal = {Prefix{1, ""}, Prefix{1e3, "k"}, Prefix{1e6, "M"}, Prefix{1e9, "G"},
                                 Prefix{1e12, "T"}};
constexpr std::array kSmallAscii = {Prefix{1e-9, "n"}, Prefix{1e-6, "u"}, Prefix{1e-3, "m"}, Prefix{1, ""}};
constexpr std::array kSmallUnicode = {Prefix{1e-9, "n"}, Prefix{1e-6, "µ"}, Prefix{1e-3, "m"}, Prefix{1, ""}};

std::string format_number(double value) {
    if (std::isnan(value))
        return "-";
    if (std::isinf(value))
        return value > 0 ? "inf" : "-inf";
    const double magnitude = std::abs(value);
    if (magnitude == 0)
        return "0";
    if (magnitude >= 99.95 && magnitude < 1e7)
        return fmt::format("{:.0f}", value);
    if (magnitude >= 9.995 && magnitude < 99.95)
        return fmt::format("{:.1f}", value);
    if (magnitude >= 0.9995 && magnitude < 9.995)
        return fmt::format("{:.2f}", value);
    if (magnitude >= 0.09995 && magnitude < 0.9995)
        return fmt::format("{:.3f}", value);
    if (magnitude >= 1e-4 && magnitude < 0.09995)
        return fmt::format("{:#.3g}", value);
    return fmt::format("{:.3g}", value);
}

std::string format_time(double seconds, bool unicode) {
    return unicode ? with_prefix(seconds, kSmallUnicode.begin(), kSmallUnicode.end(), "s")
                   : with_prefix(seconds, kSmallAscii.begin(), kSmallAscii.end(), "s");
}

std::string format_energy(double joules, bool unicode) {
    constexpr double kManyJoules = 1e4; // below, beside the watts and seconds that they are made of
    if (joules >= kManyJoules)
        return with_prefix(joules, kDecimal.begin(), kDecimal.end(), "J");
    return unicode ? with_prefix(joules, kSmallUnicode.begin(), kSmallUnicode.end(), "J")
                   : with_prefix(joules, kSmallAscii.begin(), kSmallAscii.end(), "J");
}

std::string format_bytes(double bytes) {
    return with_prefix(bytes, kDecimal.begin(), kDecimal.end(), "B");
}

std::string format_power(double watts) {
    return with_prefix(watts, kSmallAscii.begin() + 1, kSmallAscii.end(), "W");
}

std::string format_lasting(double hours) {
    constexpr double kHoursPerDay = 24, kSomeDays = 3 * kHoursPerDay, kSomeYears = 2 * 365.25 * kHoursPerDay;
    return hours < kSomeDays    ? format_number(hours) + " h"
           : hours < kSomeYears ? format_number(hours / kHoursPerDay) + " days"
                                : format_number(hours / (kSomeYears / 2)) + " years";
}

std::string likely_text(double probability) {
    constexpr double kCertain = 0.995;
    return probability < kCertain ? fmt::format(" ({:.0f} % likely)", 100 * probability) : std::string();
}

std::string format_count(double value) {
    if (std::abs(value) < 1000 && value == std::floor(value))
        return fmt::format("{:.0f}", value);
    const auto text = with_prefix(value, kDecimal.begin(), kDecimal.end(), "");
    return text.ends_with(' ') ? text.substr(0, text.size() - 1) : text;
}

std::string format_percent(double fraction) {
    return std::isnan(fraction) ? std::string("-") : fmt::format("{:.1f} %", fraction * 100);
}

std::string signed_percent(double fraction) {
    return fmt::format("{:+.1f} %", fraction * 100);
}

static bool is_number(std::string_view text) {
    if (text.starts_with('+'))
        text.remove_prefix(1);
    return plain_number<double>(text).has_value();
}

/// "-3.4 % better", "+12 ms": digits, then words and units without any sign that calculates or calls.
static bool is_change(std::string_view text) {
    constexpr std::string_view kDigits = "0123456789.";
    text.remove_prefix(1);
    const std::size_t digits = std::min(text.find_first_not_of(kDigits), text.size());
    return digits > 0 &&
           std::all_of(text.begin() + static_cast<std::ptrdiff_t>(digits), text.end(), [](char c) {
               return c == ' ' || c == '%' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      static_cast<unsigned char>(c) >= 0x80U;
           });
}

/// Signs that begin a formula in spreadsheets, in East Asian ones the wide forms of the same too; and GitHub,
/// in a log, a command.
static bool begins_formula(std::string_view text) {
    constexpr std::array<std::string_view, 7> kAlways = {"=",      "@",      "::",    "\uff1d",
                                                         "\uff0b", "\uff0d", "\uff20"};
    if (std::ranges::any_of(kAlways, [&](std::string_view sign) { return text.starts_with(sign); }))
        return true;
    const bool is_signed = text.size() > 1 && (text.front() == '+' || text.front() == '-');
    return is_signed && !is_number(text) && !is_change(text);
}

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
