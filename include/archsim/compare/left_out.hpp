#pragma once
// Predictions for rows that the parameters have not seen, and what their errors say about every estimate.

#include "archsim/compare/validation.hpp"

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace archsim {

/// Predictions for one measured row, in its own unit; NaN where there is none.
struct LeftOutRow {
    std::string id;
    double shipped = std::numeric_limits<double>::quiet_NaN();        ///< with the parameters of the database
    double without_model = std::numeric_limits<double>::quiet_NaN();  ///< fitted on the other networks
    double without_device = std::numeric_limits<double>::quiet_NaN(); ///< fitted on the other devices
};

/// The same statistics as for shipped parameters, over left-out predictions with the shipped intervals around
/// them; without its measurements a device has the interval of one that nobody measured
/// (Prediction::unfitted_low).
struct LeftOutValidation {
    Validation without_model, without_device;
    std::size_t outdated = 0; ///< rows whose shipped prediction has moved by more than 1 % since, or is new
};
ARCHSIM_API LeftOutValidation left_out_validation(const Validation& shipped,
                                                  const std::vector<LeftOutRow>& rows);

/// A class of estimates and the factors between which measured / predicted lies in 90 % of its rows. Empty
/// selectors cover everything.
struct ResidualClassFacts {
    std::string metric; ///< "latency" or "energy"
    std::string family, runtime, evidence, regime;
    double low = 1, high = 1;
    std::size_t rows = 0;
    std::string basis;
};

/// What trusted rows were measured on.
struct MeasuredOn {
    std::vector<std::string> devices; ///< ids, sorted
    std::vector<std::string> stacks;  ///< family and stack, "npu hailort", sorted
};
ARCHSIM_API MeasuredOn measured_on(const Validation& validation);

/// Least widths of projections: those of a CPU that nobody measured, for families whose chips run the same
/// libraries; a factor of 3.5 for families where every chip brings its own compiler. The latter is what whole
/// kinds of such chips were off by when their vendors' tables appeared, 3 to 4, until measurements say more.
ARCHSIM_API std::vector<ResidualClassFacts>
projection_classes(const std::vector<ResidualClassFacts>& classes);

/// The interval table that left-out rows of weight >= kTrustedWeight support.
///
/// Evidence `device` takes the errors of left-out networks on devices with a fit of their own; `stack` those
/// of left-out networks on the other devices together with those of left-out devices; `none` the latter,
/// 1.5 times as wide on a logarithmic scale and at least a factor of 1.6. The 5th and 95th percentiles of a
/// class are drawn towards those of the class around it (all, family, family with evidence, software stack,
/// regime) with the weight of 15 rows: (n q + 15 q_around) / (n + 15). Worked: 6 rows with a 95th percentile
/// of log 1.2 inside a class at log 1.4 give (6 x 0.182 + 15 x 0.336) / 21 = 0.292, a factor of 1.34. A
/// family of fewer than 10 rows takes at least a factor of two. Energy adds 25 % of power to the time.
ARCHSIM_API std::vector<ResidualClassFacts> residual_classes(const LeftOutValidation& left_out);

} // namespace archsim
