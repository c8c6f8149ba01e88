#pragma once
// Steps that take some times as long, at the same energy.

#include "archsim/serving/simulation.hpp"

namespace archsim {

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
