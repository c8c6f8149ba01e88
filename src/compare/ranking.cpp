#include "archsim/compare/ranking.hpp"

#include <algorithm>

namespace archsim {

std::vector<Rank> rank_results(std::span<const Result> results, const Metric& by,
                               const CostOptions& conditions) {
    std::vector<Rank> ranks(results.size());
    std::vector<std::optional<Measure>> measures(results.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
        ranks[i].result = i;
        measures[i] = measure_of(results[i], by, conditions);
    }
    std::stable_sort(ranks.begin(), ranks.end(), [&](const Rank& a, const Rank& b) {
        const auto &x = measures[a.result], &y = measures[b.result];
        if (!x || !y)
            return x && !y;
        return better(by, x->value, y->value);
    });
    std::size_t leader = 0;
    for (std::size_t i = 0; i < ranks.size() && measures[ranks[i].result]; ++i) {
        if (i > 0 && measures[ranks[i].result]->interval.overlaps(measures[ranks[leader].result]->interval)) {
            ranks[i].place = ranks[leader].place;
            ranks[i].tied = ranks[leader].tied = true;
        } else {
            ranks[i].place = static_cast<int>(i) + 1;
            leader = i;
        }
    }
    return ranks;
}

} // namespace archsim
