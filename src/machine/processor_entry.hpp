#pragma once
// What is seen of a processor -> its entry.

#include "machine/match.hpp"
#include "machine/processor.hpp"
#include "machine/this_machine.hpp"

namespace archsim {

MachineEntry processor_entry(const ProcessorSeen& seen, const Match& match, const ProbeResult& probe);

} // namespace archsim
