#pragma once
// How a few measurements of one's own move other estimates: the mean and the variance of a log error given
// those of some rows. Closed form; nothing is fitted.

#include "hardware/error_model.hpp"

namespace archsim {

/// A measurement of one's own, held against its estimate.
struct GivenRow {
    std::string family, device, runtime;
    SpreadOf metric = SpreadOf::latency;
    LaneShares lanes{1, 0, 0};
    double log_ratio = 0; ///< of measured and estimated time; of a rate with the sign turned
    ErrorParts parts;     ///< of the estimate's error
};

/// The error of one machine's estimates, as a function of their lanes w: mean[0] + mean[1 + l] w_l, and a
/// variance that falls by q' F q with q = (1, w).
struct Posterior {
    int rows = 0; ///< that share something with it
    std::array<double, 4> mean{};
    std::array<std::array<double, 4>, 4> fall{};

    /// By how much the logarithm of an estimate with these lanes moves.
    double mean_at(const LaneShares& lanes) const;
    /// By how much its variance falls.
    double fall_at(const LaneShares& lanes) const;
};

/// The posterior of the estimates of a device under a stack, whose errors consist of `parts`.
///
/// Rows and estimate share the effects of the device, its lanes, the set and the stack (error_model.hpp). A
/// chip that nobody had measured shares much, and follows one row nearly all the way; shrunk, because a row
/// has an error of its own too. Worked: common variance 0.09, rest 0.03, one row at ln 1.3: mean 0.262 x 0.09
/// / 0.12 = 0.197.
Posterior posterior(const std::vector<GivenRow>& rows, const ErrorSubject& of, const ErrorParts& parts);

} // namespace archsim
