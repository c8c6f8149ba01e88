#include "archsim/estimate/estimate.hpp"

#include "archsim/hardware/family.hpp"
#include "core/text.hpp"
#include "estimate/algebra.hpp"
#include "estimate/batch_pieces.hpp"
#include "estimate/intervals.hpp"
#include "estimate/memory_pools.hpp"
#include "estimate/price.hpp"
#include "estimate/schedule.hpp"
#include "hardware/operator_rules.hpp"
#include "map/tiled.hpp"
#include "ops/uncounted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace archsim {

std::string_view status_text(const Estimate& estimate) {
    return name_of(estimate.status == Status::ok && !estimate.uncounted.empty() ? Status::incomplete
                                                                                : estimate.status);
}

namespace {

Bound bound_of(const LaneTimes& times) {
    const auto lane = [&](Lane l) { return times.lanes[static_cast<std::size_t>(l)]; };
    const double fixed = lane(Lane::overhead) - times.copies;
    if (fixed > times.total - fixed)
        return Bound::overhead;
    const double moved = std::max(lane(Lane::on_chip), lane(Lane::memory)) + times.copies;
    return lane(Lane::compute) >= moved ? Bound::compute : Bound::memory;
}

std::string gigabytes(double bytes) {
    if (bytes < 1e6)
        return fmt::format("{:.0f} kB", bytes / 1e3);
    return bytes < 1e9 ? fmt::format("{:.1f} MB", bytes / 1e6) : fmt::format("{:.1f} GB", bytes / 1e9);
}

/// True when the device holds what is counted so far; says why not otherwise.
bool fits(const Machine& machine, Estimate& e) {
    const MemoryPools pools = memory_pools(e.memory, machine);
    if (pools.fits())
        return true;
    e.status = Status::does_not_fit;
    for (const MemoryPool& pool : pools.pools) // all that are short: who mends one would meet the next
        if (!pool.holds() && !pool.name.empty())
            e.reason += fmt::format("{}needs {} of {}, the part has {}", e.reason.empty() ? "" : "; ",
                                    gigabytes(pool.needed), pool.name, gigabytes(pool.capacity));
    if (!e.reason.empty())
        return false;
    if (const double limit = machine.param(Parameter::memory_limit, 0);
        limit > 0 && e.memory.capacity_bytes >= limit) {
        e.reason = fmt::format("needs {}, {} gives one network {} at most", gigabytes(e.memory.peak_bytes),
                               machine.runtime->name, gigabytes(limit));
        return false;
    }
    if (machine.in_host_memory()) {
        e.reason = fmt::format("needs {}, its host {} has {}", gigabytes(e.memory.peak_bytes),
                               machine.host->id, gigabytes(e.memory.capacity_bytes));
        return false;
    }
    e.reason =
        fmt::format("needs {}, {} has {}", gigabytes(e.memory.peak_bytes),
                    machine.devices > 1 ? "each device" : "the device", gigabytes(e.memory.capacity_bytes));
    if (!machine.device->dram)
        e.reason += fmt::format(" and no other memory: at least {:.0f} of them",
                                std::ceil(e.memory.peak_bytes * machine.devices / e.memory.capacity_bytes));
    return false;
}

/// True when the stack builds the network: all of it where nothing runs what it refuses, else a part that
/// computes. What its host would run alone says nothing about the device, and the host can be asked itself.
bool builds(const NetworkWork& work, const Machine& machine, Estimate& e) {
    const auto& rules = machine.runtime->rules;
    if (!rules || machine.runtime->fallback == Fallback::vector || !work.uses)
        return true;
    const bool whole = machine.runtime->fallback == Fallback::none;
    const Precision activations = work.precision.activations;
    std::string why;
    for (const OperatorUse& use : *work.uses) {
        if (use.supported && !whole && use.op->work.operations() > 0)
            return true;
        if (use.supported || !why.empty())
            continue;
        const Refusal refusal =
            refusal_of(*work.graph, *use.op, *rules, machine.device->generation, activations);
        why = sentence(refusal, *work.graph, *use.op, activations);
    }
    if (why.empty())
        return true;
    const std::string& host = machine.device->host;
    e.status = Status::unsupported;
    e.reason = whole ? fmt::format("{} does not build it: {}", machine.runtime->name, why)
                     : fmt::format("the host processor{} runs all arithmetic of the network, {} none: {}",
                                   host.empty() ? "" : " " + host, machine.device->id, why);
    return false;
}

/// Kernels run one after another and share one workspace.
void add_workspace(const std::vector<Mapping>& mappings, Estimate& e) {
    for (const Mapping& mapping : mappings)
        e.memory.workspace_bytes = std::max(e.memory.workspace_bytes, mapping.workspace_bytes);
    e.memory.peak_bytes += e.memory.workspace_bytes;
}

/// Fills what does not need a mapping; true when the estimate may go on.
bool admit(const NetworkWork& work, const Machine& machine, const EstimateOptions& options, Estimate& e) {
    e.executed = work.precision;
    e.kind = work.kind;
    e.batch = work.batch;
    e.memory = planned_memory(work, machine);
    e.findings = work.graph->findings;
    if (!work.graph->complete()) {
        const auto first = std::ranges::find_if(e.findings, &Finding::is_error);
        e.reason = to_string(*first); // stays with the numbers where they are accepted
        if (!options.allow_unknown) {
            e.status = Status::incomplete;
            return false;
        }
        e.uncounted = uncounted_text(*work.graph);
    }
    if (!builds(work, machine, e) || !fits(machine, e))
        return false;
    if (work.subgraphs.empty()) {
        e.status = Status::incomplete;
        e.reason = "the graph has no operator with run-time work";
        return false;
    }
    return true;
}

/// Time and energy of one mapping, all repeats.
struct Priced {
    double repeat = 1;
    double latency_s = 0, ideal_s = 0, utilization = 0;
    Bound bound = Bound::compute;
    int subgraphs = 0; ///< that have it
    double power_w = 0;
};

class SubgraphPricer {
  public:
    SubgraphPricer(Scheduled& chosen, const Machine& machine, const OperatingPoint& point,
                   double energy_scale)
        : schedule_(chosen.schedule), machine_(machine), clock_ratio_(point.clock_ratio),
          static_w_(static_power_at(machine, point.clock_ratio)),
          times_(chosen.costs.times(schedule_, machine, point.clock_ratio)),
          cycle_rate_(machine.rate(Resource::matrix_cycles) * point.clock_ratio),
          prices_(point.prices.scaled(energy_scale)), priced_(schedule_.mappings.size()) {
        // Weights fetched ahead move while the whole network runs, whatever subgraph they are for.
        stream_power_w_ = point.streamed_bytes * prices_[Event::dram_byte] / point.latency_s;
        weights_wait_s_ = std::max(0.0, point.weight_stream_s - point.body_s);
        const std::vector<double>* joules = nullptr;
        if (energy_scale == 1)
            joules = &chosen.costs.joules(schedule_, point.prices, point.clock_ratio);
        for (std::uint32_t k = 0; k < priced_.size(); ++k)
            price(k, joules ? (*joules)[k] : prices_.total(schedule_.mappings[k].events), priced_[k]);
    }

    std::vector<Priced>& each() { return priced_; }
    double weights_wait_s() const { return weights_wait_s_; }

    SubgraphEstimate estimate(std::size_t index, const Priced& p) const {
        const LaneTimes& times = times_[schedule_.which[index]];
        SubgraphEstimate s{.index = static_cast<std::uint32_t>(index), .latency_s = p.latency_s};
        for (std::size_t l = 0; l < kLaneCount; ++l)
            s.lane_s[l] = times.lanes[l] * p.repeat;
        s.copies_s = times.copies * p.repeat;
        s.bound = p.bound;
        s.binding = binding_of(schedule_.mappings[schedule_.which[index]], p.bound, times);
        s.pieces = schedule_.pieces[index];
        s.utilization = p.utilization;
        s.dram_bytes = times.dram_bytes * p.repeat;
        s.mapping = schedule_.of(index);
        EventCounts events = s.mapping.events;
        s.energy = prices_.of(events.scale(p.repeat));
        s.energy.static_joules =
            machine_.energy ? static_w_ * p.latency_s : std::numeric_limits<double>::quiet_NaN();
        return s;
    }

  private:
    static double body_of(const LaneTimes& times) {
        return times.total - times.lanes[static_cast<std::size_t>(Lane::overhead)];
    }

    /// The resource that takes longest on the side that binds.
    Resource binding_of(const Mapping& mapping, Bound bound, const LaneTimes& times) const {
        Resource binding = times.binding;
        double longest = -1;
        for (const Demand& demand : mapping.all()) {
            const bool copies = demand.lane == Lane::overhead && (demand.resource == Resource::dram_bytes ||
                                                                  demand.resource == Resource::l2_bytes);
            const Bound side = demand.lane == Lane::compute               ? Bound::compute
                               : demand.lane == Lane::overhead && !copies ? Bound::overhead
                                                                          : Bound::memory;
            const bool fetched_ahead = demand.resource == Resource::weight_bytes && times.weight_stream > 0 &&
                                       !(weights_wait_s_ > 0);
            const double rate = machine_.rate(demand.resource) * demand.efficiency *
                                (scales_with_clock(demand.resource) ? clock_ratio_ : 1);
            if (side == bound && !fetched_ahead && demand.amount / rate > longest) {
                longest = demand.amount / rate;
                binding = demand.resource;
            }
        }
        return binding;
    }

    void price(std::uint32_t which, double joules, Priced& p) const {
        const Mapping& mapping = schedule_.mappings[which];
        const double repeat = schedule_.repeat[which];
        p.repeat = repeat;
        p.latency_s = times_[which].total * repeat;
        p.bound = bound_of(times_[which]);
        // Where the network waits for its weights, memory binds what takes less time than they do.
        if (weights_wait_s_ > 0 && times_[which].weight_stream > body_of(times_[which]))
            p.bound = Bound::memory;
        if (p.latency_s > 0 && mapping.ideal_cycles > 0) {
            p.ideal_s = mapping.ideal_cycles * repeat / cycle_rate_;
            p.utilization = p.ideal_s / p.latency_s;
        }
        if (p.latency_s > 0)
            p.power_w =
                static_w_ + stream_power_w_ +
                repeat * (joules - times_[which].streamed_bytes * prices_[Event::dram_byte]) / p.latency_s;
    }

    const BatchSchedule& schedule_;
    const Machine& machine_;
    const double clock_ratio_;
    const double static_w_;
    const std::vector<LaneTimes>& times_; ///< per mapping
    const double cycle_rate_;
    const EventPrices prices_;
    double stream_power_w_ = 0;
    double weights_wait_s_ = 0;  ///< fetching all of them ahead takes longer than the rest
    std::vector<Priced> priced_; ///< per mapping
};

void price_subgraphs(Scheduled& chosen, const Machine& machine, const OperatingPoint& point,
                     const EstimateOptions& options, Estimate& e) {
    const BatchSchedule& schedule = chosen.schedule;
    SubgraphPricer pricer(chosen, machine, point, e.energy_scale);
    double ideal_s = 0, busy_s = 0;
    e.utilization_min = std::numeric_limits<double>::infinity();
    for (const Priced& p : pricer.each()) {
        e.peak_power_w = std::max(e.peak_power_w, p.power_w);
        if (p.ideal_s > 0) {
            e.utilization_min = std::min(e.utilization_min, p.utilization);
            e.utilization_max = std::max(e.utilization_max, p.utilization);
        }
    }
    for (const std::uint32_t k : schedule.which) {
        Priced& p = pricer.each()[k];
        ideal_s += p.ideal_s;
        busy_s += p.latency_s;
        ++p.subgraphs;
    }
    std::array<int, 3> bound{};
    for (const Priced& p : pricer.each())
        bound[static_cast<std::size_t>(p.bound)] += p.subgraphs;
    e.compute_bound = bound[static_cast<std::size_t>(Bound::compute)];
    e.memory_bound = bound[static_cast<std::size_t>(Bound::memory)];
    e.overhead_bound = bound[static_cast<std::size_t>(Bound::overhead)];
    if (!schedule.pieces.empty())
        e.pieces = schedule.pieces.front(); // cuts are nested: none runs in more
    if (options.keep_subgraphs) {
        e.subgraphs.reserve(schedule.which.size());
        for (std::size_t i = 0; i < schedule.which.size(); ++i)
            e.subgraphs.push_back(pricer.estimate(i, pricer.each()[schedule.which[i]]));
    }
    e.utilization = e.latency_s > 0 ? ideal_s / e.latency_s : 0;
    // Time outside subgraphs with products can make the whole run lower than any of them.
    e.utilization_min = std::min(e.utilization_min, e.utilization);
    e.network_s = e.latency_s - busy_s;
    e.weights_wait_s = std::clamp(pricer.weights_wait_s(), 0.0, std::max(0.0, e.network_s));
}

/// Energy of one batch: counted events plus static power over the batch's share of busy time. No subgraph
/// draws more than the part is allowed or able to: its regulator stretches it.
void price_power(const Machine& machine, const OperatingPoint& point, Estimate& e) {
    e.energy = point.prices.scaled(e.energy_scale).of(e.events);
    e.energy.static_joules = machine.energy ? static_power_at(machine, point.clock_ratio) * point.interval_s
                                            : std::numeric_limits<double>::quiet_NaN();
    share_among_inferences(e);
    e.power_w = e.energy.total() / point.interval_s;
    if (!machine.energy) {
        e.peak_power_w = e.power_w;
        return;
    }
    const double limit = std::max(machine.power_limit_w, machine.power_budget_w);
    e.peak_power_w = std::max(e.peak_power_w, e.power_w);
    if (limit > 0)
        e.peak_power_w = std::min(e.peak_power_w, std::max(limit, e.power_w));
}

/// Name of a resource that a mapping needs and the machine lacks, or empty.
std::string missing_resource(const BatchSchedule& schedule, const Machine& machine) {
    const auto find = [&](const Mapping& m) -> std::string {
        for (const Demand& d : m.all())
            if (!(machine.rate(d.resource) > 0) || !std::isfinite(d.amount) || !(d.efficiency > 0))
                return fmt::format("the device's {} is unknown", name_of(d.resource));
        return {};
    };
    for (const Mapping& m : schedule.mappings)
        if (auto missing = find(m); !missing.empty())
            return missing;
    return find(schedule.network.fixed);
}

/// The same of a batch undivided. Where every demand takes a finite time nothing is missing, which its times,
/// priced for what follows anyway, tell at a glance.
std::string missing_resource(Scheduled& whole, const Machine& machine) {
    double sum = 0;
    const auto add = [&sum](const LaneTimes& times) {
        sum += times.weight_stream;
        for (const double lane : times.lanes)
            sum += lane;
    };
    for (const LaneTimes& times : whole.costs.times(whole.schedule, machine, 1))
        add(times);
    add(price_time(whole.schedule.network.fixed, machine, 1, false));
    return std::isfinite(sum) ? std::string() : missing_resource(whole.schedule, machine);
}

/// Where the energy of `busy` goes, over the times of `alone`: subgraphs share the static energy by their
/// time.
void share_energy(const Estimate& busy, Estimate& alone) {
    alone.network.fixed.events = busy.network.fixed.events;
    alone.energy_scale = busy.energy_scale;
    for (std::size_t i = 0; i < alone.subgraphs.size(); ++i) {
        SubgraphEstimate& s = alone.subgraphs[i];
        s.energy = busy.subgraphs[i].energy;
        s.energy.static_joules = busy.energy.static_joules * s.latency_s / alone.latency_s;
        s.mapping.events = busy.subgraphs[i].mapping.events;
    }
}

/// A schedule and the clock that it runs at.
struct Settled {
    Scheduled* schedule;
    OperatingPoint point;
};

/// The schedule and its clock. What is best at the clock that a limit leaves may be another schedule than at
/// the full one; it gets a clock of its own, and is taken where it is faster (at the clock of least energy:
/// always).
Settled settle(BatchLevel& level, const Machine& machine) {
    constexpr int kTries = 3; // each is a search of its own; what the last leaves is little
    const auto settled = [&](Scheduled& s) {
        return Settled{&s, settle_clock(s.schedule, s.events, machine, s.costs)};
    };
    Settled best = settled(schedule_at(level, machine, 1));
    for (int tries = 0; !level.smaller.empty() && best.point.clock_ratio < 1 && tries < kTries; ++tries) {
        Scheduled& other = schedule_at(level, machine, best.point.clock_ratio);
        if (&other == best.schedule)
            break;
        const Settled there = settled(other);
        if (machine.efficient_clock)
            return there;
        if (there.point.latency_s >= best.point.latency_s)
            break;
        best = there;
    }
    return best;
}

Estimate estimate_arrangement(const NetworkWork& work, const Machine& machine, const EstimateOptions& options,
                              BatchCounts& counted) {
    Estimate e;
    if (!admit(work, machine, options, e))
        return e;
    BatchLevel& level = counted.of(work, machine, options);
    if (!level.missing)
        level.missing = missing_resource(level.whole, machine);
    if (!level.missing->empty()) {
        e.status = Status::unsupported;
        e.reason = *level.missing;
        return e;
    }
    if (machine.energy && machine.power_limit_w > 0 && least_static_power(machine) >= machine.power_limit_w) {
        e.status = Status::unsupported;
        e.reason = fmt::format("the power limit of {:.3g} W leaves nothing beside {:.3g} W of static power",
                               machine.power_limit_w, least_static_power(machine));
        return e;
    }
    const auto [chosen, point] = settle(level, machine);
    e.events = chosen->events;
    const BatchSchedule& schedule = chosen->schedule;
    add_workspace(schedule.mappings, e);
    if (!fits(machine, e))
        return e;
    e.network = schedule.network;
    e.clock_ratio = point.clock_ratio;
    e.power_limited = point.limited;
    e.latency_s = point.latency_s;
    e.throughput_per_s = work.batch / point.interval_s;
    e.energy_scale =
        bounded_by_budget(machine, point.prices.total(e.events), point.interval_s, point.clock_ratio);
    if (e.energy_scale == 1)
        e.energy_scale = point.rated;
    price_subgraphs(*chosen, machine, point, options, e);
    price_power(machine, point, e);
    for (Finding& finding : unpriced_events(e.events, machine))
        e.findings.push_back(std::move(finding));
    e = on_devices(std::move(e), machine.devices);
    e = waiting(std::move(e), launches_s(work, machine) - e.latency_s, machine, Parameter::uncaptured_launch);
    add_intervals(machine, SpreadOf::latency, e, counted.widths());
    return e;
}

/// Whether the first comes to the end of its batch, or of a batch amid others, before the second.
bool faster(const Estimate& a, const Estimate& b, Scenario scenario) {
    if (a.latency_s <= 0 || b.latency_s <= 0)
        return b.latency_s <= 0 && a.latency_s > 0;
    return scenario == Scenario::latency ? a.latency_s < b.latency_s
                                         : a.throughput_per_s > b.throughput_per_s;
}

/// Estimates the machine as its scenario has it: one batch at a time, or what a batch costs amid others. A
/// compiler that can lay a network out in several ways takes the fastest: what did not fit before and does
/// now is one more to choose from.
Estimate estimate_scenario(const NetworkWork& work, const Machine& machine, const EstimateOptions& options,
                           BatchCounts& counted) {
    Estimate best = estimate_arrangement(work, machine, options, counted);
    const Mapper& mapper = machine.mapper ? *machine.mapper : mapper_for(machine.device->family);
    const auto* const knows = dynamic_cast<const KnowsArrangements*>(&mapper);
    if (knows == nullptr)
        return best;
    for (const auto& other : knows->other_arrangements(work, machine)) {
        Machine arranged = machine;
        arranged.mapper = other;
        Estimate e = estimate_arrangement(work, arranged, options, counted.arranged(*other));
        if (faster(e, best, machine.scenario))
            best = std::move(e);
    }
    return best;
}

/// The part that is left out takes time and energy: no upper end is known of these, no lower one of rates.
Estimate as_bound(Estimate e) {
    if (e.uncounted.empty() || e.latency_s <= 0)
        return e;
    constexpr double kNoEnd = std::numeric_limits<double>::infinity();
    e.latency_interval.high = e.energy_interval.high = kNoEnd;
    e.throughput_interval.low = 0;
    return e;
}

} // namespace

Estimate estimate(const NetworkWork& work, const Machine& machine, const EstimateOptions& options) {
    BatchCounts counted;
    return estimate(work, machine, options, counted);
}

Estimate estimate(const NetworkWork& work, const Machine& machine, const EstimateOptions& options,
                  BatchCounts& counted) {
    Estimate e = estimate_scenario(work, machine, options, counted);
    if (machine.scenario == Scenario::latency || e.latency_s <= 0)
        return as_bound(std::move(e));
    // The cost of a batch amid others is no time from its start to its end: that is the time of a batch
    // alone.
    Machine unshared = machine;
    unshared.scenario = Scenario::latency;
    Estimate alone = estimate_scenario(work, unshared, options, counted.alone());
    if (alone.latency_s <= 0)
        return alone;
    if (e.throughput_per_s < alone.throughput_per_s) // one batch after another keeps it busy, too
        return as_bound(std::move(alone));
    share_energy(e, alone);
    return as_bound(kept_busy(std::move(alone), e));
}

} // namespace archsim
