#pragma once
// Pipeline stages: what crosses between them.

#include "archsim/map/machine.hpp"
#include "archsim/serving/serving_result.hpp"

namespace archsim {

/// Seconds that the activations of `rows` tokens, `hidden` wide, take from the first stage to the last: over
/// the links of a node, or over the network where every stage fills a node.
double stage_hops(const Machine& machine, const Parallelism& way, double rows, double hidden);

} // namespace archsim
