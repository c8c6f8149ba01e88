#pragma once
// What devices are compared by: one number per result, with its interval and its direction.

#include "archsim/compare/cost.hpp"
#include "archsim/compare/result.hpp"
#include "archsim/core/export.hpp"

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace archsim {

enum class Objective : std::uint8_t { energy, latency, throughput, memory, power, cost, balance };
inline constexpr std::array kObjectives = {Objective::energy, Objective::latency, Objective::throughput,
                                           Objective::memory, Objective::power,   Objective::cost,
                                           Objective::balance};

/// What an objective is called and in which direction it improves.
struct ObjectiveInfo {
    std::string_view name;  ///< "energy": flag value and JSON key
    std::string_view title; ///< "Energy"
    std::string_view unit;  ///< SI unit of the value: "J"
    std::string_view noun;  ///< "energy per inference"
    bool higher_is_better = false;
};
ARCHSIM_API const ObjectiveInfo& info_of(Objective objective);
ARCHSIM_API std::optional<Objective> parse_objective(std::string_view text);

/// The value in SI: joules per inference, seconds per batch, inferences per second, bytes, watts, USD per
/// inference, joule-seconds (energy per inference x latency). Absent where there is no estimate, or no price.
ARCHSIM_API std::optional<double> value_of(const Result& result, Objective objective,
                                           const CostOptions& cost = {});
/// Nominal 90 % interval of that value. Memory and power have none of their own: a point.
ARCHSIM_API Interval interval_of(const Result& result, Objective objective, const CostOptions& cost = {});
/// True when `a` is the better value.
inline bool better(Objective objective, double a, double b) {
    return info_of(objective).higher_is_better ? a > b : a < b;
}

/// The best of several results. Projections do not win against measured results: the best of them stands
/// apart.
struct Winner {
    std::size_t best = 0;          ///< index of the best measured result; of the best one where none is
    std::vector<std::size_t> tied; ///< other measured results that cannot be told apart from it, best first
    std::optional<std::size_t> projected; ///< the best projection, where it is estimated better than `best`
};
/// Absent when no result has a value.
ARCHSIM_API std::optional<Winner> find_winner(std::span<const Result> results, Objective objective,
                                              const CostOptions& cost = {});

} // namespace archsim
