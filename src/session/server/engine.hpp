#pragma once
// One engine of a deployment: prices of its steps and room for its cache.

#include "archsim/run/serve.hpp"
#include "hardware/uncertainty.hpp"
#include "session/server/prices.hpp"

#include <memory>

namespace archsim {

/// What requests look like, for what depends on it: room for one, and the step that stands for all.
struct RequestLengths {
    double prompt = 1, output = 1; ///< means
    std::int64_t longest = 1;      ///< prompt and answer
};
RequestLengths lengths_of(const std::vector<ServedRequest>& requests);

struct ServingEngine {
    std::string reason; ///< one sentence where there is none
    std::shared_ptr<const GenerationModel> model;
    std::unique_ptr<EnginePrices> prices;
    std::shared_ptr<const Device> device;
    std::string runtime, precision;
    Parallelism parallelism;
    ServingPlan plan; ///< with what the stack decides
    /// As in ServingResult.
    double cache_room_bytes = 0, cache_bytes_per_token = 0, fixed_cache_bytes_per_sequence = 0,
           longest_batch = 0;
};

/// The engine of a request on a device, shared as asked for or by the fewest devices that hold the model.
/// Never throws for a device. Throws UsageError for a model without a cache of keys and values.
ServingEngine make_engine(const Session& session, const Model& model, std::string_view device,
                          const Conditions& conditions, const ServingRequest& request,
                          const RequestLengths& lengths);

/// Bytes per second between so many devices of an engine and those of another: over the slower network of two
/// that are stated, or the one; absent where neither states one.
std::optional<double> network_between(const Device& from, std::int64_t from_devices, const Device& to,
                                      std::int64_t to_devices);

/// Shares of the lanes that a client waits for: first tokens wait for arithmetic, later ones for memory.
LaneShares lanes_waited_for(SpreadOf waited);

/// What measurements of the user's own say of waits: by how much later tokens take longer than estimated (the
/// steps that wait for them have it already), and first tokens beyond that. Worked: steps measured 1.2 x as
/// long, first tokens 1.5 x: later 1.2, first 1.25.
struct GivenWaits {
    int rows = 0; ///< measurements that say something; 0: both are 1
    double later = 1, first = 1;
};
GivenWaits given_waits(const Machine& machine);

/// How far times of later tokens, or of first ones, lie from their estimates.
Spread waiting_spread(const Machine& machine, SpreadOf waited);
/// Why waits under such steps may not be named first; empty: they may.
Doubt doubt_of_waits(const Machine& machine, Estimate step);

} // namespace archsim
