#include "archsim/compare/ranking.hpp"

#include "archsim/compare/ties.hpp"

#include <algorithm>
#include <optional>

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
    for (Rank& own : ranks) {
        const auto& x = measures[own.result];
        if (!x)
            continue;
        own.place = 1;
        for (const Rank& other : ranks) {
            const auto& y = measures[other.result];
            if (&other == &own || !y)
                continue;
            const Result &a = results[own.result], &b = results[other.result];
            own.place +=
                !b.estimate.projected && b.estimate.uncounted.empty() && surely_better(by, b, *y, a, *x);
            own.tied = own.tied || archsim::tied(by, a, *x, b, *y);
        }
    }
    return ranks;
}

} // namespace archsim
