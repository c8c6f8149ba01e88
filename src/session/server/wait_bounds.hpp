#pragma once
// How far what clients wait for lies from its estimate.

#include "archsim/serving/serving_result.hpp"
#include "archsim/serving/simulation.hpp"

namespace archsim {

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

  private:
    StepCost scaled(StepCost cost) const {
        cost.seconds *= factor_;
        cost.prompt_seconds *= factor_;
        return cost;
    }

    StepPrices& prices_;
    double factor_;
};

} // namespace archsim
