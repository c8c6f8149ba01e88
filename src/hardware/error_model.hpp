#pragma once
// One model of how far estimates err. log(measured / predicted) of an estimate is a sum of effects, each
// shared by those estimates that have its owner in common:
//
//   device    all estimates of a chip                  network     a workload under a stack, on every chip
//   lane      those of a chip that compute, move, wait  generation  the same, on chips of one generation
//   set       a chip under a stack, for one metric     cell        a network on this chip
//   stack     a stack, for one metric                  rest        this network, batch and format alone
//
// In: variances that hardware_db/uncertainty.json states, and what was measured. Out: the variance of every
// effect for one estimate. Networks that were measured of a set narrow what they have in common.

#include "archsim/core/names.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// The quantity that a width is for. Prefill and decode are the time per prompt and per generated token of a
/// language model; first and later token what clients of a server wait for under load, of one whose options
/// somebody chose and of one at its stack's defaults.
enum class SpreadOf : std::uint8_t {
    latency,
    throughput,
    prefill,
    decode,
    energy,
    power,
    first_token,
    later_token,
    default_first_token,
    default_later_token
};
/// True for what clients of a server wait for.
constexpr bool of_waits(SpreadOf metric) {
    return metric >= SpreadOf::first_token;
}
/// Whether it is of servers at their stack's defaults alone.
constexpr bool of_defaults(SpreadOf metric) {
    return metric >= SpreadOf::default_first_token;
}
/// True for power and energy.
constexpr bool of_draw(SpreadOf metric) {
    return metric == SpreadOf::energy || metric == SpreadOf::power;
}

/// Shares of an estimate's time that compute, move data, and start things; they add up to 1.
using LaneShares = std::array<double, 3>;

/// Student's t that errors follow, and its standard deviations from the median to the 95th percentile.
inline constexpr int kErrorDegreesOfFreedom = 4;
inline constexpr double kErrorReach = 2.1318467863;

/// Variances of the effects in the logarithm of one estimate.
struct ErrorParts {
    double device = 0, lane = 0, set = 0, stack = 0, network = 0, generation = 0, cell = 0, rest = 0;
    /// Part of `rest` that a chip has while nobody measured it, by the few workloads that it runs unlike
    /// others.
    double stray = 0;
    /// The variance of an estimate whose lanes have these squares: the sum of squared shares, 1 where one
    /// lane takes all.
    double total(double squares = 1) const {
        return device + lane * squares + set + stack + network + generation + cell + rest;
    }
};

/// Which effects the errors of two estimates have in common.
struct CommonEffects {
    bool device = false;
    bool set = false;        ///< the device, the stack and the metric
    bool stack = false;      ///< the stack and the metric, on devices of one family
    bool workload = false;   ///< the network, batch and format under one stack
    bool generation = false; ///< the workload, and the generation of the chips
    bool cell = false;       ///< the device and the network
};

/// Covariance of two errors; `lanes`: the sum of products of their lane shares.
double covariance(const ErrorParts& a, const ErrorParts& b, const CommonEffects& common, double lanes);

struct ErrorSubject {
    std::string_view family, device, runtime, base; ///< `base`: of the stack, where it extends another
    SpreadOf metric = SpreadOf::latency;
    bool kin = true; ///< the stack's parameters are known of this generation of chips
};

/// The fitted variances. Empty selectors cover everything.
struct ErrorModel {
    /// The error of a new network on a chip that was measured with others.
    struct Within {
        std::string family, runtime;
        int metric = -1; ///< a SpreadOf; -1: any time
        double variance = 0;
        int rows = 0;
    };
    /// The error of a set that nobody measured: what its estimates share, and how many times as far they
    /// scatter.
    struct Fresh {
        std::string family;
        bool draw = false; ///< of power and energy; else of times
        double variance = 0, scatter = 1;
        int devices = 0;
    };
    /// Networks measured on a device under a stack.
    struct Set {
        std::string family, device, runtime;
        SpreadOf metric = SpreadOf::latency;
        int networks = 0;
    };
    std::vector<Within> within;
    std::vector<Fresh> fresh;
    std::vector<Set> sets;
    double unmeasured_stack = 0;              ///< more variance where nobody measured the stack
    double device_share = 0, lane_share = 0;  ///< of what a set's estimates share
    double network_share = 0, cell_share = 0; ///< of the variance within
    double generation_share = 0;              ///< of the same, beside network_share
    /// How far two estimates of one workload differ from what was measured: the variance of the difference in
    /// units of what the effects make of it. Tails of two errors seldom meet.
    double difference_scale = 1;
    double degrees_of_freedom = kErrorDegreesOfFreedom; ///< of Student's t that all of it follows

    /// Networks that were measured of the set.
    int networks(const ErrorSubject& of) const;
    /// Devices of the family that were measured under the stack.
    int devices(const ErrorSubject& of) const;
    /// Variances of one estimate.
    ErrorParts parts(const ErrorSubject& of) const;
    /// The same with counts of one's own: networks of the set, devices of the stack, other sets of the
    /// device.
    ErrorParts parts(const ErrorSubject& of, int networks, int devices, int other_sets) const;
    /// The narrowest row of `within` that covers a metric; null where there is none.
    const Within* row_for(const ErrorSubject& of) const;
    /// Standard deviations from the median to the 95th percentile.
    double reach() const;
    /// Probability that a deviation is at most `deviations` standard ones.
    double at_most(double deviations) const;
};

/// Distribution function of Student's t with an even number of degrees of freedom (Abramowitz and Stegun,
/// 26.7.4). Worked: 4 degrees, t = 2.132: 0.950.
double student_t(double t, int degrees_of_freedom);

} // namespace archsim
