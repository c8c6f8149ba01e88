#include "answers/sweep/sweep.hpp"
#include "archsim/hardware/device_changes.hpp"
#include "archsim/map/machine_changes.hpp"
#include "core/parse_number.hpp"
#include "core/text.hpp"

#include <fmt/format.h>

#include <cmath>

namespace archsim {

namespace {

constexpr std::int64_t kMaxFactors = 1'000'000;          ///< of one axis
constexpr double kLeastFactor = 1e-9, kMostFactor = 1e9; ///< ranges between them have finite ratios and steps

[[noreturn]] void malformed(std::string_view text, std::string_view why) {
    throw UsageError(
        fmt::format("\"{}\": {}; write NAME=0.5x,1x,2x or NAME=0.5x..4x:log8 or NAME=0.5x..4x:8", text, why));
}

std::string known_names() {
    std::string names;
    const auto add = [&names](std::string_view name) {
        names += (names.empty() ? "" : ", ");
        names += name;
    };
    for (std::size_t i = 0; i < kLeverCount; ++i)
        add(info_of(static_cast<Lever>(i)).name);
    for (std::size_t i = 0; i < kStructureCount; ++i)
        add(name_of(static_cast<Structure>(i)));
    return names;
}

double factor_of(std::string_view text, std::string_view whole) {
    const auto factor = parse_factor(text);
    if (!factor || !(*factor >= kLeastFactor && *factor <= kMostFactor))
        malformed(whole,
                  fmt::format("\"{}\" is not a factor from {:g} to {:g}", text, kLeastFactor, kMostFactor));
    return *factor;
}

std::vector<double> parse_range(std::string_view text, std::string_view whole) {
    const auto dots = text.find(".."), colon = text.rfind(':');
    if (colon == std::string_view::npos || colon < dots)
        malformed(whole, "a range needs the number of steps after a colon");
    const double low = factor_of(text.substr(0, dots), whole);
    const double high = factor_of(text.substr(dots + 2, colon - dots - 2), whole);
    std::string_view steps = text.substr(colon + 1);
    const bool logarithmic = steps.starts_with("log");
    if (logarithmic)
        steps.remove_prefix(3);
    const std::int64_t count = parse_whole(steps).value_or(0);
    if (count < 2 || count > kMaxFactors)
        malformed(whole, "the number of steps must be from 2 to 1000000");
    std::vector<double> factors;
    for (std::int64_t i = 0; i < count; ++i) {
        const double t = static_cast<double>(i) / static_cast<double>(count - 1);
        factors.push_back(logarithmic ? low * std::pow(high / low, t) : std::lerp(low, high, t));
    }
    return factors;
}

} // namespace

SweepAxis parse_sweep_axis(std::string_view text) {
    const auto sides = split_assignment(text);
    if (!sides)
        malformed(text, "no NAME=FACTORS");
    SweepAxis axis{std::string(sides->first), {}};
    if (!parse_lever(axis.name) && !parse_structure(axis.name))
        throw UsageError(fmt::format("\"{}\": nothing called \"{}\" can be varied; known: {}", text,
                                     axis.name, known_names()));
    std::string_view values = sides->second;
    if (values.find("..") != std::string_view::npos) {
        axis.factors = parse_range(values, text);
        return axis;
    }
    while (!values.empty()) {
        const auto item = values.substr(0, values.find(','));
        axis.factors.push_back(factor_of(item, text));
        values.remove_prefix(std::min(values.size(), item.size() + 1));
    }
    return axis;
}

} // namespace archsim
