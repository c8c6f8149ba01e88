#pragma once
// A design with more units than its device states may leave units idle, where more are slower: half of them,
// as often as more than the stated ones are left.

#include "archsim/run/session.hpp"

#include <optional>

namespace archsim {

/// The next smaller factor on the stated units.
inline double fewer_units(double factor) {
    return factor / 2 > 1 ? factor / 2 : 1;
}
/// These conditions with units left idle; nothing where the design has no more than are stated.
std::optional<Conditions> with_idle_units(const Conditions& conditions);
/// The faster of a run on all units and one that leaves some idle, which wait beside the others.
Result faster_with_idle_units(Result all, Result fewer);

} // namespace archsim
