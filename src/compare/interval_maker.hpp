#pragma once
// Interval factors from left-out errors, with or without one of the groups that they come from.

#include "archsim/compare/left_out.hpp"
#include "archsim/hardware/uncertainty.hpp"
#include "compare/conformal.hpp"

#include <compare>
#include <map>
#include <string>
#include <vector>

namespace archsim {

/// log(measured / predicted) of a left-out row; rates are turned so that it is about time.
struct Score {
    std::string family, runtime, regime, model, device;
    SpreadOf metric = SpreadOf::latency;
    Evidence evidence = Evidence::none; ///< what was left after leaving out
    double value = 0;
};

/// Exchangeable groups from which a stack or a regime has a class of its own.
constexpr std::size_t kGroupsOfOwn = 5;

/// Logarithms of the factors, and what stands behind them.
struct Band {
    double low = 0, high = 0;
    std::size_t rows = 0, groups = 0;
};

/// A class of estimates that share a width. An empty family is one without rows; an empty stack or regime
/// covers all.
struct IntervalClass {
    std::string family;
    Evidence evidence = Evidence::none;
    SpreadOf metric = SpreadOf::latency;
    std::string runtime, regime;
    auto operator<=>(const IntervalClass&) const = default;
};

/// What a row's width is for.
SpreadOf metric_of(const MeasuredRow& row);

/// Scores of the three ways of leaving out.
class IntervalMaker {
  public:
    using Rows = std::vector<ValidatedRow>;
    /// Rows with the predictions of each way.
    IntervalMaker(const Rows& without_model, const Rows& without_device, const Rows& without_family);
    /// The same without the scores of a network, a device or a family; empty names leave nothing out.
    IntervalMaker without(const std::string& model, const std::string& device,
                          const std::string& family) const;

    /// 5th and 95th percentiles for a row of a new network (evidence `device`), a new device (`stack`) or a
    /// new stack or family (`none`).
    const Band& band(const IntervalClass& c);
    /// Exchangeable groups of the class itself, without those around it.
    std::size_t groups(const IntervalClass& c);
    /// Families with scores.
    std::vector<std::string> families() const;
    /// Stacks with scores on devices of a family.
    std::vector<std::string> stacks(const std::string& family) const;

  private:
    IntervalMaker() = default;
    template <class Pick>
    GroupedScores grouped(Evidence evidence, Pick pick, bool by_family) const;
    /// Scores of a class; with `any_metric` those of all times that say something of its metric: of language
    /// models those of language models.
    GroupedScores members(const IntervalClass& c, bool any_metric = false) const;
    /// Times of a family that nobody measured; empty: of any regime.
    ScoreDistribution new_family(const std::string& regime) const;
    ScoreDistribution time(const std::string& family, Evidence evidence, SpreadOf metric) const;
    ScoreDistribution draw(const IntervalClass& c) const;

    std::vector<Score> network_, device_, family_;
    std::map<IntervalClass, Band> bands_;
    std::map<IntervalClass, std::size_t> groups_;
};

} // namespace archsim
