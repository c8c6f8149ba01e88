#pragma once
// The library's own families, in order. Defined beside them (src/family/table.cpp), so that this module need
// not know what a mapper is.

#include "archsim/hardware/family.hpp"

namespace archsim {

std::span<const FamilyRow* const> library_families();

} // namespace archsim
