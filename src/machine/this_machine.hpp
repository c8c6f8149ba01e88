#pragma once
// The machine at hand as a device of the database: what it shows of itself, completed from the database's
// nearest device and, where that fails too, from named assumptions.

#include "archsim/hardware/database.hpp"
#include "machine/snapshot.hpp"

#include <optional>
#include <vector>

namespace archsim {

/// Names under which tools take the machine at hand: its processor, and its first GPU.
inline constexpr std::string_view kThisMachine = "this-machine";
inline constexpr std::string_view kThisGpu = "this-gpu"; ///< the first GPU of the machine

/// Where a number of the machine's entry comes from.
enum class Origin {
    detected, ///< the machine says so
    measured, ///< a probe of a second
    database, ///< the device of the database that it matches
    assumed,  ///< nothing says so
};

/// One number of the entry.
struct MachineFact {
    std::string what; ///< "cores", "L2 of a core", ...
    std::string value;
    Origin origin = Origin::assumed;
    std::string from; ///< the file, the device or the assumption
};

/// The measurements of a probe on the machine itself.
struct ProbeResult {
    std::optional<double> clock_hz;         ///< of one core while every core is as busy as it was
    std::optional<double> vector_clock_hz;  ///< the same under wide vector code
    std::optional<double> core_bandwidth;   ///< bytes/s that one core reads from DRAM
    std::optional<double> memory_bandwidth; ///< bytes/s that all cores read together
};

/// An entry as it would stand in the database, with where each of its numbers comes from.
struct MachineEntry {
    std::string id;      ///< kThisMachine or kThisGpu
    std::string title;   ///< as the processor calls itself
    std::string matched; ///< id of the database's device; empty: none is like it
    std::string match;   ///< why that one
    std::string json;    ///< text of the entry; empty when nothing is known that could be estimated with
    std::vector<MachineFact> facts;
    std::vector<std::string> remarks; ///< a virtual machine, a container, hidden facts
};

/// The processor first, then the GPUs.
struct ThisMachine {
    std::vector<MachineEntry> entries; ///< the first is always the processor
};

/// A function of the texts, the database and the probe alone.
/// @code
/// const Snapshot nothing;
/// const ThisMachine unknown = describe_machine(nothing, HardwareDatabase(data_dir() / "hardware_db"));
/// assert(unknown.entries.front().id == kThisMachine && unknown.entries.front().matched.empty());
/// @endcode
ThisMachine describe_machine(const Snapshot& snapshot, const HardwareDatabase& database,
                             const ProbeResult& probe = {});

/// The text of an entry, laid out as the database's files are, under another id for a file of that name; an
/// empty id leaves it as it is.
std::string entry_text(const MachineEntry& entry, const std::string& id);

/// Lets databases answer to kThisMachine and kThisGpu; the machine is looked at, and its processor measured
/// once in a boot, when one is first asked for.
void name_this_machine();

/// Runs a loop of dependent instructions and reads a buffer larger than the caches, once with one core and
/// once with all, each for so long.
ProbeResult probe_machine(double read_seconds = 0.4);
/// The same in less than a second, once in a boot: a file of the user's cache keeps the numbers for the next
/// program. Nothing where the system names no boot, other programs keep half of the cores busy, or nobody let
/// the machine be measured.
ProbeResult probe_of_boot();
/// Lets this process measure the machine: the tools do. Who links the library is promised that no function
/// starts threads or writes files; there what a tool kept counts, or nothing.
void let_machine_be_measured();

} // namespace archsim
