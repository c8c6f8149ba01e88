#pragma once
// A device made ready to serve one model at one way to share it: what runs at different rates have in common.

#include "archsim/run/serve.hpp"
#include "session/server/engine.hpp"

namespace archsim {

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
    /// What is simulated, and the prices of its steps; of a server that is ready.
    const ServingPlan& plan() const { return plan_; }
    EnginePrices& prices() const { return *engine_.prices; }
    /// Those of engines for prompts alone, where they are of another kind; else null.
    EnginePrices* prompt_prices() const { return prompt_engine_ ? prompt_engine_->prices.get() : nullptr; }
    /// What runs at any rate have in common: names, format, layout, room for caches; the reason of one that
    /// is not ready.
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
