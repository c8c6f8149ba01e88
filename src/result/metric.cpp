#include "archsim/compare/metric.hpp"

#include "archsim/core/finding.hpp"
#include "core/text.hpp"
#include "result/duty_cycle.hpp"
#include "result/error_terms.hpp"
#include "result/generation_metrics.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace archsim {

static Measure point(double value) {
    return {value, {value, value}};
}

/// A metric that every estimate has: its value, and its interval where it has one.
template <class Value>
static auto estimated(Value value) {
    return [value](const Result& r, const CostOptions&) -> std::optional<Measure> {
        if (!r.ok())
            return std::nullopt;
        return value(r.estimate);
    };
}

/// The power and energy of an inference, at the boundary that is asked for: of a device with a rate, its
/// share of the idle time too, and nothing where it cannot keep up.
struct Drawn {
    const Estimate& e;
    Measure joules;
    double watts = 0, per_s = 0;
};
template <class Value>
static auto drawn(Value value) {
    return [value](const Result& r, const CostOptions& conditions) -> std::optional<Measure> {
        if (!r.ok())
            return std::nullopt;
        const Estimate& e = r.estimate;
        const double times = times_inside(r, conditions.power_at);
        Drawn d{e,
                {times * e.energy_per_inference_j,
                 {times * e.energy_interval.low, times * e.energy_interval.high}},
                times * e.power_w,
                e.throughput_per_s};
        if (const auto duty = stated_duty(r, conditions.power_at)) {
            if (!duty->average_w)
                return std::nullopt;
            const double idle_j = duty->idle_j();
            d.joules.value = duty->inference_j + idle_j;
            d.joules.interval = {d.joules.interval.low + idle_j, d.joules.interval.high + idle_j};
            d.watts = *duty->average_w;
            d.per_s = d.watts / d.joules.value; // companions have their part of the watts
            Measure measure = value(d);
            if (!duty->sleeps) {
                d.joules.value = duty->inference_j;
                d.watts = duty->active_w;
                measure.asleep = value(d).value;
            }
            return measure;
        }
        return value(d);
    };
}

/// Known as soon as the network is planned, also where it does not fit.
static std::optional<Measure> peak_memory(const Result& r, const CostOptions&) {
    if (!r.ok() && r.estimate.status != Status::does_not_fit)
        return std::nullopt;
    return point(r.estimate.memory.peak_bytes);
}

static std::optional<Measure> cheapest(const Result& r, const CostOptions& conditions) {
    const auto cost = cost_of(r, conditions).best();
    if (!cost)
        return std::nullopt;
    Measure measure = point(*cost);
    const Estimate& e = r.estimate; // device time is what is paid for
    if (e.throughput_interval.low > 0)
        measure.interval = {*cost * e.throughput_per_s / e.throughput_interval.high,
                            *cost * e.throughput_per_s / e.throughput_interval.low};
    return measure;
}

/// The carbon of the joules at the meter: the inference's own scale with its interval, idle power does not.
static std::optional<Measure> emitted(const Result& r, const CostOptions& conditions) {
    const auto grams = cost_of(r, conditions).carbon_g;
    if (!grams)
        return std::nullopt;
    const Estimate& e = r.estimate;
    const double per_joule = pue_of(*r.device, conditions.pue) * conditions.grid_intensity / kJoulesPerKwh *
                             times_inside(r, conditions.power_at);
    return Measure{*grams,
                   {*grams - (e.energy_per_inference_j - e.energy_interval.low) * per_joule,
                    *grams + (e.energy_interval.high - e.energy_per_inference_j) * per_joule}};
}

const LibraryMetrics library_metrics = {
    .latency = {.key = "latency",
                .title = "Latency",
                .unit = "s",
                .measure = estimated([](const Estimate& e) {
                    return Measure{e.latency_s, e.latency_interval};
                }),
                .quantity = QuantityKind::time,
                .noun = "latency",
                .field = "latency_s",
                .low_field = "latency_low_s",
                .high_field = "latency_high_s",
                .heading = "Latency",
                .scale = 1e3,
                .column_unit = "ms",
                .priority = 0,
                .limit_help = "of one batch, e.g. 50ms",
                .best = "Fastest",
                .has_causes = true},

    .throughput = {.key = "throughput",
                   .title = "Throughput",
                   .unit = "1/s",
                   .better = Better::higher,
                   .measure = estimated([](const Estimate& e) {
                       return Measure{e.throughput_per_s, e.throughput_interval};
                   }),
                   .quantity = QuantityKind::rate,
                   .noun = "throughput",
                   .field = "throughput_per_s",
                   .low_field = "throughput_low_per_s",
                   .high_field = "throughput_high_per_s",
                   .heading = "FPS",
                   .axis_unit = "FPS",
                   .priority = 0,
                   .limit_help = "inferences per second, e.g. 10k",
                   .best = "Most throughput",
                   .has_causes = true},

    .power = {.key = "power",
              .title = "Power",
              .unit = "W",
              .measure = drawn([](const Drawn& d) { return point(d.watts); }),
              .quantity = QuantityKind::power,
              .noun = "average power",
              .field = "power_w",
              .heading = "Power",
              .column_unit = "W",
              .priority = 0,
              .limit_help = "average, e.g. 15W",
              .recommend = false,
              .best = "Least power",
              .has_causes = true},

    .efficiency = {.key = "efficiency",
                   .title = "Efficiency",
                   .unit = "1/J",
                   .better = Better::higher,
                   .measure = drawn([](const Drawn& d) { return point(d.per_s / d.watts); }),
                   .noun = "throughput per watt",
                   .field = "efficiency_per_w",
                   .heading = "FPS/W",
                   .axis_unit = "FPS/W",
                   .priority = 0,
                   .limit_help = "inferences per second and watt, e.g. 20",
                   .recommend = false,
                   .best = "Most efficient"},

    .energy = {.key = "energy",
               .title = "Energy",
               .unit = "J",
               .measure = drawn([](const Drawn& d) { return d.joules; }),
               .quantity = QuantityKind::energy,
               .noun = "energy per inference",
               .field = "energy_per_inference_j",
               .low_field = "energy_low_j",
               .high_field = "energy_high_j",
               .heading = "Energy",
               .scale = 1e3,
               .column_unit = "mJ/inf",
               .axis_unit = "mJ",
               .priority = 0,
               .limit_help = "per inference, e.g. 100mJ",
               .best = "Least energy",
               .has_causes = true},

    .utilization = {.key = "utilization",
                    .title = "Utilization",
                    .unit = "1",
                    .better = Better::higher,
                    .measure = estimated([](const Estimate& e) { return point(e.utilization); }),
                    .quantity = QuantityKind::ratio,
                    .noun = "utilization",
                    .field = "utilization",
                    .heading = "Util",
                    .scale = 100,
                    .column_unit = "%",
                    .priority = 4,
                    .limit_help = "useful share of the peak, e.g. 30%",
                    .recommend = false,
                    .best = "Best used"},

    .memory = {.key = "memory",
               .title = "Memory",
               .unit = "B",
               .measure = peak_memory,
               .quantity = QuantityKind::bytes,
               .noun = "peak memory",
               .field = "peak_memory_bytes",
               .heading = "Memory",
               .scale = 1e-6,
               .column_unit = "MB",
               .priority = 5,
               .limit_help = "peak, e.g. 512MB",
               .best = "Least memory",
               .has_causes = true},

    .cost = {.key = "cost",
             .title = "Cost",
             .unit = "USD",
             .measure = cheapest,
             .quantity = QuantityKind::money,
             .noun = "cost per inference",
             .field = "cost_usd_per_inference",
             .heading = "Cost",
             .scale = 1e6,
             .column_unit = "USD/million",
             .axis_unit = "per million inferences",
             .priority = 8,
             .limit_help = "USD per million inferences, e.g. 0.25",
             .recommend = false,
             .best = "Cheapest",
             .has_causes = true},

    .carbon = {.key = "carbon",
               .title = "Carbon",
               .unit = "g",
               .measure = emitted,
               .quantity = QuantityKind::carbon,
               .noun = "carbon per inference",
               .field = "carbon_g_per_inference",
               .low_field = "carbon_low_g",
               .high_field = "carbon_high_g",
               .heading = "Carbon",
               .scale = 1e3,
               .column_unit = "g/1000",
               .axis_unit = "g CO2e per 1000",
               .priority = 7,
               .limit_help = "g CO2e per 1000 inferences, e.g. 0.5",
               .best = "Least carbon"},

    .balance = {.key = "balance",
                .title = "Balance",
                .unit = "J s",
                .measure = drawn([](const Drawn& d) {
                    return Measure{d.joules.value * d.e.latency_s,
                                   {d.joules.interval.low * d.e.latency_interval.low,
                                    d.joules.interval.high * d.e.latency_interval.high}};
                }),
                .noun = "energy-delay product",
                .field = "energy_delay_j_s",
                .heading = "EDP",
                .scale = 1e6,
                .column_unit = "mJ ms",
                .priority = 9,
                .limit_help = "energy per inference x latency in J s, e.g. 1e-5",
                .best = "Best balance"}};

const MetricTable& MetricTable::standard() {
    static const MetricTable table = [] {
        MetricTable all;
        all.rows_ = {&metric::latency, &metric::throughput,  &metric::power,  &metric::efficiency,
                     &metric::energy,  &metric::utilization, &metric::memory, &metric::cost,
                     &metric::carbon,  &metric::balance};
        return all;
    }();
    return table;
}

MetricTable MetricTable::with(Metric row) const {
    if (row.key.empty() || row.title.empty() || !row.measure)
        throw UsageError("a metric needs a key, a title and a way to measure it");
    if (row.noun.empty())
        row.noun = lower_case(row.title);
    if (row.field.empty())
        row.field = row.key;
    if (row.heading.empty())
        row.heading = row.title;
    if (row.column_unit.empty() && row.scale == 1)
        row.column_unit = row.unit;
    for (const MetricField& field : fields_of(*this))
        for (const std::string* name : {&row.field, &row.low_field, &row.high_field})
            if (field.key() == *name || field.metric->key == row.key)
                throw UsageError(fmt::format("metric \"{}\": there is one with this key or field", row.key));
    MetricTable table = *this;
    table.own_.push_back(std::make_shared<const Metric>(std::move(row)));
    table.rows_.push_back(table.own_.back().get());
    return table;
}

const Metric* MetricTable::find(std::string_view key) const {
    const std::string lower = lower_case(key);
    const auto found = std::ranges::find_if(rows_, [&](const Metric* m) { return m->key == lower; });
    return found == rows_.end() ? nullptr : *found;
}

const Metric& MetricTable::at(std::string_view key, std::string_view flag) const {
    if (const Metric* found = find(key))
        return *found;
    throw UsageError(fmt::format("{}: \"{}\" is not one of {}", flag, key, keys()));
}

std::optional<Measure> measure_of(const Result& result, const Metric& metric, const CostOptions& conditions) {
    if (!result.ok())
        return std::nullopt;
    const auto measure = metric.measure(result, conditions);
    return measure && std::isnan(measure->value) ? std::nullopt : measure;
}

} // namespace archsim
