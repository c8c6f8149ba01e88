#pragma once
// Estimates as sums of terms, each a function of few factors. Shapley values are linear in the function and
// give nothing to factors that a term does not depend on, so each term is split over its own factors only.

#include "answers/difference/attribution.hpp"
#include "answers/difference/estimate_record.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <vector>

namespace archsim {

/// Part of each of `players` in f(all) - f(none): the mean, over all orders in which the players change
/// sides, of what f gains when that player does. `f(mask)` has bit i set where player i is on the first side.
/// 2^n evaluations. Worked: f = x y with x 2 -> 3 and y 10 -> 20: x gets (3 - 2)(10 + 20) / 2 = 15, y
/// gets 25.
template <class F>
std::vector<double> shapley(std::size_t players, F&& f) {
    const std::size_t sets = std::size_t{1} << players;
    std::vector<double> value(sets);
    for (std::size_t mask = 0; mask < sets; ++mask)
        value[mask] = f(static_cast<std::uint32_t>(mask));
    // weight[s] = s! (n - s - 1)! / n!
    std::vector<double> weight(players);
    for (std::size_t s = 0; s < players; ++s) {
        double w = 1.0 / static_cast<double>(players);
        for (std::size_t i = 0; i < s; ++i) // 1 / (n binomial(n - 1, s))
            w *= static_cast<double>(i + 1) / static_cast<double>(players - 1 - i);
        weight[s] = w;
    }
    std::vector<double> part(players, 0.0);
    for (std::size_t mask = 0; mask < sets; ++mask)
        for (std::size_t i = 0; i < players; ++i)
            if (!(mask >> i & 1U))
                part[i] += weight[static_cast<std::size_t>(std::popcount(mask))] *
                           (value[mask | std::size_t{1} << i] - value[mask]);
    return part;
}

inline constexpr std::size_t kNetwork = static_cast<std::size_t>(-1); ///< "region" of whole-network terms

/// Sums of parts by factor, and by region and factor.
class PartSums {
  public:
    explicit PartSums(std::size_t regions) : by_region_(regions + 1) {}

    void add(std::size_t region, Factor factor, double value) {
        total_[static_cast<std::size_t>(factor)] += value;
        row(region)[static_cast<std::size_t>(factor)] += value;
    }
    double total(Factor factor) const { return total_[static_cast<std::size_t>(factor)]; }
    const std::array<double, kFactorCount>& region(std::size_t region) const {
        return by_region_[region == kNetwork ? by_region_.size() - 1 : region];
    }
    /// Gives what `from` has of a region to `to`; its amount.
    double move(std::size_t region, Factor from, Factor to) {
        const double value = row(region)[static_cast<std::size_t>(from)];
        if (value != 0) {
            add(region, from, -value);
            row(region)[static_cast<std::size_t>(from)] = 0; // without rounding
            add(region, to, value);
        }
        return value;
    }
    void scale(double factor) {
        for (double& x : total_)
            x *= factor;
        for (auto& one : by_region_)
            for (double& x : one)
                x *= factor;
    }

  private:
    std::array<double, kFactorCount>& row(std::size_t region) {
        return by_region_[region == kNetwork ? by_region_.size() - 1 : region];
    }
    std::array<double, kFactorCount> total_{};
    std::vector<std::array<double, kFactorCount>> by_region_;
};

struct Pair {
    double a = 0, b = 0;
    double of(bool first) const { return first ? a : b; }
    bool equal() const { return a == b; }
    /// A device without the quantity (NaN) has no rate of its own: the other's stands in.
    void complete(double otherwise) {
        if (std::isnan(a))
            a = std::isnan(b) ? otherwise : b;
        if (std::isnan(b))
            b = a;
    }
};

/// Splits scale x product of the pairs.
void add_product(std::size_t region, double scale, const std::vector<std::pair<Factor, Pair>>& factors,
                 PartSums& sums);

/// Splits any function of the listed factors; `f(first)` gets for each of them which side it is on.
void add_function(std::size_t region, const std::vector<Factor>& factors,
                  const std::function<double(std::uint32_t mask)>& f, PartSums& sums);

/// One graph on both sides. A side that lacks it has a record without kernels.
struct GraphPair {
    const GraphRecord *a = nullptr, *b = nullptr;
};

/// Two estimates set against each other: regions hold kernels of the graphs of A (index 0) and B (index 1),
/// either of which may be none.
struct Sides {
    const EstimateRecord &a, &b;
    std::vector<GraphPair> graphs; ///< by CommonRegion::part
    const std::vector<CommonRegion>& regions;
    /// By region: it computes the same on both sides in as many kernels, while others do not. Empty: none
    /// does.
    const std::vector<bool> displaced = {};
};

/// Events of a list, and joules that they cost.
double count_of(const EventCounts& events, std::initializer_list<Event> list);
double joules_of(const EnergyBreakdown& energy, std::initializer_list<Event> list);

/// The time that is taken apart: that of one batch, or the time between finished items.
enum class TimeOf : std::uint8_t { batch, item };
void attribute_time(const Sides& sides, TimeOf time, PartSums& sums);
/// The change in cost of displaced regions goes to Factor::placement, but for what clocks, prices and streams
/// make of it.
void attribute_displacement(const Sides& sides, PartSums& sums);

/// The difference in a metric, by factor and by region, without inputs. Absent where one side has no value or
/// the metric has no causes of its own.
std::optional<Attribution> attribute(const Sides& sides, const Metric& metric, PartSums& sums);

/// Values and sources of factors on one device. What they share is summed once, when it is first asked for.
class FactorInputs {
  public:
    FactorInputs(const Result& result, const CostOptions& cost);
    ~FactorInputs();
    FactorInput of(Factor factor);

  private:
    struct Totals;
    const Totals& totals();
    void fill_time(Factor factor, FactorInput& out);

    const Result& result_;
    const CostOptions& cost_;
    std::unique_ptr<Totals> totals_;
};

struct AlignedEstimates {
    std::vector<GraphPair> graphs;    ///< by CommonRegion::part
    std::list<GraphRecord> stand_ins; ///< without kernels, for graphs that one side lacks
    std::vector<CommonRegion>
        regions;             ///< kernels of A (0) and B (1); those of one side alone have none of the other
    std::size_t aligned = 0; ///< pairs of operators
    /// By region: it computes the same on both sides, operators, sizes and number of kernels.
    std::vector<bool> unchanged;
};

/// Regions that compute the same on the same device under the same conditions, in a network that is another:
/// what they cost more or less is for the room that the rest leaves them. Empty where there are none.
std::vector<bool> displaced_regions(const EstimateRecord& a, const EstimateRecord& b,
                                    const AlignedEstimates& aligned);

/// Graphs are paired by name, else in order; kernels that share an aligned operator are one region.
AlignedEstimates align(const EstimateRecord& a, const EstimateRecord& b);

} // namespace archsim
