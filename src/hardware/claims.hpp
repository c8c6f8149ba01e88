#pragma once
// What is assumed of accelerators that nobody measured, held against those that somebody did.

#include "archsim/core/finding.hpp"
#include "archsim/hardware/runtime.hpp"

#include <memory>
#include <span>
#include <vector>

namespace archsim {

/// A finding for every assumed share of the matrix peak that is higher, and every assumed cost of an
/// inference that is lower, than the best one found by measurement on any stack of accelerators. GPUs and
/// CPUs are left out: their libraries are measured family by family.
std::vector<Finding> claims_beyond_measured(std::span<const std::shared_ptr<const Runtime>> runtimes);

} // namespace archsim
