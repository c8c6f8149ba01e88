#pragma once
// Caches of the visible cores.

#include "machine/processor_facts.hpp"

namespace archsim {

/// Writes "memory" of the entry, near the cores first.
void write_caches(const ProcessorFacts& facts, EntryWriter& out);

} // namespace archsim
