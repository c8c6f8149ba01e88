#pragma once
// Bounded robust least squares: few parameters, many noisy measurements, some of them wrong.
//
// Minimises  sum_i w_i s^2 rho((r_i / s)^2) + sum_j ((u_j - p_j) / sigma_j)^2  with the soft-L1 loss
// rho(z) = 2 (sqrt(1 + z) - 1), which is quadratic for small residuals and linear for large ones, by
// Levenberg-Marquardt on reweighted residuals (Marquardt 1963; Triggs et al. 2000) with steps projected on
// the bounds. Parameters that are positive by nature are varied on a logarithmic scale: u = log x.

#include <functional>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace archsim {

struct FitVariable {
    std::string name;
    double start = 1;
    double low = 0, high = std::numeric_limits<double>::infinity();
    bool logarithmic = true; ///< needs low > 0 or a positive start
    double prior = 1;        ///< expected value, used where `prior_spread` is finite
    /// Standard deviation of the expectation on the variable's scale (log: 0.3 means about 30 %).
    double prior_spread = std::numeric_limits<double>::infinity();
};

/// Fills one residual per measurement at the parameter values `x`; usually log(predicted / measured).
using ResidualFunction = std::function<void(std::span<const double> x, std::span<double> residuals)>;

struct FitOptions {
    int max_iterations = 40;
    double loss_scale = 0.1; ///< residual where the loss turns from quadratic to linear
    double step = 1e-3;      ///< finite-difference step on the variable's scale
    double tolerance = 1e-5; ///< relative decrease of the cost that ends the search
    /// Relative decrease of the cost, all steps together, below which the start stays as it is: what lies
    /// within it measurements do not tell apart, and a fit from its own result reproduces it.
    double least_gain = 0;
    /// d residual / d (variable on its scale), row by row, to use throughout instead of finite differences:
    /// for refits close to a solution, when a measurement is left out. Empty: differences at every step.
    std::vector<double> jacobian;
};

struct FitResult {
    std::vector<double> values;    ///< one per variable, inside its bounds
    std::vector<double> residuals; ///< at these values
    std::vector<double> jacobian;  ///< of the last linearisation, row by row; close to the end
    double cost = 0;
    int iterations = 0;
    bool converged = false;
};

/// `weights` has one entry per residual; a weight of 0 leaves the measurement out. Throws UsageError on sizes
/// or bounds that contradict each other.
FitResult fit_bounded(const std::vector<FitVariable>& variables, const ResidualFunction& residuals,
                      const std::vector<double>& weights, const FitOptions& options = {});

// A fit on the shares of measured times that parameters price, near values at which the shares are known: no
// row is estimated again.
//
// A chip's own value of a parameter may deviate from what all chips share (partial pooling). Shared values
// are fitted first, as if no chip deviated, with weights under which no chip and no source speaks for all;
// then every own value, expected to be what it deviates from. So a source of a hundred rows that all lie 30 %
// off moves itself, and fifty chips that lie 15 % off move what they share.

/// A measurement near the values at which fits start.
struct PricedRow {
    double residual = 0;   ///< log(predicted / measured) there
    double about_time = 1; ///< -1 where a rate was measured
    /// Variables, each with d log(time) / d log(variable): the share of the time that it prices, negative
    /// where it is a rate.
    std::vector<std::pair<std::size_t, double>> shares;
    double weight = 1, shared_weight = 1; ///< for own values, and for shared ones
};

/// Worked: a variable that prices 10 % of a time and grows tenfold makes it 1.9 times as long, where the
/// logarithm alone would say 10^0.1 = 1.26. `parents`: of each variable that deviates, the one it deviates
/// from; else kShared. Own values are fitted that some of `rows` with a `wanted` use, all where it is empty;
/// others are what they deviate from. The result has no Jacobian.
inline constexpr std::size_t kShared = static_cast<std::size_t>(-1);
FitResult fit_on_shares(const std::vector<FitVariable>& variables, const std::vector<std::size_t>& parents,
                        const std::vector<PricedRow>& rows, const FitOptions& options = {},
                        const std::vector<char>& wanted = {});

} // namespace archsim
