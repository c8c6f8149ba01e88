#pragma once
// The ways in which engines can share a model on a device.

#include "archsim/hardware/device.hpp"
#include "archsim/run/catalogue.hpp"
#include "archsim/serving/serving_result.hpp"

#include <optional>
#include <vector>

namespace archsim {

/// Ways of one engine, fewest devices first: tensor parallel in powers of two up to a node, that divide the
/// model's attention heads as engines require (vLLM: "total number of attention heads must be divisible by
/// tensor parallel size"); for experts also whole ones on each device with attention data-parallel; stages
/// over up to eight nodes. One device alone where the database knows no link.
std::vector<Parallelism> engine_ways(const Device& device, double heads, bool experts);

} // namespace archsim
