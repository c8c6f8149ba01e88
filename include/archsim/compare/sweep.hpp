#pragma once
// Points of a design space, what came of them, and what a sweep concludes: Pareto fronts and sensitivities.

#include "archsim/compare/objective.hpp"
#include "archsim/core/export.hpp"
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
    double latency_s = 0;
    Interval latency_interval;
    double throughput_per_s = 0, power_w = 0, energy_per_inference_j = 0, utilization = 0;
    double peak_memory_bytes = 0;
    bool power_limited = false;
};

/// A value of a row for people and for fronts: latency, throughput, energy, power, memory or balance. Throws
/// UsageError for cost, which no row has.
ARCHSIM_API double value_of(const SweepRow& row, Objective objective);

/// The rows that no other row of the same model beats in both objectives; fed one row at a time, so that a
/// million rows need the memory of the front alone.
class ARCHSIM_API ParetoFront {
  public:
    /// Fronts of these two objectives.
    ParetoFront(Objective first, Objective second) : first_(first), second_(second) {}
    /// Takes a row in; it may leave again when a better one comes.
    void add(const SweepRow& row);
    /// By model, then by the first objective, best first.
    std::vector<SweepRow> rows() const;
    /// The first objective.
    Objective first() const { return first_; }
    /// The second objective.
    Objective second() const { return second_; }

  private:
    Objective first_, second_;
    std::vector<SweepRow> front_;
};

/// What one axis does by itself: every other axis at the device's own value.
struct AxisSensitivity {
    std::string axis;
    double low_factor = 1, high_factor = 1;
    double low_value = 0, high_value = 0, own_value = 0; ///< of the objective
    /// Distance between the values at both ends.
    double swing() const { return low_value < high_value ? high_value - low_value : low_value - high_value; }
};

} // namespace archsim
