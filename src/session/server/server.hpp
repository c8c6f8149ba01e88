#pragma once
// A device made ready to serve one model at one way to share it: what runs at different rates have in common.

#include "archsim/map/machine.hpp"
#include "archsim/run/serve.hpp"
#include "archsim/serving/serving_result.hpp"
#include "archsim/serving/simulation.hpp"
#include "hardware/uncertainty.hpp"
#include "session/server/prices.hpp"

#include <filesystem>
#include <memory>

namespace archsim {

// A stack's server unless its options say otherwise: hardware_db/servers.json.

/// The plan with what it leaves open (ServingRequest::plan) as `file` has it for the machine's stack and
/// memory: a step and a batch of ServingPlan's own, and no time of a request, where it has nothing. Throws
/// InputError for a file that is not as it should be.
ServingPlan with_server_defaults(ServingPlan plan, const Machine& machine, const std::filesystem::path& file);

/// How a server shares a device's memory, how its files store weights, and how it divides models.
struct ServerMemory {
    std::int64_t row_weights = 0; ///< of a block of 4-bit files; 0: rows may have any length
    double other_rows = 1;        ///< times as many bits where rows are no multiple of it
    double share = 0;             ///< of memory, for what `of` says; 0: it is not told so
    enum class Of : std::uint8_t {
        all,               ///< all memory, for weights, activations and cache
        weights_and_cache, ///< all memory, for weights and cache
        left               ///< what weights and activations leave, for the cache
    } of = Of::left;
    double reserved_bytes = 0; ///< of a device, kept beside weights and cache
    /// States of recurrent layers that it holds for a request, beside its prefix cache's, and the part of the
    /// room that all states have; 0: one each, where there is room.
    double states_per_request = 0, states_share = 0;
    bool by_layers = false;   ///< several devices hold consecutive layers each; else they share every matrix
    bool every_logit = false; ///< it reserves memory for the logits of every token of a piece of a prompt
};

/// That of the machine's stack, as `file` has it, with the share that was asked for (0: none was). Throws
/// like with_server_defaults.
ServerMemory server_memory(const Machine& machine, double asked, const std::filesystem::path& file);

/// So many devices that share one model as the stack divides it.
inline Parallelism shared_by(const ServerMemory& server, std::int64_t devices) {
    return server.by_layers ? Parallelism{.pipeline = devices} : Parallelism{.tensor = devices};
}

// One engine of a deployment: prices of its steps and room for its cache.

/// The lengths of requests, which decide the room for one and the step that stands for all.
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
    std::string precision_note; ///< empty where the formats are those asked for
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

/// The correction of waits by the user's own measurements: by how much later tokens take longer than
/// estimated (the steps that wait for them have it already), and first tokens beyond that. Worked: steps
/// measured 1.2 x as long, first tokens 1.5 x: later 1.2, first 1.25.
struct GivenWaits {
    int rows = 0; ///< measurements that say something; 0: both are 1
    double later = 1, first = 1;
};
GivenWaits given_waits(const Machine& machine);

/// Whether all options of its engine are left to the stack. Who chooses them measures what they do; servers
/// that nobody tuned err further.
bool at_defaults(const ServingPlan& asked);
/// How far times of later tokens, or of first ones, lie from their estimates.
Spread waiting_spread(const Machine& machine, SpreadOf waited, bool by_default);
/// Why waits under such steps may not be named first; empty: they may.
Doubt doubt_of_waits(const Machine& machine, Estimate step);

// How far what clients wait for lies from its estimate.

/// Factors between which a time lies with 90 % probability.
struct TimeFactors {
    double low = 1, high = 1;
};

/// Percentiles of the same requests where every step takes as many times longer as times to `later` tokens
/// may. What times to the `first` token are less sure than that is not of steps (hosts, protocols) and comes
/// on top. Answers are as late as their later tokens. A fixed number of requests in flight waits in
/// proportion to the steps; arrivals do not slow down with the engine, so that near its capacity a few per
/// cent of a step are many of a wait. Worked: an engine 90 % busy whose steps take 10 % longer is 99 % busy.
/// `prompt_prices`: as simulate_serving takes them.
WaitBounds wait_bounds(const ServingPlan& plan, StepPrices& prices, StepPrices* prompt_prices,
                       const RequestPlan& requests, const ServingSummary& estimate, TimeFactors first,
                       TimeFactors later);

class ScaledPrices final : public StepPrices {
  public:
    /// `prices` must outlive it.
    ScaledPrices(StepPrices& prices, double factor) : prices_(prices), factor_(factor) {}

    StepCost price(const StepLoad& load) override { return scaled(prices_.price(load)); }
    void price_on(StepLoad load, std::span<StepCost> costs) override {
        prices_.price_on(load, costs);
        for (StepCost& cost : costs)
            cost = scaled(cost);
    }
    double cache_bytes(double positions) const override { return prices_.cache_bytes(positions); }
    StepCost new_length() const override { return scaled(prices_.new_length()); }

  private:
    StepCost scaled(StepCost cost) const {
        cost.seconds *= factor_;
        cost.prompt_seconds *= factor_;
        return cost;
    }

    StepPrices& prices_;
    double factor_;
};

/// Never throws for a device: what fails becomes the results' reason.
class Server {
  public:
    Server(const Session& session, const Model& model, std::string_view device, const Conditions& conditions,
           const ServingRequest& request);

    /// Whether there are prices of steps and room for a sequence; the reason is that of `run`'s results.
    bool ready() const { return engine_.prices != nullptr && result_.reason.empty(); }
    ServingResult run(double rate_per_s, bool with_capacity);
    ServingResult run_in_flight(std::int64_t requests);
    std::int64_t sequences() const { return engine_.plan.engine.all_sequences(); }
    void add_bounds(ServingResult& out);
    double capacity() { return run(0, true).capacity_per_s; }
    void use_engines(std::int64_t engines);
    /// How far waits under it lie from their estimates.
    Spread spread_of(SpreadOf waited) const {
        return waiting_spread(prices().machine(), waited, at_defaults(request_.plan));
    }
    /// The simulated plan, and the prices of its steps; of a server that is ready.
    const ServingPlan& plan() const { return plan_; }
    EnginePrices& prices() const { return *engine_.prices; }
    /// Those of engines for prompts alone, where they are of another kind; else null.
    EnginePrices* prompt_prices() const { return prompt_engine_ ? prompt_engine_->prices.get() : nullptr; }
    /// The common part of runs at any rate: names, format, layout, room for caches; the reason of one that is
    /// not ready.
    const ServingResult& basis() const { return result_; }

  private:
    void make_prompt_engine(const Session& session, const Model& model, std::string_view device,
                            const Conditions& conditions);
    void describe_step(ServingResult& out) const;
    void fill_plan(const Parallelism& way, const Device& device);
    void note_conditions();

    ServingRequest request_;
    ServingEngine engine_;
    std::optional<ServingEngine> prompt_engine_; ///< ServingRequest::prompt_parallelism
    ServingResult result_;
    ServingPlan plan_;
    double capacity_ = -1;
};

} // namespace archsim
