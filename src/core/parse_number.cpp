#include "core/parse_number.hpp"

#include <algorithm>
#include <array>

namespace archsim {

namespace {

struct Ending {
    std::string_view text;
    double factor;
};

constexpr double kKibi = 1024;
constexpr std::array kMultiples = {
    Ending{"", 1},      Ending{"k", 1e3},    Ending{"M", 1e6},           Ending{"G", 1e9},
    Ending{"K", kKibi}, Ending{"Ki", kKibi}, Ending{"Mi", kKibi* kKibi}, Ending{"Gi", kKibi* kKibi* kKibi}};
constexpr std::array kFactors = {Ending{"", 1}, Ending{"x", 1}, Ending{"%", 0.01}};
constexpr double kMinute = 60, kHour = 3600, kDay = 24 * kHour;
constexpr std::array kTimes = {
    Ending{"s", 1},        Ending{"ms", 1e-3},     Ending{"us", 1e-6},        Ending{"µs", 1e-6},
    Ending{"ns", 1e-9},    Ending{"min", kMinute}, Ending{"h", kHour},        Ending{"d", kDay},
    Ending{"second", 1},   Ending{"seconds", 1},   Ending{"minute", kMinute}, Ending{"minutes", kMinute},
    Ending{"hour", kHour}, Ending{"hours", kHour}, Ending{"day", kDay},       Ending{"days", kDay}};
constexpr std::array kRates = {Ending{"", 1},      Ending{"/s", 1},  Ending{"1/s", 1},   Ending{"fps", 1},
                               Ending{"FPS", 1},   Ending{"Hz", 1},  Ending{"kHz", 1e3}, Ending{"k", 1e3},
                               Ending{"k/s", 1e3}, Ending{"M", 1e6}, Ending{"M/s", 1e6}};
constexpr std::array kEnergies = {
    Ending{"J", 1},      Ending{"mJ", 1e-3},         Ending{"uJ", 1e-6},
    Ending{"µJ", 1e-6},  Ending{"kJ", 1e3},          Ending{"MJ", 1e6},
    Ending{"Wh", kHour}, Ending{"mWh", kHour / 1e3}, Ending{"kWh", kHour * 1e3}};
constexpr std::array kCharges = {Ending{"Ah", 1}, Ending{"mAh", 1e-3}};
constexpr std::array kVolts = {Ending{"V", 1}};

template <std::size_t N>
std::optional<double> parse_with(std::string_view text, const std::array<Ending, N>& endings) {
    const auto number = take_number<double>(text);
    while (text.size() > 1 && text.front() == ' ')
        text.remove_prefix(1);
    for (const Ending& ending : endings)
        if (number && ending.text == text)
            return *number * ending.factor;
    return std::nullopt;
}

} // namespace

std::optional<std::int64_t> parse_whole(std::string_view text) {
    if (const auto value = plain_number<std::int64_t>(text))
        return value;
    if (text.empty() || (text.back() >= '0' && text.back() <= '9') || text.back() == '.') // "1e3", "2."
        return std::nullopt;
    const std::optional<double> scaled = parse_with(text, kMultiples);
    constexpr double kExact = 9007199254740992; // 2^53: beyond it a double need not be the number written
    if (!scaled || *scaled != std::floor(*scaled) || std::abs(*scaled) > kExact)
        return std::nullopt;
    return static_cast<std::int64_t>(*scaled);
}

std::optional<std::int64_t> scaled_number(std::string_view text) {
    const bool plain = !text.empty() && text.back() >= '0' && text.back() <= '9';
    return plain ? std::nullopt : parse_whole(text);
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
    return parse_with(text, kRates);
}

std::optional<double> parse_joules(std::string_view text) {
    return parse_with(text, kEnergies);
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
