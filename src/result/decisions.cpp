#include "result/decisions.hpp"

#include "archsim/core/finding.hpp"
#include "core/lists.hpp"
#include "core/parse_number.hpp"
#include "hardware/error_model.hpp"
#include "result/duty_cycle.hpp"
#include "result/ties.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace archsim {

struct LimitUnit {
    std::string_view name;
    double factor;
};

/// The units of a limit, and how such a limit looks.
struct LimitForm {
    std::vector<LimitUnit> units;
    std::string example;
    std::optional<double> (*read)(std::string_view) = nullptr; ///< in place of the units
};

static LimitForm form_of(const Metric& metric) {
    switch (metric.quantity) {
    case QuantityKind::time:
        return {{}, "a time like 50ms", parse_seconds};
    case QuantityKind::energy:
        return {{}, "an energy like 100mJ", parse_joules};
    case QuantityKind::power:
        return {{{"W", 1}, {"mW", 1e-3}, {"kW", 1e3}}, "a power like 15W"};
    case QuantityKind::bytes:
        return {{{"B", 1},
                 {"kB", 1e3},
                 {"KB", 1e3},
                 {"MB", 1e6},
                 {"GB", 1e9},
                 {"TB", 1e12},
                 {"KiB", 1024.0},
                 {"MiB", 0x1p20},
                 {"GiB", 0x1p30}},
                "a size like 512MB"};
    case QuantityKind::rate:
        return {{}, "inferences per second like 10000 or 10k", parse_rate};
    case QuantityKind::ratio:
        return {{{"", 1}, {"%", 1e-2}}, "a share like 30% or 0.3"};
    case QuantityKind::money:
        return {{}, "USD per million inferences like 0.25", [](std::string_view text) {
                    const auto usd = parse_usd(text);
                    return usd ? std::optional(1e-6 * *usd) : std::nullopt;
                }};
    case QuantityKind::carbon:
        return {{{"", 1e-3}, {"g", 1e-3}, {"mg", 1e-6}, {"kg", 1}}, "g CO2e per 1000 inferences like 0.5"};
    case QuantityKind::number:
        break;
    }
    return {{{"", 1}, {metric.unit, 1}},
            metric.unit.empty() ? std::string("a number") : fmt::format("a number of {}", metric.unit)};
}

static Verdict judge(const Result& result, const Constraint& constraint, const CostOptions& cost) {
    Verdict verdict;
    verdict.constraint = constraint;
    const auto measure = measure_of(result, *constraint.metric, cost);
    if (!measure) {
        verdict.headroom = -std::numeric_limits<double>::infinity();
        return verdict;
    }
    verdict.value = measure->value;
    const bool least = constraint.metric->better == Better::higher;
    const double value = measure->value, limit = constraint.limit;
    verdict.headroom = least ? (value - limit) / limit : (limit - value) / limit;
    verdict.met = verdict.headroom >= 0;
    verdict.certain =
        (limit < measure->interval.low || limit > measure->interval.high) && !measure->leaves_open(limit);
    const double at_most = probability_at_most(limit, value, measure->interval);
    verdict.probability = measure->leaves_open(limit) ? 0.5 : least ? 1 - at_most : at_most;
    return verdict;
}

/// Better in one metric and worse in none.
static bool dominates(const std::vector<double>& a, const std::vector<double>& b) {
    bool better_somewhere = false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i] > b[i])
            return false;
        better_somewhere = better_somewhere || a[i] < b[i];
    }
    return better_somewhere;
}

static std::vector<bool> pareto_front(std::span<const Result> results, const DecisionRequest& request) {
    std::vector<std::optional<std::vector<double>>> points;
    for (const Result& result : results) {
        std::vector<double> point;
        for (const Metric* metric : request.pareto)
            if (const auto value =
                    may_lead(result.estimate) ? value_of(result, *metric, request.cost) : std::nullopt)
                point.push_back(metric->better == Better::higher ? -*value : *value);
        points.push_back(point.size() == request.pareto.size() ? std::optional(point) : std::nullopt);
    }
    std::vector<bool> front(results.size(), false);
    for (std::size_t i = 0; i < points.size(); ++i)
        front[i] =
            !request.pareto.empty() && points[i] && std::ranges::none_of(points, [&](const auto& other) {
                return other && dominates(*other, *points[i]);
            });
    return front;
}

static bool is_rate_missed(const std::vector<Verdict>& list) {
    return !list.empty() && *list.front().constraint.metric == metric::time_at_work && !list.front().met;
}

/// Only those count that keep up with what is asked of them, where any does, and that may lead, where any
/// may.
static std::optional<Decision::Nearest> nearest_of(std::span<const Result> results,
                                                   const Decision& decision) {
    const auto group = [&](std::size_t i) {
        return std::pair(!results[i].ok() || is_rate_missed(decision.verdicts[i]),
                         !results[i].ok() || !may_lead(results[i].estimate));
    };
    auto best = std::pair(true, true);
    for (std::size_t i = 0; i < results.size(); ++i)
        best = std::min(best, group(i));
    std::optional<Decision::Nearest> nearest;
    double smallest = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < decision.verdicts.size(); ++i) {
        if (group(i) != best)
            continue;
        const auto& list = decision.verdicts[i];
        auto worst = std::ranges::min_element(list, {}, &Verdict::headroom);
        if (is_rate_missed(list)) // power and money of what cannot keep up are not known
            worst = list.begin();
        if (worst != list.end() && worst->headroom > smallest) {
            smallest = worst->headroom;
            nearest = {i, static_cast<std::size_t>(worst - list.begin())};
        }
    }
    return nearest;
}

double probability_at_most(double limit, double value, const Interval& interval) {
    const double distance = std::log(limit / value);
    const double reach = distance < 0 ? std::log(value / interval.low) : std::log(interval.high / value);
    if (!(reach > 0)) // a value without an interval of its own
        return distance < 0 ? 0 : 1;
    return student_t(kErrorReach * distance / reach, kErrorDegreesOfFreedom);
}

std::string limit_key(const Metric& metric) {
    return (metric.better == Better::higher ? "min_" : "max_") + metric.key;
}

Constraint parse_constraint(const Metric& metric, std::string_view text, std::string_view flag) {
    std::string_view rest = text;
    const double number = take_number<double>(rest).value_or(0);
    while (rest.starts_with(' '))
        rest.remove_prefix(1);
    const LimitForm form = form_of(metric);
    if (form.read != nullptr && form.read(text).value_or(0) > 0)
        return {&metric, *form.read(text)};
    if (number > 0)
        for (const LimitUnit& unit : form.units)
            if (unit.name == rest)
                return {&metric, number * unit.factor};
    throw UsageError(fmt::format("{}: expected {}, got \"{}\"", flag, form.example, text));
}

std::string constraint_text(const Constraint& constraint) {
    const QuantityKind quantity = constraint.metric->quantity;
    if (quantity == QuantityKind::time || quantity == QuantityKind::energy)
        return fmt::format("{}{}", constraint.limit, quantity == QuantityKind::time ? "s" : "J");
    const LimitForm form = form_of(*constraint.metric);
    if (form.units.empty()) // a plain number
        return fmt::format("{}", constraint.limit);
    const auto plain = std::ranges::find(form.units, 1.0, &LimitUnit::factor);
    const LimitUnit& unit = plain != form.units.end() ? *plain : form.units.front();
    return fmt::format("{}{}", constraint.limit / unit.factor, unit.name);
}

std::optional<Winner> winner_within(std::span<const Result> results, const Metric& metric,
                                    const Decision& decision) {
    if (decision.request.constraints.empty())
        return find_winner(results, metric, decision.request.cost);
    const auto index = kept(indices(results.size()), [&](std::size_t i) { return decision.qualifies[i]; });
    const std::vector<Result> left = mapped(index, [&](std::size_t i) { return results[i]; });
    auto winner = find_winner(left, metric, decision.request.cost);
    if (winner) {
        winner->best = index[winner->best];
        for (auto* list : {&winner->tied, &winner->close})
            for (std::size_t& one : *list)
                one = index[one];
        for (auto* one : {&winner->projected, &winner->next})
            if (*one)
                *one = index[**one];
    }
    return winner;
}

Decision decide(std::span<const Result> results, DecisionRequest request) {
    Decision decision;
    decision.request = std::move(request);
    // A rate that is asked for is a limit, whatever else is.
    auto& limits = decision.request.constraints;
    const bool rates =
        std::ranges::any_of(results, [](const Result& r) { return r.conditions.duty.stated(); });
    if (rates && (limits.empty() || *limits.front().metric != metric::time_at_work))
        limits.insert(limits.begin(), {&metric::time_at_work, 1});
    for (const Result& result : results) {
        std::vector<Verdict> verdicts;
        bool all = result.ok();
        for (const Constraint& constraint : decision.request.constraints) {
            verdicts.push_back(judge(result, constraint, decision.request.cost));
            all = all && verdicts.back().met;
        }
        decision.verdicts.push_back(std::move(verdicts));
        decision.qualifies.push_back(all);
    }
    decision.on_front = pareto_front(results, decision.request);
    decision.recommended = winner_within(results, *decision.request.preference, decision);
    if (std::ranges::none_of(decision.qualifies, [](bool q) { return q; }))
        decision.nearest = nearest_of(results, decision);
    return decision;
}

} // namespace archsim
