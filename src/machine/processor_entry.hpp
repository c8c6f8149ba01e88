#pragma once
// What is seen of a processor -> its entry.

#include "archsim/machine/this_machine.hpp"
#include "machine/match.hpp"
#include "machine/processor.hpp"

namespace archsim {

MachineEntry processor_entry(const ProcessorSeen& seen, const Match& match, const ProbeResult& probe);

} // namespace archsim
