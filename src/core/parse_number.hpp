#pragma once
// Numbers as people write them, with the letters and units that go with them.

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace archsim {

/// Takes the number that the text begins with off it; nothing, and the text as it was, where there is none,
/// or none that is finite and of this type.
template <class Number>
std::optional<Number> take_number(std::string_view& text, [[maybe_unused]] int base = 10) {
    Number value{};
    const char* const last = text.data() + text.size();
    std::from_chars_result read{};
    if constexpr (std::is_floating_point_v<Number>) {
        read = std::from_chars(text.data(), last, value);
        if (!std::isfinite(value))
            return std::nullopt;
    } else {
        read = std::from_chars(text.data(), last, value, base);
    }
    if (read.ec != std::errc{})
        return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    return value;
}

/// The number of a text that is one, and nothing else.
template <class Number>
std::optional<Number> plain_number(std::string_view text) {
    const std::optional<Number> value = take_number<Number>(text);
    return text.empty() ? value : std::nullopt;
}

/// A whole number: "8192", "-1", "10,000" (commas in front of groups of three digits), "8k" (8,000), "1.5M"
/// (1,500,000), "2G"; "8K" and "8Ki" are 8,192, "1Mi" 1,048,576, "1Gi" 1,073,741,824. Nothing for another
/// text, a fraction, or more than 64 bits hold.
std::optional<std::int64_t> parse_whole(std::string_view text);

/// The same where a plain number would be no text: in quotes "8k" is a number and "8" is a mistake.
std::optional<std::int64_t> scaled_number(std::string_view text);

/// A finite number with the same letters: "0.5", "2.5k", "1e6". Nothing for another text.
std::optional<double> parse_real(std::string_view text);

/// A factor or a share: "0.5", "0.5x", "50%". Nothing for another text.
std::optional<double> parse_factor(std::string_view text);

/// A time in seconds: "2s", "500ms", "40 ms", "3us", "5min", "1h", "1 day", "1 month" (a twelfth of 365.25
/// days). Nothing for another text or without a unit.
std::optional<double> parse_seconds(std::string_view text);

/// How often in a second: "30", "30fps", "30/s", "30 Hz", "10k", "600/min", "240rpm" (requests in a minute).
/// Nothing for another text.
std::optional<double> parse_rate(std::string_view text);

/// An energy in joules: "100mJ", "10kJ", "20Wh". Nothing for another text or without a unit.
std::optional<double> parse_joules(std::string_view text);

/// US dollars: "25000", "25,000", "25k", "$2.49", "0.32 USD". Nothing for another text: no other currency is
/// converted.
std::optional<double> parse_usd(std::string_view text);

/// US dollars an hour, whatever unit of time they are stated in: "20USD/h", "$4000/month". Nothing for
/// another text or without such a unit.
std::optional<double> parse_usd_per_hour(std::string_view text);

/// A power in watts: "5W", "2.5mW", "10uW". Nothing for another text or without a unit.
std::optional<double> parse_watts(std::string_view text);

struct Battery {
    double watt_hours = 0, volts = 0;
};
/// The capacity of a battery: "20Wh", "10kJ", "2.5Ah", "1000 mAh" at the usual volts, "225mAh@3V" at its own.
/// Nothing for another text, or nothing in it.
std::optional<Battery> parse_battery(std::string_view text, double usual_volts);

} // namespace archsim
