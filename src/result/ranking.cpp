#include "result/ranking.hpp"

#include "core/lists.hpp"
#include "hardware/error_model.hpp"
#include "result/error_terms.hpp"
#include "result/ties.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace archsim {

static std::vector<std::size_t> in_order(const Contest& contest, std::size_t count) {
    std::vector<std::size_t> order = indices(count);
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
        const auto &x = contest.measure(a), &y = contest.measure(b);
        return x && (!y || better(contest.by(), x->value, y->value));
    });
    return order;
}

/// Those that may lead, best first; all that have a value where none may.
static std::vector<std::size_t> rivals_of(std::span<const Result> results, const Contest& contest) {
    std::vector<std::size_t> order = in_order(contest, results.size());
    std::erase_if(order, [&](std::size_t i) { return !contest.measure(i); });
    std::vector<std::size_t> leading = order;
    std::erase_if(leading, [&](std::size_t i) { return !may_lead(results[i].estimate); });
    return leading.empty() ? order : leading;
}

/// Probability of each rival, who come best first, to be the best.
static std::vector<double> odds_of(const Contest& contest, std::vector<std::size_t> rivals) {
    std::vector<double> shares(rivals.size(), 0);
    // Results that hardly ever win decide nothing.
    constexpr double kHardlyEver = 0.005;
    constexpr std::size_t kMost = 16;
    std::vector<std::size_t> field = {0}; // into `rivals`
    for (std::size_t k = 1; k < rivals.size() && field.size() < kMost; ++k)
        if (contest.probability_better(rivals[k], rivals.front()) > kHardlyEver)
            field.push_back(k);
    if (field.size() == 1) {
        shares[0] = 1;
        return shares;
    }
    if (field.size() == 2 || !(contest.measure(rivals.front())->value > 0)) {
        shares[0] = contest.probability_better(rivals[0], rivals[field[1]]);
        shares[field[1]] = 1 - shares[0];
        return shares;
    }
    // A shared error moves all of them: each has the rest of its error to itself.
    double common = 1;
    for (std::size_t k = 1; k < field.size(); ++k)
        common = std::min(common, contest.correlation(rivals.front(), rivals[field[k]]));
    const double sign = contest.by().better == Better::higher ? -1 : 1;
    std::vector<double> middle, scale;
    double low = INFINITY, high = -INFINITY;
    for (const std::size_t k : field) {
        const Measure& m = *contest.measure(rivals[k]);
        const bool wide = m.interval.low > 0 && m.interval.high > m.interval.low;
        const double own = wide ? std::log(m.interval.high / m.interval.low) / (2 * kErrorReach) : 0;
        middle.push_back(sign * std::log(std::max(m.value, 1e-300)));
        scale.push_back(std::max(1e-6, own * std::sqrt(1 - common)));
        low = std::min(low, middle.back() - 5 * scale.back());
        high = std::max(high, middle.back() + 3 * scale.back());
    }
    constexpr int kSteps = 48;
    std::vector<double> before(field.size(), 0), now(field.size());
    double sum = 0;
    for (int step = 1; step <= kSteps; ++step) {
        const double at = low + (high - low) * step / kSteps;
        for (std::size_t k = 0; k < field.size(); ++k)
            now[k] = student_t((at - middle[k]) / scale[k], kErrorDegreesOfFreedom);
        for (std::size_t k = 0; k < field.size(); ++k) {
            double others = 1;
            for (std::size_t j = 0; j < field.size(); ++j)
                if (j != k)
                    others *= 1 - (before[j] + now[j]) / 2;
            const double won = (now[k] - before[k]) * others;
            shares[field[k]] += won;
            sum += won;
        }
        before = now;
    }
    for (const std::size_t k : field)
        shares[k] /= sum;
    return shares;
}

std::string standing_note(const Estimate& estimate) {
    return may_lead(estimate) ? std::string() : " (" + std::string(name_of(standing_of(estimate))) + ")";
}

std::vector<double> shares_of_best(std::span<const Result> results, const Metric& by,
                                   const CostOptions& conditions) {
    const Contest contest(results, by, conditions);
    const std::vector<std::size_t> rivals = rivals_of(results, contest);
    std::vector<double> shares(results.size(), 0);
    if (rivals.empty())
        return shares;
    const std::vector<double> odds = odds_of(contest, rivals);
    for (std::size_t k = 0; k < rivals.size(); ++k)
        shares[rivals[k]] = odds[k];
    return shares;
}

std::vector<Rank> rank_results(std::span<const Result> results, const Metric& by,
                               const CostOptions& conditions) {
    const Contest contest(results, by, conditions);
    auto ranks = mapped(in_order(contest, results.size()), [](std::size_t i) { return Rank{i}; });
    int leading = 0;        // results placed so far
    Rank* leader = nullptr; // of the group that is being filled
    for (Rank& own : ranks) {
        if (!contest.measure(own.result))
            break;
        if (!may_lead(results[own.result].estimate)) // stands in brackets where its estimate puts it
            continue;
        ++leading;
        if (leader != nullptr && contest.probability_better(leader->result, own.result) < kToldApart) {
            own.place = leader->place;
            own.tied = leader->tied = true;
        } else {
            own.place = leading;
            leader = &own;
        }
    }
    int next = leading + 1; // what may not lead stands before the result that follows it
    for (auto own = ranks.rbegin(); own != ranks.rend(); ++own) {
        if (!contest.measure(own->result))
            continue;
        if (!may_lead(results[own->result].estimate))
            own->place = next;
        next = own->place;
    }
    return ranks;
}

std::optional<Winner> find_winner(std::span<const Result> results, const Metric& metric,
                                  const CostOptions& conditions) {
    const Contest contest(results, metric, conditions);
    const std::vector<std::size_t> rivals = rivals_of(results, contest);
    if (rivals.empty())
        return std::nullopt;
    Winner winner;
    winner.best = rivals.front();
    winner.leads = may_lead(results[winner.best].estimate);
    if (const std::size_t first = in_order(contest, results.size()).front(); first != winner.best)
        winner.projected = first;
    for (const std::size_t i : rivals)
        if (i != winner.best && contest.probability_better(winner.best, i) < kToldApart)
            winner.tied.push_back(i);
    const std::vector<double> odds = odds_of(contest, rivals);
    winner.probability = odds.front();
    for (const std::size_t i : winner.tied)
        if (contest.measure(i)->asleep) // the odds of all know no state that nobody states
            winner.probability = std::min(winner.probability, contest.probability_better(winner.best, i));
    if (const auto next = std::max_element(odds.begin() + 1, odds.end()); next != odds.end())
        winner.next = rivals[static_cast<std::size_t>(next - odds.begin())];
    winner.ahead = winner.next ? contest.probability_better(winner.best, *winner.next) : 1;
    constexpr double kWellMay = 0.1;
    for (std::size_t k = 0; k < rivals.size() && winner.probability < kCalled; ++k)
        if (k == 0 || odds[k] >= kWellMay)
            winner.close.push_back(rivals[k]);
    if (winner.close.size() == 1) // many with small odds each: those that it cannot be told from
        winner.close.insert(winner.close.end(), winner.tied.begin(), winner.tied.end());
    return winner;
}

} // namespace archsim
