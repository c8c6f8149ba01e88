#include "estimate/intervals.hpp"

#include "hardware/uncertainty.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace archsim {

static KnownWidths::Widths look_up(const Machine& machine, SpreadOf timed, NetworkKind kind) {
    const UncertaintyTable& table = *machine.uncertainty;
    const auto parts = [&](SpreadOf metric) {
        return table.parts(metric, *machine.device, *machine.runtime);
    };
    KnownWidths::Widths widths;
    widths.time = parts(timed);
    widths.energy = parts(SpreadOf::energy);
    widths.rate = machine.scenario == Scenario::throughput ? parts(SpreadOf::throughput) : widths.time;
    widths.reach = table.reach();
    widths.basis = table.spread(timed, *machine.device, *machine.runtime).basis;
    widths.kind = kind;
    widths.held = table.held().of(*machine.device, *machine.runtime, time_kind(timed), kind);
    for (ErrorParts* part : {&widths.time, &widths.rate})
        part->cell += widths.held.variance;
    if (table.given().empty())
        return widths;
    const auto learnt = [&](SpreadOf metric, const ErrorParts& errors) {
        return posterior(table.given(), UncertaintyTable::subject(metric, *machine.device, *machine.runtime),
                         errors);
    };
    widths.time_given = learnt(timed, widths.time);
    widths.rate_given = machine.scenario == Scenario::throughput ? learnt(SpreadOf::throughput, widths.rate)
                                                                 : widths.time_given;
    if (const int n = std::max(widths.time_given.rows, widths.rate_given.rows); n > 0) {
        widths.basis += fmt::format(", given your {} measurement{}", n, n == 1 ? "" : "s");
        widths.held = {.projected = false};
    }
    return widths;
}

/// The same counts in `factor` times the time: static energy follows it, events do not.
static void stretch(Estimate& e, double factor, double rate_factor) {
    e.latency_s *= factor;
    e.network_s *= factor;
    e.weights_wait_s *= factor;
    e.throughput_per_s /= rate_factor;
    const double before = e.energy.total();
    e.energy.static_joules *= factor;
    if (before > 0) {
        const double more = e.energy.total() / before;
        e.energy_per_inference_j *= more;
        e.power_w *= more / factor;
        e.peak_power_w = std::max(e.peak_power_w, e.power_w);
    }
    e.utilization /= factor;
    e.utilization_min /= factor;
    for (SubgraphEstimate& s : e.subgraphs) {
        s.latency_s *= factor;
        for (double& lane : s.lane_s)
            lane *= factor;
        s.copies_s *= factor;
        s.utilization /= factor;
        s.energy.static_joules *= factor;
    }
}

/// Nothing takes a million times its estimate, or a millionth.
static bool impossible(const GivenRow& row) {
    constexpr double kMost = 1e6;
    return std::abs(row.log_ratio) > std::log(kMost);
}

LaneShares lane_shares(const Estimate& e) {
    const double all = e.compute_bound + e.memory_bound + e.overhead_bound;
    if (all <= 0)
        return {1, 0, 0};
    return {e.compute_bound / all, e.memory_bound / all, e.overhead_bound / all};
}

void add_intervals(const Machine& machine, SpreadOf timed, Estimate& e) {
    KnownWidths none;
    add_intervals(machine, timed, e, none);
}

void add_intervals(const Machine& machine, SpreadOf timed, Estimate& e, KnownWidths& known) {
    e.latency_interval = {e.latency_s, e.latency_s};
    e.throughput_interval = {e.throughput_per_s, e.throughput_per_s};
    e.energy_interval = {e.energy_per_inference_j, e.energy_per_inference_j};
    if (!machine.uncertainty)
        return;
    if (!known.widths || known.widths->kind != e.kind)
        known.widths = look_up(machine, timed, e.kind);
    const KnownWidths::Widths& widths = *known.widths;
    const LaneShares lanes = lane_shares(e);
    double squares = 0;
    for (const double share : lanes)
        squares += share * share;
    const bool given = widths.time_given.rows + widths.rate_given.rows > 0;
    if (given && std::ranges::any_of(machine.uncertainty->given(), impossible)) {
        e.status = Status::unsupported;
        e.reason = "a measurement that was given is no time or rate that a measurement can be";
        e.latency_s = e.throughput_per_s = 0;
        return;
    }
    if (given)
        stretch(e, std::exp(widths.time_given.mean_at(lanes)), std::exp(widths.rate_given.mean_at(lanes)));
    const auto factor = [&](const ErrorParts& parts, const Posterior& learnt) {
        double variance = parts.total(squares);
        if (given)
            variance = std::max(variance - learnt.fall_at(lanes), parts.rest);
        return interval_factor(widths.reach, variance);
    };
    const double time = factor(widths.time, widths.time_given);
    const double rate =
        machine.scenario == Scenario::throughput ? factor(widths.rate, widths.rate_given) : time;
    // Power times time: what is not known of the time is not known of the energy either.
    const double energy = std::max(time, factor(widths.energy, widths.energy_given));
    e.latency_interval = {e.latency_s / time, e.latency_s * time};
    e.throughput_interval = {e.throughput_per_s / rate, e.throughput_per_s * rate};
    e.energy_interval = {e.energy_per_inference_j / energy, e.energy_per_inference_j * energy};
    e.interval_basis = widths.basis;
    e.projected = widths.held.projected;
    e.related = widths.held.related;
    e.unlike = widths.held.unlike;
    e.refuted = widths.held.refuted;
    e.refuted_rows = widths.held.refuted_rows;
}

} // namespace archsim
