#include "result/generation_metrics.hpp"

#include "estimate/wall_power.hpp"

#include <algorithm>
#include <functional>

namespace archsim {

static bool at_chip(const Result& result, std::optional<PowerBoundary> asked) {
    return !result.machine || boundary_of(result.machine->device.get(), asked) == PowerBoundary::chip;
}

/// A number of the estimate with a prompt; none where it is not above zero.
static std::function<std::optional<Measure>(const Result&, const CostOptions&)>
generated(std::optional<Measure> (*of)(const GenerationEstimate&)) {
    return [of](const Result& result, const CostOptions& conditions) -> std::optional<Measure> {
        if (!result.generation)
            return std::nullopt;
        const bool chip = at_chip(result, conditions.power_at);
        const auto measure = of(chip ? *result.generation : generation_at(result, conditions.power_at));
        return measure && measure->value > 0 ? measure : std::nullopt;
    };
}

static Interval inverse(const Interval& i) {
    return {1 / i.high, 1 / i.low};
}

static std::optional<Measure> measure_rate(const GenerationEstimate& g) {
    if (!(g.tokens_per_s_stream > 0))
        return std::nullopt;
    return Measure{g.tokens_per_s_stream, inverse(g.time_per_output_token_interval)};
}

static std::optional<Measure> measure_total_rate(const GenerationEstimate& g) {
    return g.serving.tokens_per_s > 0 ? Measure{g.serving.tokens_per_s, g.serving.tokens_interval}
                                      : Measure{g.tokens_per_s_total, g.tokens_per_s_total_interval};
}

static std::optional<Measure> measure_energy(const GenerationEstimate& g) {
    return Measure{g.energy_per_token_j, g.energy_per_token_interval};
}

namespace metric {

const Metric first_token = {
    .key = "first_token",
    .title = "First token",
    .unit = "s",
    .measure = generated([](const GenerationEstimate& g) {
        return std::optional(Measure{g.time_to_first_token_s, g.time_to_first_token_interval});
    }),
    .quantity = QuantityKind::time,
    .noun = "time to first token",
    .field = "time_to_first_token_s",
    .low_field = "time_to_first_token_low_s",
    .high_field = "time_to_first_token_high_s",
    .heading = "First token",
    .scale = 1e3,
    .column_unit = "ms",
    .priority = 0,
    .limit_help = "of the prompt, e.g. 200ms",
    .best = "Lowest time to first token"};

const Metric token_time = {
    .key = "token_time",
    .title = "Time per token",
    .unit = "s",
    .measure = generated([](const GenerationEstimate& g) {
        return std::optional(Measure{g.time_per_output_token_s, g.time_per_output_token_interval});
    }),
    .quantity = QuantityKind::time,
    .noun = "time per output token",
    .field = "time_per_output_token_s",
    .low_field = "time_per_output_token_low_s",
    .high_field = "time_per_output_token_high_s",
    .heading = "Per token",
    .scale = 1e3,
    .column_unit = "ms",
    .priority = 0,
    .limit_help = "mean of the steps, e.g. 20ms",
    .best = "Least time per token"};

const Metric token_rate = {.key = "token_rate",
                           .title = "Tokens per second",
                           .unit = "1/s",
                           .better = Better::higher,
                           .measure = generated(measure_rate),
                           .quantity = QuantityKind::number,
                           .noun = "tokens per second of a sequence",
                           .field = "tokens_per_s_stream",
                           .low_field = "tokens_per_s_stream_low",
                           .high_field = "tokens_per_s_stream_high",
                           .heading = "Per user",
                           .column_unit = "tokens/s",
                           .axis_unit = "tokens/s per user",
                           .priority = 0,
                           .limit_help = "of one sequence, e.g. 30",
                           .best = "Fastest"};

const Metric total_token_rate = {.key = "total_token_rate",
                                 .title = "Tokens per second in total",
                                 .unit = "1/s",
                                 .better = Better::higher,
                                 .measure = generated(measure_total_rate),
                                 .quantity = QuantityKind::number,
                                 .noun = "tokens per second of all sequences",
                                 .field = "tokens_per_s_total",
                                 .low_field = "tokens_per_s_total_low",
                                 .high_field = "tokens_per_s_total_high",
                                 .heading = "Total",
                                 .column_unit = "tokens/s",
                                 .axis_unit = "tokens/s in total",
                                 .priority = 1,
                                 .limit_help = "of all sequences, e.g. 1000",
                                 .best = "Most tokens per second"};

const Metric token_energy = {.key = "token_energy",
                             .title = "Energy per token",
                             .unit = "J",
                             .measure = generated(measure_energy),
                             .quantity = QuantityKind::energy,
                             .noun = "energy per token",
                             .field = "energy_per_token_j",
                             .low_field = "energy_per_token_low_j",
                             .high_field = "energy_per_token_high_j",
                             .heading = "Energy",
                             .column_unit = "J/token",
                             .axis_unit = "J",
                             .priority = 0,
                             .limit_help = "of a sequence, e.g. 2J",
                             .best = "Least energy per token"};

} // namespace metric

const Metric& in_its_words(const Metric& asked, std::span<const Result> results) {
    static const Metric kOfRequests = [] {
        Metric of_requests = metric::cost;
        of_requests.noun = "cost per request";
        of_requests.axis_unit = "per million requests";
        return of_requests;
    }();
    return asked == metric::cost && compares_generation(results) ? kOfRequests : asked;
}

const MetricTable& generation_metrics() {
    static const MetricTable table =
        MetricTable::of({&metric::token_rate, &metric::token_time, &metric::first_token,
                         &metric::total_token_rate, &metric::power, &metric::token_energy, &metric::memory});
    return table;
}

const MetricTable& every_metric() {
    static const MetricTable table = [] {
        const auto standard = MetricTable::standard().rows();
        std::vector<const Metric*> all(standard.begin(), standard.end());
        for (const Metric* m : generation_metrics().rows())
            if (MetricTable::standard().find(m->key) == nullptr)
                all.push_back(m);
        return MetricTable::of(std::move(all));
    }();
    return table;
}

bool compares_generation(std::span<const Result> results) {
    const bool any = std::ranges::any_of(results, [](const Result& r) { return r.ok() && r.generation; });
    return any && std::ranges::all_of(results, [](const Result& r) { return !r.ok() || r.generation; });
}

ShownPass shown_pass(const Result& result) {
    if (!result.ok())
        return {};
    if (!result.generation)
        return {result.estimate.latency_s, result.estimate.energy.total()};
    const GenerationEstimate& g = *result.generation;
    if (g.steps.empty())
        return {g.time_to_first_token_s, g.energy_first_token_j, true};
    const GenerationStep& step = g.steps[g.steps.size() / 2]; // whose subgraphs the estimate keeps
    return {step.latency_s, step.energy_j, true, step.context, g.generate_tokens - 1};
}

double times_inside(const Result& result, std::optional<PowerBoundary> boundary) {
    const double device_w = result.estimate.power_w;
    return device_w > 0 && !at_chip(result, boundary)
               ? joules_at(*result.machine, device_w, 1, boundary) / device_w
               : 1;
}

GenerationEstimate generation_at(const Result& result, std::optional<PowerBoundary> boundary) {
    GenerationEstimate g = *result.generation;
    if (at_chip(result, boundary))
        return g;
    const auto of = [&](double joules, double seconds) {
        return joules_at(*result.machine, joules, seconds, boundary);
    };
    g.energy_first_token_j = of(g.energy_first_token_j, g.time_to_first_token_s);
    if (const double chip = g.energy_per_token_j; chip > 0) {
        g.energy_per_token_j = of(g.batch * chip, g.time_per_output_token_s) / g.batch;
        const double times = g.energy_per_token_j / chip;
        g.energy_per_token_interval = {g.energy_per_token_interval.low * times,
                                       g.energy_per_token_interval.high * times};
    }
    for (GenerationStep& step : g.steps)
        step.energy_j = of(step.energy_j, step.latency_s);
    if (SaturatedServing& s = g.serving; s.tokens_per_s > 0)
        s.energy_per_token_j = of(s.energy_per_token_j * s.tokens_per_s, 1) / s.tokens_per_s;
    return g;
}

} // namespace archsim
