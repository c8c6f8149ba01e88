#pragma once
// What is seen of a processor -> its entry.

#include "machine/match.hpp"
#include "machine/processor.hpp"
#include "machine/processor_facts.hpp"
#include "machine/this_machine.hpp"

#include <vector>

namespace archsim {

MachineEntry processor_entry(const ProcessorSeen& seen, const Match& match, const ProbeResult& probe);

/// Writes "memory" of the entry, near the cores first.
void write_caches(const ProcessorFacts& facts, EntryWriter& out);

/// Writes "engines" and "peaks" of the entry. Returns the fp32 lanes of one vector unit.
EntryWriter::Known write_engines(const ProcessorFacts& facts, const EntryWriter::Known& base_clock,
                                 EntryWriter& out);

/// One entry per GPU in the order in which the tools name them; the first is kThisGpu, later ones have a
/// number.
std::vector<MachineEntry> gpu_entries(const Snapshot& snapshot, const Devices& devices);

inline constexpr double kKibi = 1024, kMebi = kKibi * kKibi, kGibi = kMebi * kKibi;
inline constexpr double kKilo = 1e3, kMega = 1e6, kGiga = 1e9, kTera = 1e12;

} // namespace archsim
