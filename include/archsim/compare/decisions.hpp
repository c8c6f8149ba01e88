#pragma once
// From numbers to a choice: which results meet the user's limits and by how much, which of them nothing else
// beats in everything, which one to take.

#include "archsim/compare/metric.hpp"
#include "archsim/core/export.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace archsim {

/// A limit in the metric's SI unit: at most, or at least where higher is better.
struct Constraint {
    const Metric* metric = nullptr;
    double limit = 0;
};

/// One constraint on one device.
struct Verdict {
    Constraint constraint;
    std::optional<double> value;
    bool met = false;
    bool certain = false; ///< the whole 90 % interval is on the same side of the limit
    /// That the limit is met: the interval's ends are the 5 % and 95 % points of Student's t of 4 degrees of
    /// freedom in logarithms on either side of the value. Worked: value 10 ms, interval to 14 ms, limit 11
    /// ms: t = 2.132 ln 1.1 / ln 1.4 = 0.604: 0.71.
    double probability = 0;
    double headroom =
        0; ///< room relative to the limit: 0.25 = a quarter below it; negative = short by that much
};

/// Constraints and the metric to decide by.
struct DecisionRequest {
    std::vector<Constraint> constraints;
    std::vector<const Metric*> pareto;           ///< of the front; empty: none is marked
    const Metric* preference = &metric::latency; ///< decides among those that meet the constraints
    CostOptions cost;
    /// True when there is something to decide.
    bool active() const { return !constraints.empty() || !pareto.empty(); }
};

/// Verdicts under constraints and a recommendation.
struct Decision {
    DecisionRequest request;
    std::vector<std::vector<Verdict>> verdicts; ///< per result, per constraint
    std::vector<bool> qualifies, on_front;      ///< per result
    std::optional<Winner> recommended;          ///< best of those that qualify
    /// When none qualifies: the one whose largest shortfall is smallest, and that constraint.
    struct Nearest {
        std::size_t result = 0, constraint = 0;
    };
    std::optional<Nearest> nearest;
};

ARCHSIM_API Decision decide(std::span<const Result> results, DecisionRequest request);

/// One thing asked otherwise of a device that runs, tried: what gains at least a twentieth by what ranks and
/// misses no limit that was met.
struct TriedChange {
    std::size_t result = 0; ///< which it changes
    std::string asked;      ///< "--precision fp8", "--hardware Jetson-Orin-Nano@15W"
    double gain = 1;        ///< times as good
    double first_token = 1; ///< times as long to the first token, of what answers prompts
    double probability = 1; ///< that it gains at all
};

} // namespace archsim
