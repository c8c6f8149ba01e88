#pragma once
// Exact Shapley values of functions of few two-valued factors.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace archsim {

/// Part of each of `players` in f(all) - f(none): the mean, over all orders in which the players change
/// sides, of what f gains when that player does. `f(mask)` has bit i set where player i is on the first side.
/// 2^n evaluations. Worked: f = x y with x 2 -> 3 and y 10 -> 20: x gets (3 - 2)(10 + 20) / 2 = 15, y
/// gets 25.
template <class F>
std::vector<double> shapley(std::size_t players, F&& f) {
    const std::size_t sets = std::size_t{1} << players;
    std::vector<double> value(sets);
    for (std::size_t mask = 0; mask < sets; ++mask)
        value[mask] = f(static_cast<std::uint32_t>(mask));
    // weight[s] = s! (n - s - 1)! / n!
    std::vector<double> weight(players);
    for (std::size_t s = 0; s < players; ++s) {
        double w = 1.0 / static_cast<double>(players);
        for (std::size_t i = 0; i < s; ++i) // 1 / (n binomial(n - 1, s))
            w *= static_cast<double>(i + 1) / static_cast<double>(players - 1 - i);
        weight[s] = w;
    }
    std::vector<double> part(players, 0.0);
    for (std::size_t mask = 0; mask < sets; ++mask)
        for (std::size_t i = 0; i < players; ++i)
            if (!(mask >> i & 1U))
                part[i] += weight[static_cast<std::size_t>(std::popcount(mask))] *
                           (value[mask | std::size_t{1} << i] - value[mask]);
    return part;
}

} // namespace archsim
