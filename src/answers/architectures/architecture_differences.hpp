#pragma once
// What tells architectures apart, from what was counted: how much runs in parallel, and what the energy of
// one network is spent on.

#include "archsim/compare/result.hpp"
#include "archsim/extend/renderer.hpp"

#include <span>
#include <string>

namespace archsim {

/// One row per architecture: units x operations per clock, energy per operation, and shares of the energy
/// without static power. Results must be estimates of one model; those without an estimate keep their row.
Table architecture_differences(std::span<const std::string> labels, std::span<const Result> results);

} // namespace archsim
