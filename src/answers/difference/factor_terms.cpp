#include "answers/difference/factor_terms.hpp"

#include "answers/difference/shapley.hpp"

namespace archsim {

void add_function(std::size_t region, const std::vector<Factor>& factors,
                  const std::function<double(std::uint32_t mask)>& f, PartSums& sums) {
    const std::vector<double> parts = shapley(factors.size(), f);
    for (std::size_t i = 0; i < factors.size(); ++i)
        sums.add(region, factors[i], parts[i]);
}

void add_product(std::size_t region, double scale, const std::vector<std::pair<Factor, Pair>>& factors,
                 PartSums& sums) {
    std::vector<Factor> different;
    std::vector<Pair> pairs;
    for (const auto& [factor, pair] : factors)
        if (pair.equal()) {
            scale *= pair.a;
        } else {
            different.push_back(factor);
            pairs.push_back(pair);
        }
    if (different.empty() || scale == 0)
        return;
    add_function(
        region, different,
        [&](std::uint32_t mask) {
            double product = scale;
            for (std::size_t i = 0; i < pairs.size(); ++i)
                product *= pairs[i].of(mask >> i & 1U);
            return product;
        },
        sums);
}

} // namespace archsim
