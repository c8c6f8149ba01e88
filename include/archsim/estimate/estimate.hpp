#pragma once
// The estimate of one model on one machine: latency (roofline over counts), energy (events), memory
// (liveness), power, utilisation, each with the reason.

#include "archsim/core/export.hpp"
#include "archsim/extend/mapper.hpp"

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace archsim {

enum class Status : std::uint8_t { ok, unsupported, does_not_fit, incomplete };

enum class Bound : std::uint8_t { compute, memory, overhead };

/// Where power is measured, from the inside out: what lies inside of a boundary is counted. Every measured
/// value and every question about power has one.
enum class PowerBoundary : std::uint8_t {
    rail,   ///< what a sensor on the accelerator's supply reads (NVML): chip, memory, regulators of the card
    chip,   ///< the device with its memory: what Estimate::power_w is
    module, ///< a module that holds chip, memory and regulators
    board,  ///< the board around chip or module: other chips, links, fans
    wall    ///< the socket of the whole system: host, fans, power supply
};

/// Nominal 90 % interval.
struct Interval {
    double low = 0, high = 0;
    /// True when the two intervals share a value: the estimates cannot be told apart.
    bool overlaps(const Interval& o) const { return low <= o.high && o.low <= high; }
};

/// Energy by event, joules; the total of an estimate is the sum of these, nothing else.
struct EnergyBreakdown {
    std::array<double, kEventCount> joules{}; ///< [mac] holds all matrix arithmetic
    double static_joules = 0;                 ///< active idle power x time
    /// Joules of all events and of static power.
    double total() const {
        double t = static_joules;
        for (double j : joules)
            t += j;
        return t;
    }
    /// The same `times` times.
    EnergyBreakdown& scale(double times) {
        for (double& j : joules)
            j *= times;
        static_joules *= times;
        return *this;
    }
    /// Both, event by event.
    EnergyBreakdown& operator+=(const EnergyBreakdown& other) {
        for (std::size_t i = 0; i < kEventCount; ++i)
            joules[i] += other.joules[i];
        static_joules += other.static_joules;
        return *this;
    }
    /// Joules of one event.
    double operator[](Event e) const { return joules[static_cast<std::size_t>(e)]; }
    /// Joules of one event.
    double& operator[](Event e) { return joules[static_cast<std::size_t>(e)]; }
};

/// Time, energy and counts of one fused subgraph.
struct SubgraphEstimate {
    std::uint32_t index = 0;                 ///< into Partition::subgraphs
    double latency_s = 0;                    ///< all repeats
    std::array<double, kLaneCount> lane_s{}; ///< time each lane would need alone
    double copies_s = 0; ///< part of the overhead lane: copies of tensors before and after the kernel
    Bound bound = Bound::compute;
    Resource binding = Resource::seconds; ///< resource with the largest time on the side that binds
    double pieces = 1;                    ///< parts of the batch that it runs one after another
    double utilization = 0;               ///< useful operations / (peak x time), 0..1
    double dram_bytes = 0;
    EnergyBreakdown energy;
    Mapping mapping;
};

/// Bytes that the network needs on one chip (the busiest, where several share it), at the formats that run.
struct MemoryEstimate {
    double weight_bytes = 0;
    double activation_bytes = 0; ///< arena after offset planning
    double live_bytes = 0;       ///< lower bound of the arena: largest set of live activations
    double kv_cache_bytes = 0;
    double workspace_bytes = 0; ///< largest scratch memory of any kernel; kernels use it in turn
    double peak_bytes = 0;      ///< weights + arena + KV cache + workspace
    double capacity_bytes = 0;  ///< of one chip's memory; 0 = unknown
};

/// The estimate of one model on one machine, all of its devices together.
struct Estimate {
    Status status = Status::ok;
    std::string reason; ///< one sentence when not ok
    /// The part that the numbers leave out where a part of the model is not understood and that was accepted:
    /// they are bounds then, and so are the intervals (at least so long, at most so many). Empty for whole
    /// models.
    std::string uncounted;
    std::string precision_note; ///< what the device does instead of the requested format
    PrecisionConfig executed;
    double batch = 1;
    double pieces = 1;           ///< most parts of the batch that any subgraph runs one after another
    double latency_s = 0;        ///< whole batch
    double throughput_per_s = 0; ///< items; in throughput scenario saturated over all instances
    double power_w = 0;          ///< average; power and energy are NaN where static power is unknown
    double peak_power_w = 0;     ///< of the subgraph that draws most, at most the power limit
    double energy_per_inference_j = 0;
    /// Share of the event prices that an estimated power budget leaves (bounded_by_budget()); above 1 the
    /// factor on those of multiply-accumulates that a rating asks for (up_to_rating()).
    double energy_scale = 1;
    /// Useful operations over peak; the extremes are those of subgraphs with products, and of the whole run.
    double utilization = 0, utilization_min = 0, utilization_max = 0;
    double clock_ratio = 1; ///< below 1 when the power limit throttles
    bool power_limited = false;
    Interval latency_interval, throughput_interval, energy_interval;
    std::string interval_basis;                  ///< what the interval's width comes from
    NetworkKind kind = NetworkKind::convolution; ///< of several parts that of the one that takes longest
    /// Networks of this kind were not measured under this stack: neither on this chip nor on others of its
    /// generation.
    bool projected = false;
    bool related = false; ///< such networks were measured on others of its generation, or others on the chip
    std::string unlike; ///< "no transformer was measured": not on this chip under this stack; empty: one was
    /// The verdict of measured rows against it, "detectors were measured 2 to 5 times slower ...", and how
    /// many do.
    std::string refuted, refuted_rows;
    EnergyBreakdown energy; ///< whole batch
    EventCounts events;
    MemoryEstimate memory;
    NetworkMapping network;
    double network_s = 0;      ///< time not inside any subgraph
    double weights_wait_s = 0; ///< part of it: the network waits for weights that are fetched ahead
    int compute_bound = 0, memory_bound = 0, overhead_bound = 0;
    std::vector<SubgraphEstimate> subgraphs;
    std::vector<Finding> findings;
};

/// The one rule of who may be named first: an estimate of the whole network that measurements stand behind
/// and that none of them refutes.
inline Standing standing_of(const Estimate& e) {
    return !e.uncounted.empty() ? Standing::incomplete
           : !e.refuted.empty() ? Standing::refuted
           : e.projected        ? Standing::projected
           : e.related          ? Standing::related
                                : Standing::measured;
}
/// Why it may not be named first.
inline Doubt doubt_of(const Estimate& e) {
    const Standing standing = standing_of(e);
    if (leads(standing))
        return {standing, {}};
    const std::string why = standing == Standing::refuted      ? e.refuted
                            : standing == Standing::incomplete ? e.uncounted
                            : e.unlike.empty()
                                ? std::string("no comparable device was measured on this stack")
                                : e.unlike + " on such a chip and stack";
    return {standing, why, standing == Standing::refuted ? e.refuted_rows : std::string()};
}
inline bool may_lead(const Estimate& estimate) {
    return leads(standing_of(estimate));
}

/// The status for documents and tables: "incomplete" too where numbers leave a part out.
ARCHSIM_API std::string_view status_text(const Estimate& estimate);

/// How to estimate.
struct EstimateOptions {
    bool allow_unknown = false;
    bool keep_subgraphs = true; ///< false: totals only, for sweeps
    /// The same network at the batch asked for over `parts`; null where they do not divide it. Empty: the
    /// batch is never cut.
    std::function<std::shared_ptr<const NetworkWork>(std::size_t parts)> smaller_batch;
};

/// Estimates a model on a machine. Never throws for a device that cannot run the model: see Estimate::status.
/// `work` holds the model's subgraphs at the precision that the machine executes (resolve_precision).
ARCHSIM_API Estimate estimate(const NetworkWork& work, const Machine& machine,
                              const EstimateOptions& options);

} // namespace archsim
