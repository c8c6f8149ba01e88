#pragma once
// Quantiles of sorted values.

#include <algorithm>
#include <cstddef>
#include <vector>

namespace archsim {

/// Linear between ranks; `share` from 0 to 1, `sorted` not empty.
inline double quantile(const std::vector<double>& sorted, double share) {
    const double position = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

} // namespace archsim
