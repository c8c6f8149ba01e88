#pragma once
// What would make a service hold that misses its limits.

#include "answers/sizing/size_device.hpp"

namespace archsim {

/// One sentence: a narrower format, a shorter prompt, a smaller confidence or a larger budget, each sized
/// anew; empty where none of them helps.
std::string remedy(const SizingBasis& basis, const SizedDevice& miss, const Conditions& conditions);

} // namespace archsim
