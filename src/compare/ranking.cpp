#include "archsim/compare/ranking.hpp"

#include "archsim/compare/ties.hpp"

#include <algorithm>
#include <limits>

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

std::string Rank::text() const {
    if (place == 0)
        return "-";
    const std::string number = std::to_string(place) + (tied ? "=" : "");
    return projected ? "(" + number + ")" : number;
}

std::vector<Rank> rank_results(std::span<const Result> results, RankBy by) {
    std::vector<Standing> standings(results.size());
    std::vector<Rank> ranks(results.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
        const Estimate& e = results[i].estimate;
        ranks[i].result = i;
        ranks[i].projected = e.projected;
        standings[i].value =
            results[i].ok() ? ranking_value(e, by) : std::numeric_limits<double>::quiet_NaN();
        standings[i].interval = interval_of(e, by);
    }
    std::stable_sort(ranks.begin(), ranks.end(), [&](const Rank& a, const Rank& b) {
        const Standing &x = standings[a.result], &y = standings[b.result];
        if (!x.known() || !y.known())
            return x.known() && !y.known();
        return x.value < y.value;
    });
    for (Rank& own : ranks) {
        const Standing& x = standings[own.result];
        if (!x.known())
            continue;
        own.place = 1;
        for (const Rank& other : ranks) {
            const Standing& y = standings[other.result];
            if (&other == &own || !y.known())
                continue;
            const Result &a = results[own.result], &b = results[other.result];
            own.place += !other.projected && surely_better(b, y, a, x);
            own.tied = own.tied || archsim::tied(a, x, b, y);
        }
    }
    return ranks;
}

} // namespace archsim
