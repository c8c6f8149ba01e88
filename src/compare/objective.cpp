#include "archsim/compare/objective.hpp"

#include "archsim/compare/ties.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>

namespace archsim {

const ObjectiveInfo& info_of(Objective objective) {
    static constexpr std::array<ObjectiveInfo, kObjectives.size()> kInfos = {{
        {"energy", "Energy", "J", "energy per inference"},
        {"latency", "Latency", "s", "latency"},
        {"throughput", "Throughput", "1/s", "throughput", true},
        {"memory", "Memory", "B", "peak memory"},
        {"power", "Power", "W", "average power"},
        {"cost", "Cost", "USD", "cost per inference"},
        {"balance", "Balance", "J s", "energy-delay product"},
    }};
    return kInfos[static_cast<std::size_t>(objective)];
}

std::optional<Objective> parse_objective(std::string_view text) {
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    for (Objective objective : kObjectives)
        if (info_of(objective).name == lower)
            return objective;
    return std::nullopt;
}

std::optional<double> value_of(const Result& result, Objective objective, const CostOptions& cost) {
    if (!result.ok())
        return std::nullopt;
    const Estimate& e = result.estimate;
    const auto known = [](double value) { return std::isnan(value) ? std::nullopt : std::optional(value); };
    switch (objective) {
    case Objective::energy:
        return known(e.energy_per_inference_j);
    case Objective::latency:
        return e.latency_s;
    case Objective::throughput:
        return e.throughput_per_s;
    case Objective::memory:
        return e.memory.peak_bytes;
    case Objective::power:
        return known(e.power_w);
    case Objective::cost:
        return cost_of(result, cost).best();
    case Objective::balance:
        return known(e.energy_per_inference_j * e.latency_s);
    }
    return std::nullopt;
}

Interval interval_of(const Result& result, Objective objective, const CostOptions& cost) {
    const Estimate& e = result.estimate;
    const double value = value_of(result, objective, cost).value_or(0);
    switch (objective) {
    case Objective::energy:
        return e.energy_interval;
    case Objective::latency:
        return e.latency_interval;
    case Objective::throughput:
        return e.throughput_interval;
    case Objective::cost: // device time is what is paid for
        if (e.throughput_interval.low > 0)
            return {value * e.throughput_per_s / e.throughput_interval.high,
                    value * e.throughput_per_s / e.throughput_interval.low};
        break;
    case Objective::balance:
        return {e.energy_interval.low * e.latency_interval.low,
                e.energy_interval.high * e.latency_interval.high};
    case Objective::memory:
    case Objective::power:
        break;
    }
    return {value, value};
}

std::optional<Winner> find_winner(std::span<const Result> results, Objective objective,
                                  const CostOptions& cost) {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < results.size(); ++i)
        if (const auto value = value_of(results[i], objective, cost))
            order.emplace_back(info_of(objective).higher_is_better ? -*value : *value, i);
    if (order.empty())
        return std::nullopt;
    std::sort(order.begin(), order.end());
    const auto standing = [&](const std::pair<double, std::size_t>& entry) {
        const Interval own = interval_of(results[entry.second], objective, cost);
        return Standing{entry.first,
                        info_of(objective).higher_is_better ? Interval{-own.high, -own.low} : own};
    };
    const auto measured = [&](const auto& entry) { return !results[entry.second].estimate.projected; };
    const auto first = std::find_if(order.begin(), order.end(), measured);
    const bool any_measured = first != order.end();
    const auto& best = any_measured ? *first : order.front();
    Winner winner{best.second, {}, {}};
    if (any_measured && first != order.begin())
        winner.projected = order.front().second;
    const Standing own = standing(best);
    for (const auto& entry : order)
        if (entry.second != best.second && (measured(entry) || !any_measured) &&
            tied(results[entry.second], standing(entry), results[best.second], own))
            winner.tied.push_back(entry.second);
    return winner;
}

} // namespace archsim
