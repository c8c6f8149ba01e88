#include "core/parse_number.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace archsim {

struct Ending {
    std::string_view text;
    double factor;
};

constexpr double kKibi = 1024;
constexpr std::array kMultiples = {
    Ending{"", 1},      Ending{"k", 1e3},    Ending{"M", 1e6},           Ending{"G", 1e9},
    Ending{"K", kKibi}, Ending{"Ki", kKibi}, Ending{"Mi", kKibi* kKibi}, Ending{"Gi", kKibi* kKibi* kKibi}};
constexpr std::array kFactors = {Ending{"", 1}, Ending{"x", 1}, Ending{"%", 0.01}};
constexpr double kMinute = 60, kHour = 3600, kDay = 24 * kHour, kYear = 365.25 * kDay, kMonth = kYear / 12;
constexpr std::array kTimes = {
    Ending{"s", 1},          Ending{"ms", 1e-3},       Ending{"us", 1e-6},        Ending{"µs", 1e-6},
    Ending{"ns", 1e-9},      Ending{"min", kMinute},   Ending{"h", kHour},        Ending{"d", kDay},
    Ending{"second", 1},     Ending{"seconds", 1},     Ending{"minute", kMinute}, Ending{"minutes", kMinute},
    Ending{"hour", kHour},   Ending{"hours", kHour},   Ending{"day", kDay},       Ending{"days", kDay},
    Ending{"month", kMonth}, Ending{"months", kMonth}, Ending{"year", kYear},     Ending{"years", kYear}};
constexpr std::array kRates = {Ending{"", 1},    Ending{"1/s", 1}, Ending{"fps", 1},
                               Ending{"FPS", 1}, Ending{"Hz", 1},  Ending{"kHz", 1e3},
                               Ending{"k", 1e3}, Ending{"M", 1e6}, Ending{"rpm", 1 / kMinute}};
constexpr std::array kThousands = {Ending{"", 1}, Ending{"k", 1e3}, Ending{"K", 1e3}, Ending{"M", 1e6}};
constexpr std::array kEnergies = {
    Ending{"J", 1},      Ending{"mJ", 1e-3},         Ending{"uJ", 1e-6},
    Ending{"µJ", 1e-6},  Ending{"kJ", 1e3},          Ending{"MJ", 1e6},
    Ending{"Wh", kHour}, Ending{"mWh", kHour / 1e3}, Ending{"kWh", kHour * 1e3}};
constexpr std::array kPowers = {Ending{"W", 1}, Ending{"mW", 1e-3}, Ending{"uW", 1e-6}, Ending{"µW", 1e-6}};
constexpr std::array kCharges = {Ending{"Ah", 1}, Ending{"mAh", 1e-3}};
constexpr std::array kVolts = {Ending{"V", 1}};

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// "10000/min" of "10,000/min"; the text as it is unless each comma stands before three digits ("0,5" and
/// "8,16" are no numbers).
static std::string without_commas(std::string_view text) {
    const auto digits = [text](std::size_t from) {
        std::size_t end = from;
        while (end < text.size() && is_digit(text[end]))
            ++end;
        return end - from;
    };
    constexpr std::size_t kGroup = 3;
    std::size_t at = digits(0);
    if (at == 0 || at > kGroup || text.front() == '0')
        return std::string(text);
    std::string joined(text.substr(0, at));
    for (; at < text.size() && text[at] == ','; at += kGroup + 1) {
        if (digits(at + 1) != kGroup)
            return std::string(text);
        joined += text.substr(at + 1, kGroup);
    }
    return joined.append(text.substr(at));
}

template <std::size_t N>
static std::optional<double> parse_with(std::string_view text, const std::array<Ending, N>& endings) {
    std::string joined; // what the text refers to then
    if (text.find(',') != std::string_view::npos)
        text = joined = without_commas(text);
    const auto number = take_number<double>(text);
    while (text.size() > 1 && text.front() == ' ')
        text.remove_prefix(1);
    for (const Ending& ending : endings)
        if (number && ending.text == text)
            return *number * ending.factor;
    return std::nullopt;
}

/// The number that `read` finds before a "/", per second: the rest is a unit of time.
static std::optional<double> per_second(std::string_view text,
                                        std::optional<double> (*read)(std::string_view)) {
    const std::size_t at = text.rfind('/');
    if (at == std::string_view::npos)
        return std::nullopt;
    const auto* const unit = std::ranges::find(kTimes, text.substr(at + 1), &Ending::text);
    text = text.substr(0, at);
    while (text.ends_with(' '))
        text.remove_suffix(1);
    const auto number = read(text);
    return number && unit != kTimes.end() ? std::optional(*number / unit->factor) : std::nullopt;
}

std::optional<std::int64_t> parse_whole(std::string_view text) {
    const std::string joined = without_commas(text);
    if (const auto value = plain_number<std::int64_t>(joined))
        return value;
    if (text.empty() || is_digit(text.back()) || text.back() == '.') // "1e3", "2."
        return std::nullopt;
    const std::optional<double> scaled = parse_with(text, kMultiples);
    constexpr double kExact = 9007199254740992; // 2^53: beyond it a double need not be the number written
    if (!scaled || *scaled != std::floor(*scaled) || std::abs(*scaled) > kExact)
        return std::nullopt;
    return static_cast<std::int64_t>(*scaled);
}

std::optional<std::int64_t> scaled_number(std::string_view text) {
    return !text.empty() && is_digit(text.back()) ? std::nullopt : parse_whole(text);
}

std::optional<double> parse_real(std::string_view text) {
    return parse_with(text, kMultiples);
}

std::optional<double> parse_factor(std::string_view text) {
    return parse_with(text, kFactors);
}

std::optional<double> parse_seconds(std::string_view text) {
    return parse_with(text, kTimes);
}

std::optional<double> parse_rate(std::string_view text) {
    const auto rate = parse_with(text, kRates);
    return rate ? rate
                : per_second(text, [](std::string_view number) { return parse_with(number, kThousands); });
}

std::optional<double> parse_usd(std::string_view text) {
    if (text.starts_with('$'))
        text.remove_prefix(1);
    else if (text.ends_with("USD"))
        text.remove_suffix(3);
    while (text.ends_with(' '))
        text.remove_suffix(1);
    return parse_with(text, kThousands);
}

std::optional<double> parse_usd_per_hour(std::string_view text) {
    const auto usd = per_second(text, parse_usd);
    return usd ? std::optional(*usd * kHour) : std::nullopt;
}

std::optional<double> parse_joules(std::string_view text) {
    return parse_with(text, kEnergies);
}

std::optional<double> parse_watts(std::string_view text) {
    return parse_with(text, kPowers);
}

std::optional<Battery> parse_battery(std::string_view text, double usual_volts) {
    const std::size_t at = std::min(text.find('@'), text.size());
    const auto volts =
        at < text.size() ? parse_with(text.substr(at + 1), kVolts) : std::optional(usual_volts);
    const std::string_view content = text.substr(0, at);
    const auto joules = parse_joules(content), charge = parse_with(content, kCharges);
    if (!volts || !(*volts > 0) || (!joules && !charge))
        return std::nullopt;
    const Battery battery{charge ? *charge * *volts : *joules / kHour, *volts};
    return battery.watt_hours > 0 ? std::optional(battery) : std::nullopt;
}

} // namespace archsim
