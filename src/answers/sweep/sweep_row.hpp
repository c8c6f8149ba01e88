#pragma once
// Points of a design space, what came of them, and what a sweep concludes: Pareto fronts and sensitivities.

#include "archsim/compare/metric.hpp"
#include "archsim/estimate/estimate.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
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
    const Metric& first() const { return *first_; }
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

/// The best rows of each model by one metric; fed one row at a time, so that a million rows need the memory
/// of the best alone. Rows without the metric are left out.
class BestRows {
  public:
    /// Keeps `most` rows per model, 0: all, by `metric`, which must outlive it.
    BestRows(const Metric& metric, std::size_t most) : metric_(&metric), most_(most) {}
    /// Takes a row in; it may leave again when better ones come.
    void add(const SweepRow& row);
    /// By model, best first, what may not lead behind the others; of equal values the lower point first.
    std::vector<SweepRow> rows() const;
    const Metric& metric() const { return *metric_; }

  private:
    bool before(const SweepRow& a, const SweepRow& b) const;
    void keep_best(std::vector<SweepRow>& rows) const;

    const Metric* metric_;
    std::size_t most_;
    std::map<std::string, std::vector<SweepRow>> kept_; ///< at most twice as many as wanted
};

} // namespace archsim
