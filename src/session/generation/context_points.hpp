#pragma once
#include <cstdint>
#include <utility>
#include <vector>

namespace archsim {

/// Contexts at which decode steps are priced, with weights that add up to one: Simpson's rule over [first,
/// last], exact where time is a cubic of the context. Worked: 513 to 639 -> 513, 576, 639 with 1/6, 4/6, 1/6.
inline std::vector<std::pair<std::int64_t, double>> context_points(std::int64_t first, std::int64_t last) {
    if (last <= first)
        return {{first, 1.0}};
    if (last - first == 1)
        return {{first, 0.5}, {last, 0.5}};
    return {{first, 1.0 / 6}, {(first + last) / 2, 4.0 / 6}, {last, 1.0 / 6}};
}

} // namespace archsim
