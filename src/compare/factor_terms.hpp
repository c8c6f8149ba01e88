#pragma once
// Estimates as sums of terms, each a function of few factors. Shapley values are linear in the function and
// give nothing to factors that a term does not depend on, so each term is split over its own factors only.

#include "archsim/compare/attribution.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

namespace archsim {

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

/// Two values of one factor.
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

// Parts, one file each. `regions` are the common regions of the two results (index 0 is A, 1 is B).

/// Time of one batch: latency, or with `interval` the time between finished batches.
void attribute_time(const Result& a, const Result& b, const std::vector<CommonRegion>& regions, bool interval,
                    PartSums& sums);
/// Energy of one batch; with `per_second` over the interval between batches: power.
void attribute_energy(const Result& a, const Result& b, const std::vector<CommonRegion>& regions,
                      bool per_second, PartSums& sums);

/// Value and sources of a factor on one device.
FactorInput input_of(const Result& result, Factor factor, const CostOptions& cost);

/// Seconds between finished batches.
inline double interval_of_batches(const Result& result) {
    return result.estimate.batch / result.estimate.throughput_per_s;
}

} // namespace archsim
