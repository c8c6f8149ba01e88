#pragma once
// Predictions for rows that the parameters have not seen, and what their errors say about every estimate.

#include "archsim/compare/validation.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// What is left out together: all rows of one network, of one device, or of one family of devices.
enum class LeaveOut : std::uint8_t { model, device, family };
ARCHSIM_API std::string_view name_of(LeaveOut what);

/// Predictions for one measured row, in its own unit; NaN where there is none.
struct LeftOutRow {
    std::string id;
    double shipped = std::numeric_limits<double>::quiet_NaN();        ///< with the parameters of the database
    double without_model = std::numeric_limits<double>::quiet_NaN();  ///< fitted on the other networks
    double without_device = std::numeric_limits<double>::quiet_NaN(); ///< fitted on the other devices
    double without_family = std::numeric_limits<double>::quiet_NaN(); ///< fitted on the other families
};

/// The same statistics as for shipped parameters, over left-out predictions. Intervals are nested: those of a
/// row come from a table that has not seen the row's network, device or family either.
struct LeftOutValidation {
    Validation without_model, without_device, without_family;
    std::size_t outdated = 0; ///< rows whose shipped prediction has moved by more than 1 % since, or is new
};
ARCHSIM_API LeftOutValidation left_out_validation(const Validation& shipped,
                                                  const std::vector<LeftOutRow>& rows);

/// Numbers that measurements decided, beside the rows that carry them.
struct FitSupport {
    std::string kind, name;             ///< "device" or "stack", and its id
    std::size_t rows = 0, networks = 0; ///< measured times that these numbers decide
    std::size_t fitted = 0, tuned = 0;  ///< of the device's own, or of the stack's
    /// More of them than a third of the rows: they may follow the measurements instead of the chip.
    bool thin() const { return 3 * (fitted + tuned) > rows; }
};

/// A class of estimates and the factors between which measured / predicted lies in 90 % of its rows. Empty
/// selectors cover everything.
struct ResidualClassFacts {
    std::string metric; ///< "latency", "throughput", "prefill", "decode", "energy", "power", ... as SpreadOf
    std::string family, evidence, runtime, regime;
    double low = 1, high = 1;
    std::size_t rows = 0;
    std::string basis;
};

/// What trusted rows were measured on.
struct MeasuredOn {
    std::vector<std::string> devices; ///< ids, sorted
    std::vector<std::string> stacks;  ///< family and stack, "npu hailort", sorted
    std::vector<std::string> pairs;   ///< device and stack, "Hailo-8 hailort", sorted
};
ARCHSIM_API MeasuredOn measured_on(const Validation& validation);

/// Least widths of projections: those of a CPU that nobody measured, for families whose devices run the same
/// libraries; what leaving whole families out costs for families where every chip brings its own compiler,
/// never narrower than the former.
ARCHSIM_API std::vector<ResidualClassFacts>
projection_classes(const std::vector<ResidualClassFacts>& classes);

/// The interval table that left-out rows of weight >= kTrustedWeight support: conformal over what is
/// exchangeable.
///
/// Evidence `device` takes the errors of left-out networks on devices that were measured with other networks
/// under the same stack, every network counting alike; `stack` those of left-out devices under stacks that
/// other devices carry, every device counting alike; `none` those of left-out families. The 5th and 95th
/// percentiles of a class come from its groups and, with the weight of five groups more, from the class
/// around it: all families, the family, the metric, and where five groups have rows of it the stack and the
/// regime. A family without rows takes the width of leaving whole families out. With k groups in the family
/// (or of the stack) the percentiles lie 1 + 2 / (k + 5) times as far out. Energy starts from time blurred by
/// 25 % of power.
ARCHSIM_API std::vector<ResidualClassFacts> residual_classes(const LeftOutValidation& left_out);

} // namespace archsim
