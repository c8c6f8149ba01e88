#include "archsim/compare/ranking.hpp"

#include <algorithm>

namespace archsim {

namespace {

Interval interval_of(const Estimate& e, RankBy by) {
    switch (by) {
    case RankBy::latency:
        return e.latency_interval;
    case RankBy::throughput:
        return {-e.throughput_interval.high, -e.throughput_interval.low};
    case RankBy::energy:
        return e.energy_interval;
    case RankBy::power:
        return {e.power_w, e.power_w};
    case RankBy::memory:
        return {e.memory.peak_bytes, e.memory.peak_bytes};
    }
    return {};
}

} // namespace

double ranking_value(const Estimate& e, RankBy by) {
    switch (by) {
    case RankBy::latency:
        return e.latency_s;
    case RankBy::throughput:
        return -e.throughput_per_s;
    case RankBy::energy:
        return e.energy_per_inference_j;
    case RankBy::power:
        return e.power_w;
    case RankBy::memory:
        return e.memory.peak_bytes;
    }
    return 0;
}

std::vector<Rank> rank_results(std::span<const Result> results, RankBy by) {
    std::vector<Rank> ranks(results.size());
    for (std::size_t i = 0; i < results.size(); ++i)
        ranks[i].result = i;
    std::stable_sort(ranks.begin(), ranks.end(), [&](const Rank& a, const Rank& b) {
        const Result &x = results[a.result], &y = results[b.result];
        if (!x.ok() || !y.ok())
            return x.ok() && !y.ok();
        return ranking_value(x.estimate, by) < ranking_value(y.estimate, by);
    });
    const Rank* leader = nullptr;
    for (std::size_t i = 0; i < ranks.size() && results[ranks[i].result].ok(); ++i) {
        const Interval own = interval_of(results[ranks[i].result].estimate, by);
        if (leader && own.overlaps(interval_of(results[leader->result].estimate, by))) {
            ranks[i].place = leader->place;
            ranks[i].tied = ranks[static_cast<std::size_t>(leader - ranks.data())].tied = true;
        } else {
            ranks[i].place = static_cast<int>(i) + 1;
            leader = &ranks[i];
        }
    }
    return ranks;
}

} // namespace archsim
