#pragma once
// Texts of a snapshot -> what is seen of the processor. Everything is optional: a container hides much of it.

#include "machine/microarchitecture.hpp"
#include "machine/snapshot.hpp"

#include <optional>
#include <set>
#include <string>

namespace archsim {

/// What a machine shows of its processor, in SI units. `hidden` members are unknown, never zero.
struct ProcessorSeen {
    std::string name, vendor; ///< as the processor calls itself; empty: hidden
    std::optional<Microarchitecture> core;
    std::set<std::string, std::less<>> flags; ///< instruction sets, in Linux's spelling
    double cores = 1;                         ///< that this process may use
    double threads = 1;                       ///< hardware threads among them
    bool cores_counted = false;               ///< false: nothing said how many there are
    std::string limit;                        ///< what took cores away: a quota, an affinity
    bool hypervisor = false;
    std::string hypervisor_name;
    std::optional<double> base_hz, boost_hz;
    std::optional<double> l1_bytes, l2_bytes; ///< of one core
    std::optional<double> l3_bytes;           ///< of all that the cores see
    std::optional<double> memory_bytes;
    bool memory_limited = false; ///< by a container

    bool has(std::string_view flag) const { return flags.contains(flag); }
};

ProcessorSeen read_processor(const Snapshot& snapshot);

} // namespace archsim
