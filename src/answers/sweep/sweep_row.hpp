#pragma once
// Points of a design space, what came of them, and what a sweep concludes: Pareto fronts and sensitivities.

#include "archsim/compare/metric.hpp"
#include "archsim/estimate/estimate.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace archsim {

/// One dimension of a design space: factors on a part of a device, "bandwidth" x 0.5, 1, 2, 4. The names are
/// those of Lever (rates, costs, limits) and Structure (units, array sizes, on-chip memory, clock).
struct SweepAxis {
    std::string name;
    std::vector<double> factors;
};

/// One estimate of a sweep, totals only.
struct SweepRow {
    std::uint64_t point = 0; ///< index in the whole space, the same for every shard and thread count
    std::string model, hardware, runtime, precision, executed;
    std::int64_t batch = 1;
    std::vector<double> factors; ///< one per axis
    Status status = Status::ok;
    std::string reason; ///< when not ok
    const MetricTable* metrics = &MetricTable::standard();
    std::vector<std::optional<Measure>> measures; ///< one per metric; empty when not ok
    bool power_limited = false;
    Standing standing = Standing::leads; ///< what may not lead wins nothing

    /// What the metric makes of the row; absent where it is none of `metrics`, or has no value here.
    std::optional<double> value(const Metric& metric) const;
};

/// The rows that no other row of the same model beats in both metrics; fed one row at a time, so that a
/// million rows need the memory of the front alone.
class ParetoFront {
  public:
    /// Fronts of these two metrics, which must outlive it.
    ParetoFront(const Metric& first, const Metric& second) : first_(&first), second_(&second) {}
    /// Takes a row in; it may leave again when a better one comes.
    void add(const SweepRow& row);
    /// By model, then by the first metric, best first; of rows that may lead, where any may.
    std::vector<SweepRow> rows() const;
    /// The first metric.
    const Metric& first() const { return *first_; }
    /// The second metric.
    const Metric& second() const { return *second_; }

  private:
    const Metric *first_, *second_;
    std::vector<SweepRow> front_, unranked_; ///< unranked: of rows that may not lead
};

/// What one axis does by itself: every other axis at the device's own value.
struct AxisSensitivity {
    std::string axis;
    double low_factor = 1, high_factor = 1;
    double low_value = 0, high_value = 0, own_value = 0; ///< of the metric
    /// Distance between the values at both ends.
    double swing() const { return low_value < high_value ? high_value - low_value : low_value - high_value; }
};

} // namespace archsim
