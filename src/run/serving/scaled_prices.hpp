#pragma once
// Steps that take some times as long, at the same energy.

#include "archsim/serving/simulation.hpp"

namespace archsim {

class ScaledPrices final : public StepPrices {
  public:
    /// `prices` must outlive it.
    ScaledPrices(StepPrices& prices, double factor) : prices_(prices), factor_(factor) {}

    StepCost price(const StepLoad& load) override {
        StepCost cost = prices_.price(load);
        cost.seconds *= factor_;
        cost.prompt_seconds *= factor_;
        return cost;
    }
    double cache_bytes(double positions) const override { return prices_.cache_bytes(positions); }

  private:
    StepPrices& prices_;
    double factor_;
};

} // namespace archsim
