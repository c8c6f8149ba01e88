#pragma once
// Energy events: what mappers count and the energy table prices.

#include "archsim/core/precision.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace archsim {

enum class Event : std::uint8_t {
    mac,              ///< multiply-accumulate; one event kind per precision, see EventCounts::macs
    vector_op,        ///< arithmetic outside matrix engines, per operation
    special_op,       ///< exponential, division, root, per element
    instruction,      ///< fetch, decode, schedule: micro-operation (CPU), warp instruction (GPU), VLIW packet
                      ///< (DSP)
    register_byte,    ///< register file or operand collector
    l1_byte,          ///< L1, shared memory, scratchpad next to the units
    l2_byte,          ///< L2, vector memory, on-chip buffer
    llc_byte,         ///< last-level cache, shared on-chip memory
    dram_byte,        ///< external memory with the path to the compute units
    coherence,        ///< tag look-ups and coherence messages per cache line
    scheduling,       ///< warp scheduling, divergence handling, barriers; thread fork-join
    systolic_hop,     ///< operand forwarded to a neighbouring processing element, per byte
    weight_load_byte, ///< weights shifted into an array
    accumulator_byte, ///< partial sums read and written outside the array
    domain_token,     ///< domain-tracking tag of a domain-flow machine
    streamer_byte,    ///< operand streamer, block mover, DMA engine
    routing_byte,     ///< programmable interconnect of CGRA and FPGA
    configuration_byte, ///< configuration loaded
    host_link_byte,     ///< transfer between host and device
    host_busy_second,   ///< host processor at work for unsupported operators
    count_
};
inline constexpr std::size_t kEventCount = static_cast<std::size_t>(Event::count_);

/// Counts of one subgraph or network.
struct EventCounts {
    std::array<double, kEventCount> counts{}; ///< counts[mac] stays 0: see `macs`
    std::array<double, kPrecisionCount> macs{};
    /// How often the event happens.
    double& operator[](Event e) { return counts[static_cast<std::size_t>(e)]; }
    /// How often the event happens.
    double operator[](Event e) const { return counts[static_cast<std::size_t>(e)]; }
    /// Multiply-accumulates in one format.
    double& mac(Precision p) { return macs[static_cast<std::size_t>(p)]; }
    /// Adds the counts of another subgraph that runs `times` times.
    EventCounts& add(const EventCounts& o, double times) {
        for (std::size_t i = 0; i < kEventCount; ++i)
            counts[i] += times * o.counts[i];
        for (std::size_t i = 0; i < kPrecisionCount; ++i)
            macs[i] += times * o.macs[i];
        return *this;
    }
    /// Adds the counts of another subgraph.
    EventCounts& operator+=(const EventCounts& o) { return add(o, 1); }
    /** Multiplies every count. */ EventCounts& scale(double f) {
        for (auto& c : counts)
            c *= f;
        for (auto& m : macs)
            m *= f;
        return *this;
    }
};

} // namespace archsim
