#include "archsim/serving/serving_result.hpp"

#include <algorithm>

namespace archsim {

std::vector<bool> serving_frontier(std::span<const ServingResult> results) {
    std::vector<bool> on(results.size(), false);
    for (std::size_t i = 0; i < results.size(); ++i) {
        const ServingResult& r = results[i];
        const auto counts = [](const ServingResult& one) { return one.ok && one.doubt.empty(); };
        on[i] = counts(r) && std::none_of(results.begin(), results.end(), [&](const ServingResult& other) {
                    return counts(other) && other.tokens_per_device() >= r.tokens_per_device() &&
                           other.tokens_per_user() >= r.tokens_per_user() &&
                           (other.tokens_per_device() > r.tokens_per_device() ||
                            other.tokens_per_user() > r.tokens_per_user());
                });
    }
    return on;
}

} // namespace archsim
