#pragma once
// A fit on the shares of measured times that parameters price, near values at which the shares are known: no
// row is estimated again.
//
// A chip's own value of a parameter may deviate from what all chips share (partial pooling). Shared values
// are fitted first, as if no chip deviated, with weights under which no chip and no source speaks for all;
// then every own value, expected to be what it deviates from. So a source of a hundred rows that all lie 30 %
// off moves itself, and fifty chips that lie 15 % off move what they share.

#include "fit/parameters/fit.hpp"

#include <utility>

namespace archsim {

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
