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

/// Who may lead, best first, and how sure it is.
struct Contenders {
    std::vector<std::size_t> rivals;
    std::vector<double> odds; ///< of each to be the best
    double probability = 1;   ///< of the first
    std::size_t first = 1;    ///< how many share the first place: one where it is called
};

static Contenders contenders_of(std::span<const Result> results, const Contest& contest) {
    Contenders field{.rivals = rivals_of(results, contest)};
    const std::vector<std::size_t>& rivals = field.rivals;
    if (rivals.empty())
        return field;
    field.odds = odds_of(contest, rivals);
    const auto ahead = [&](std::size_t k) { return contest.probability_better(rivals.front(), rivals[k]); };
    field.probability = field.odds.front();
    for (std::size_t k = 1; k < rivals.size(); ++k)
        if (contest.measure(rivals[k])->asleep &&
            ahead(k) < kToldApart) // the odds of all know no state that nobody states
            field.probability = std::min(field.probability, ahead(k));
    if (field.probability >= kCalled)
        return field;
    while (field.first < rivals.size() && ahead(field.first) < kToldApart)
        ++field.first;
    // Each can be told from the best, but all together not: those that well may be it.
    constexpr double kWellMay = 0.1;
    if (field.first == 1)
        while (field.first < rivals.size() && (field.first == 1 || field.odds[field.first] >= kWellMay))
            ++field.first;
    return field;
}

std::vector<double> shares_of_best(std::span<const Result> results, const Metric& by,
                                   const CostOptions& conditions) {
    const Contest contest(results, by, conditions);
    const Contenders field = contenders_of(results, contest);
    std::vector<double> shares(results.size(), 0);
    for (std::size_t k = 0; k < field.rivals.size(); ++k)
        shares[field.rivals[k]] = field.odds[k];
    return shares;
}

std::vector<Rank> rank_results(std::span<const Result> results, const Metric& by,
                               const CostOptions& conditions) {
    const Contest contest(results, by, conditions);
    auto ranks = mapped(in_order(contest, results.size()), [](std::size_t i) { return Rank{i}; });
    const std::size_t first = contenders_of(results, contest).first;
    int leading = 0;        // results placed so far
    Rank* leader = nullptr; // of the group that is being filled
    for (Rank& own : ranks) {
        if (!contest.measure(own.result))
            break;
        if (!may_lead(results[own.result].estimate)) // stands in brackets where its estimate puts it
            continue;
        ++leading;
        const bool of_first = leader != nullptr && leader->place == 1;
        if (of_first
                ? static_cast<std::size_t>(leading) <= first
                : leader != nullptr && contest.probability_better(leader->result, own.result) < kToldApart) {
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
    const Contenders field = contenders_of(results, contest);
    const std::vector<std::size_t>& rivals = field.rivals;
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
    winner.probability = field.probability;
    const std::vector<double>& odds = field.odds;
    if (const auto next = std::max_element(odds.begin() + 1, odds.end()); next != odds.end())
        winner.next = rivals[static_cast<std::size_t>(next - odds.begin())];
    winner.ahead = winner.next ? contest.probability_better(winner.best, *winner.next) : 1;
    if (field.first > 1)
        winner.close.assign(rivals.begin(), rivals.begin() + static_cast<std::ptrdiff_t>(field.first));
    return winner;
}

} // namespace archsim
