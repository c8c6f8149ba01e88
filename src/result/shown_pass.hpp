#pragma once
// Which pass the subgraphs of a result are those of. A model has one; of an answer to a prompt the step in
// its middle is listed, or the prompt's pass where nothing is generated.

#include "archsim/compare/result.hpp"

namespace archsim {

/// One pass of the network, all of it.
struct ShownPass {
    double latency_s = 0;
    double energy_j = 0;
    bool part_of_answer = false; ///< false: the whole estimate
    double context = 0;          ///< of a step: positions in the cache before it; 0: the prompt's pass
    double steps = 0;            ///< that the answer takes
};

/// The pass of an estimate; zeros without one.
ShownPass shown_pass(const Result& result);

} // namespace archsim
