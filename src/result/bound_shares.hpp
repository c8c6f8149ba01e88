#pragma once
// Where the time of an estimate goes: what a reader should change first.

#include "archsim/compare/result.hpp"

#include <optional>
#include <string>
#include <vector>

namespace archsim {

/// Shares of the time; they add up to 1. Fixed cost is the time of the overhead lanes and whatever no
/// subgraph holds; the rest of each subgraph's time belongs to the larger of its two other sides, computing
/// and moving data, on the chip or from memory; so does waiting for weights that are fetched ahead. Worked:
/// subgraphs of 3 us (2 us fixed, memory needs more than compute) and 1 us (compute): fixed 0.5, memory 0.25,
/// compute 0.25.
struct BoundShares {
    double compute = 0, memory = 0, overhead = 0;
    double exchange = 0; ///< of the fixed cost: devices that share the network send each other their results
    double host = 0;     ///< of the fixed cost: operators that the host runs instead, and handing them over

    /// The largest; of equal ones the first of compute, memory, overhead.
    Bound largest() const;
    /// Fixed cost is the largest, and exchange most of it.
    bool bound_by_exchange() const { return largest() == Bound::overhead && exchange > overhead / 2; }
    /// The same of the host.
    bool bound_by_host() const { return largest() == Bound::overhead && host > overhead / 2; }
    /// Share of one of them.
    double of(Bound bound) const;
    /// Share of what binding_text() names.
    double binding() const { return bound_by_exchange() ? exchange : bound_by_host() ? host : of(largest()); }
};

/// The shares of a result with subgraphs, or of its parts, weighted with their times. Absent where there is
/// no estimate or the subgraphs were not kept.
std::optional<BoundShares> bound_shares(const Result& result);

/// The resource that the side which binds waits for longest, over all subgraphs: Resource::l2_bytes where a
/// network is bound by memory and the L2 is what it waits for. Absent for fixed cost, and where the subgraphs
/// were not kept.
std::optional<Resource> binding_resource(const Result& result);

/// On-chip memories whose bandwidth the device states and no subgraph waits for: their numbers are checked
/// against others, and decide nothing of the estimate. Empty where the subgraphs were not kept.
std::vector<std::string> levels_without_time(const Result& result);

/// Whether computing takes most of the time at a clock that the power limit lowers.
bool bound_by_power(const Result& result);

/// The bound in words: "DRAM bandwidth", "matrix engine", "power limit", "starting kernels", "exchange
/// between devices"; empty where it is not known.
std::string binding_text(const Result& result);

} // namespace archsim
