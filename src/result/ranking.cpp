#include "result/ranking.hpp"

#include "result/error_terms.hpp"
#include "result/ties.hpp"

#include <algorithm>
#include <optional>

namespace archsim {

std::vector<Rank> rank_results(std::span<const Result> results, const Metric& by,
                               const CostOptions& conditions) {
    const Contest contest(results, by, conditions);
    std::vector<Rank> ranks(results.size());
    for (std::size_t i = 0; i < results.size(); ++i)
        ranks[i].result = i;
    std::stable_sort(ranks.begin(), ranks.end(), [&](const Rank& a, const Rank& b) {
        const auto &x = contest.measure(a.result), &y = contest.measure(b.result);
        if (!x || !y)
            return x && !y;
        return better(by, x->value, y->value);
    });
    const auto unranked = [&](const Rank& rank) { // stands in brackets where its estimate puts it
        const Estimate& e = results[rank.result].estimate;
        return e.projected || !e.uncounted.empty();
    };
    int measured = 0;       // results placed so far
    Rank* leader = nullptr; // of the group that is being filled
    for (Rank& own : ranks) {
        if (!contest.measure(own.result))
            break;
        if (unranked(own))
            continue;
        ++measured;
        if (leader != nullptr && contest.probability_better(leader->result, own.result) < kToldApart) {
            own.place = leader->place;
            own.tied = leader->tied = true;
        } else {
            own.place = measured;
            leader = &own;
        }
    }
    int next = measured + 1; // a projection stands before the measured result that follows it
    for (auto own = ranks.rbegin(); own != ranks.rend(); ++own) {
        if (!contest.measure(own->result))
            continue;
        if (unranked(*own))
            own->place = next;
        next = own->place;
    }
    return ranks;
}

} // namespace archsim
