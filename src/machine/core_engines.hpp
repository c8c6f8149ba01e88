#pragma once
// Vector and matrix engines of the visible cores, and the peaks that follow from them.

#include "machine/processor_facts.hpp"

namespace archsim {

/// Writes "engines" and "peaks" of the entry. Returns the fp32 lanes of one vector unit.
EntryWriter::Known write_engines(const ProcessorFacts& facts, const EntryWriter::Known& base_clock,
                                 EntryWriter& out);

} // namespace archsim
