#include "report/blocks/metric_text.hpp"

#include "report/blocks/number_format.hpp"
#include "result/generation_metrics.hpp"
#include "result/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace archsim {

std::string format_value(const Metric& metric, double value) {
    switch (metric.quantity) {
    case QuantityKind::time:
        return format_time(value);
    case QuantityKind::energy:
        return format_energy(value);
    case QuantityKind::power:
        return format_power(value);
    case QuantityKind::bytes:
        return format_bytes(value);
    case QuantityKind::rate:
        return format_number(value) + " " + (metric.axis_unit.empty() ? "/s" : metric.axis_unit);
    case QuantityKind::ratio:
        return format_percent(value);
    case QuantityKind::money: // one unit: amounts stand beside each other
        return fmt::format("${} {}", format_number(value * metric.scale), metric.axis_unit);
    case QuantityKind::carbon:
        return fmt::format("{} g CO2e per 1000", format_number(value * metric.scale));
    case QuantityKind::number:
        break;
    }
    // Where the unit of columns is too small (an answer of seconds and joules in mJ ms), in that of the
    // metric.
    constexpr double kMostDigits = 1e6;
    if (std::abs(value * metric.scale) >= kMostDigits && metric.scale > 1)
        return fmt::format("{} {}", format_number(value), metric.unit);
    const std::string& unit = axis_unit_of(metric);
    return format_number(value * metric.scale) + (unit.empty() ? "" : " ") + unit;
}

std::string range_text(const Metric& metric, const Interval& interval) {
    if (std::isinf(interval.high))
        return "at least " + format_value(metric, interval.low);
    if (interval.low <= 0)
        return "at most " + format_value(metric, interval.high);
    const std::string low = format_value(metric, interval.low), high = format_value(metric, interval.high);
    const std::size_t unit = std::min(low.find(' '), low.size());
    return fmt::format("{} to {}", high.ends_with(low.substr(unit)) ? low.substr(0, unit) : low, high);
}

std::string column_number(const Metric& metric, double value) {
    return metric.quantity == QuantityKind::ratio ? fmt::format("{:.1f}", value * metric.scale)
                                                  : format_number(value * metric.scale);
}

const Metric& readable(const Metric& metric, std::span<const Result> results, const CostOptions& conditions) {
    const auto in_unit = [](const Metric& usual, double scale, const char* column_unit, const char* axis) {
        Metric other = usual;
        other.scale = scale;
        other.column_unit = column_unit;
        other.axis_unit = axis;
        return other;
    };
    static const Metric kJoules = in_unit(metric::energy, 1, "J/inf", "J"),
                        kJouleSeconds = in_unit(metric::balance, 1, "J s", "J s"),
                        kMilliwatts = in_unit(metric::power, 1e3, "mW", "mW");
    const auto all = [&](auto fits) {
        return any_value(results, metric, conditions) && std::ranges::all_of(results, [&](const Result& r) {
                   const auto value = value_of(r, metric, conditions);
                   return !value || fits(*value);
               });
    };
    if (metric == metric::power) {
        constexpr double kSmall = 0.1; // the average of what sleeps most of its time
        return all([](double watts) { return watts < kSmall; }) ? kMilliwatts : metric;
    }
    if (metric == metric::cost && conditions.tenure != Tenure::cheaper) {
        const auto paid = [&](const char* unit) {
            return in_unit(metric::cost, metric::cost.scale, unit, metric::cost.axis_unit.c_str());
        };
        static const Metric kRented = paid("USD/million rented"), kOwned = paid("USD/million owned");
        return conditions.tenure == Tenure::rent ? kRented : kOwned;
    }
    const bool is_energy = metric == metric::energy;
    if ((!is_energy && metric != metric::balance) || !all([](double value) { return value >= 1; }))
        return metric;
    return is_energy ? kJoules : kJouleSeconds;
}

bool said_by_another(const Metric& metric, std::span<const Result> results, const CostOptions& conditions) {
    if (metric == metric::total_token_rate)
        return std::ranges::all_of(results, [](const Result& r) {
            return !r.generation || (r.generation->batch == 1 && r.generation->serving.tokens_per_s <= 0);
        });
    return metric == metric::efficiency && readable(metric::energy, results, conditions).scale == 1;
}

Column column_of(const Metric& metric) {
    return {metric.heading,  metric.column_unit,
            metric.field,    Align::right,
            metric.priority, metric.better == Better::lower ? BestIs::least : BestIs::most};
}

Cell cell_of(const Metric& metric, const std::optional<Measure>& measure) {
    return measure ? Cell{column_number(metric, measure->value), measure->value} : Cell{};
}

Cell interval_cell_of(const Metric& metric, const std::optional<Measure>& measure) {
    return measure ? interval_cell(1 / metric.scale, measure->interval.low, measure->value,
                                   measure->interval.high)
                   : Cell{};
}

std::string best_words(const Metric& metric) {
    return metric.best.empty() ? "Best by " + metric.noun : metric.best;
}

const std::string& axis_unit_of(const Metric& metric) {
    return metric.axis_unit.empty() ? metric.column_unit : metric.axis_unit;
}

bool any_value(std::span<const Result> results, const Metric& metric, const CostOptions& conditions) {
    return std::ranges::any_of(
        results, [&](const Result& r) { return measure_of(r, metric, conditions).has_value(); });
}

std::string ratio_text(const Metric& metric, double ratio) {
    if (ratio == 1)
        return fmt::format("has the same {} as", metric.noun);
    if (metric.quantity == QuantityKind::time)
        return ratio > 1 ? fmt::format("is {} slower than", format_ratio(ratio))
                         : fmt::format("is {} faster than", format_ratio(1 / ratio));
    return ratio > 1 ? fmt::format("has {} the {} of", format_ratio(ratio), metric.noun)
                     : fmt::format("has {} less {} than", format_percent(1 - ratio), metric.noun);
}

std::string format_ratio(double ratio) {
    return format_number(ratio) + "x";
}

MetricView shown_metrics(std::span<const Result> results, const MetricView& asked) {
    return asked.metrics == &MetricTable::standard() && compares_generation(results)
               ? MetricView{&generation_metrics(), asked.conditions}
               : asked;
}

const Metric& shown_metric(std::span<const Result> results, const Metric& asked) {
    if (!compares_generation(results))
        return asked;
    return asked == metric::energy       ? metric::token_energy
           : asked == metric::latency    ? metric::token_rate
           : asked == metric::throughput ? metric::total_token_rate
                                         : in_its_words(asked, results);
}

const Metric& usual_order(std::span<const Result> results, const Conditions& conditions) {
    return shown_metric(results, ranked_by(conditions));
}

} // namespace archsim
