#pragma once
// The one list of families. Each name is that of a row, defined in the file of the same name beside this one.

#include "hardware/family_table.hpp"

#define ARCHSIM_FAMILIES(row) row(cpu) row(gpu) row(tpu) row(kpu) row(dsp) row(dpu) row(cgra) row(npu)

namespace archsim::family {

#define ARCHSIM_ROW(name) extern const FamilyRow name;
ARCHSIM_FAMILIES(ARCHSIM_ROW)
#undef ARCHSIM_ROW

} // namespace archsim::family
