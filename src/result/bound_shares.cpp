#include "result/bound_shares.hpp"

#include "estimate/resource_times.hpp"

#include <algorithm>
#include <array>

namespace archsim {

/// Seconds by what they are spent on.
struct BoundSeconds {
    double compute = 0, memory = 0, overhead = 0;
    double exchange = 0, host = 0; ///< parts of overhead
    double total() const { return compute + memory + overhead; }
};

static double lane_of(const SubgraphEstimate& s, Lane lane) {
    return s.lane_s[static_cast<std::size_t>(lane)];
}

/// Adds the parts of a subgraph's fixed cost that collectives over the link between devices take, and what
/// the host runs.
static void add_parts(const Mapping& mapping, const Machine& machine, double fixed, BoundSeconds& out) {
    double exchange = 0, host = 0, all = 0;
    for (const Demand& d : mapping.all()) {
        const double rate = machine.rate(d.resource) * d.efficiency;
        if (d.lane != Lane::overhead || !(rate > 0))
            continue;
        all += d.amount / rate;
        if (d.resource == Resource::link_bytes || d.reason == Parameter::link_latency)
            exchange += d.amount / rate;
        if (d.reason == Parameter::fallback_operation_time || d.reason == Parameter::fallback_switch)
            host += d.amount / rate;
    }
    if (all > 0) {
        out.exchange += fixed * exchange / all;
        out.host += fixed * host / all;
    }
}

static void add_seconds(const Result& result, double times, BoundSeconds& out) {
    for (const ResultPart& part : result.parts)
        if (part.result && part.result->ok())
            add_seconds(*part.result, times * part.repeat, out);
    const Estimate& e = result.estimate;
    if (e.subgraphs.empty())
        return;
    const double waiting = std::clamp(e.weights_wait_s, 0.0, std::max(0.0, e.network_s));
    out.memory += times * waiting;
    out.overhead += times * (e.network_s - waiting);
    for (const SubgraphEstimate& s : e.subgraphs) {
        const double serial = std::min(lane_of(s, Lane::overhead), s.latency_s);
        const bool fed =
            lane_of(s, Lane::compute) >= std::max(lane_of(s, Lane::on_chip), lane_of(s, Lane::memory));
        // Weights that are fetched ahead are in no lane.
        const bool waits = s.bound == Bound::memory && waiting > 0;
        const double copies = std::min(s.copies_s, serial);
        out.overhead += times * (serial - copies);
        if (result.machine)
            add_parts(s.mapping, *result.machine, times * (serial - copies), out);
        out.memory += times * copies;
        (fed && !waits ? out.compute : out.memory) += times * (s.latency_s - serial);
    }
}

/// Seconds of every resource in the lanes of one side.
using ResourceSeconds = std::array<double, static_cast<std::size_t>(Resource::count_)>;

static void add_resources(const Result& result, double times, Bound side, ResourceSeconds& out) {
    for (const ResultPart& part : result.parts)
        if (part.result && part.result->ok())
            add_resources(*part.result, times * part.repeat, side, out);
    if (!result.machine)
        return;
    for (const SubgraphEstimate& s : result.estimate.subgraphs)
        for (const ResourceTime& time :
             resource_times(s.mapping, *result.machine, result.estimate.clock_ratio, 1)) {
            const bool computes = time.lane == Lane::compute;
            if (time.lane != Lane::overhead && computes == (side == Bound::compute))
                out[static_cast<std::size_t>(time.resource)] += times * time.seconds;
        }
}

Bound BoundShares::largest() const {
    if (compute >= memory && compute >= overhead)
        return Bound::compute;
    return memory >= overhead ? Bound::memory : Bound::overhead;
}

double BoundShares::of(Bound bound) const {
    switch (bound) {
    case Bound::compute:
        return compute;
    case Bound::memory:
        return memory;
    case Bound::overhead:
        break;
    }
    return overhead;
}

std::optional<BoundShares> bound_shares(const Result& result) {
    if (!result.ok())
        return std::nullopt;
    BoundSeconds seconds;
    add_seconds(result, 1, seconds);
    const double total = seconds.total();
    if (!(total > 0))
        return std::nullopt;
    return BoundShares{seconds.compute / total, seconds.memory / total, seconds.overhead / total,
                       seconds.exchange / total, seconds.host / total};
}

std::optional<Resource> binding_resource(const Result& result) {
    const auto shares = bound_shares(result);
    if (!shares || shares->largest() == Bound::overhead)
        return std::nullopt;
    ResourceSeconds seconds{};
    add_resources(result, 1, shares->largest(), seconds);
    const auto most = std::ranges::max_element(seconds);
    if (!(*most > 0))
        return std::nullopt;
    return static_cast<Resource>(most - seconds.begin());
}

std::vector<std::string> levels_without_time(const Result& result) {
    std::array<bool, kResourceCount> awaited{};
    for (const SubgraphEstimate& s : result.estimate.subgraphs)
        for (const Demand& d : s.mapping.all())
            awaited[static_cast<std::size_t>(d.resource)] = true;
    std::vector<std::string> names;
    if (!result.estimate.subgraphs.empty() && result.device)
        for (const MemoryLevel& level : result.device->memory) {
            constexpr std::array kResources = {Resource::l1_bytes, Resource::l2_bytes, Resource::llc_bytes};
            const auto rank = static_cast<std::size_t>(level.rank);
            const bool used = rank < kResources.size() && awaited[static_cast<std::size_t>(kResources[rank])];
            if (!used && (level.bandwidth.known() || level.bytes_per_clock.known()))
                names.push_back(level.name);
        }
    return names;
}

bool bound_by_power(const Result& result) {
    constexpr double kWorthSaying = 0.95; // of the clock
    const auto shares = bound_shares(result);
    return shares && result.machine && shares->largest() == Bound::compute && result.estimate.power_limited &&
           result.estimate.clock_ratio < kWorthSaying;
}

std::string binding_text(const Result& result) {
    const auto shares = bound_shares(result);
    if (!shares)
        return "";
    if (bound_by_power(result))
        return "power limit";
    if (shares->bound_by_exchange())
        return "exchange between devices";
    if (shares->bound_by_host())
        return "operators on the host";
    if (shares->largest() == Bound::overhead)
        return "starting kernels";
    if (const auto resource = binding_resource(result))
        return std::string(name_of(*resource));
    return shares->largest() == Bound::compute ? "compute" : "memory";
}

} // namespace archsim
