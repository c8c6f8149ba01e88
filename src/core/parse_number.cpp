#include "core/parse_number.hpp"

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
constexpr std::array kTimes = {Ending{"s", 1},     Ending{"ms", 1e-3}, Ending{"us", 1e-6},
                               Ending{"ns", 1e-9}, Ending{"min", 60},  Ending{"h", 3600}};

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

} // namespace archsim
