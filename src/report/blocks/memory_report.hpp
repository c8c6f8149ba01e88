#pragma once
// Memory of estimates: `--show-memory`. One row per device (weights, activations planned and alive, does it
// fit the device and the chip, what would), then for each way the network was fused and stored the tensors
// alive at the peak and how much is alive at every step.

#include "archsim/extend/renderer.hpp"
#include "result/memory_fit.hpp"

#include <span>
#include <vector>

namespace archsim {

std::vector<Block> memory_blocks(std::span<const Result> results);

} // namespace archsim
