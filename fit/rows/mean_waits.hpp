#pragma once
// What a client of a simulated server reports: mean waits over the requests that it counts.

#include "archsim/serving/simulation.hpp"
#include "fit/rows/served_protocol.hpp"

namespace archsim {

/// In milliseconds; 0 where no request is counted.
struct MeanWaits {
    double first_ms = 0; ///< for the first token
    double token_ms = 0; ///< for each later one
};

/// Of `outcome`, with so many requests in flight: those after the warm-up. The first that are sent, all at
/// once, also wait for what the server compiles then. Worked: of 80 requests, 8 in flight, compile_s 1.6 adds
/// 160 ms to the mean wait for a first token.
MeanWaits mean_waits(const ServingOutcome& outcome, const ServedProtocol& protocol, std::int64_t in_flight);

} // namespace archsim
