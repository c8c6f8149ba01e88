#include "compare/conformal.hpp"

#include <algorithm>

namespace archsim {

ScoreDistribution::ScoreDistribution(const GroupedScores& groups, const ScoreDistribution* around,
                                     double around_groups) {
    for (const auto& [name, scores] : groups) {
        groups_ += scores.empty() ? 0 : 1;
        rows_ += scores.size();
    }
    const bool inside = around != nullptr && !around->empty();
    outermost_ = !inside;
    const double all = static_cast<double>(groups_) + (inside ? around_groups : 0);
    for (const auto& [name, scores] : groups)
        for (const double score : scores)
            atoms_.emplace_back(score, 1 / (all * static_cast<double>(scores.size())));
    std::sort(atoms_.begin(), atoms_.end());
    if (!inside)
        return;
    // Those around are sorted, and thousands.
    const auto own = static_cast<std::ptrdiff_t>(atoms_.size());
    for (const auto& [score, weight] : around->atoms_)
        atoms_.emplace_back(score, weight * around_groups / all);
    std::inplace_merge(atoms_.begin(), atoms_.begin() + own, atoms_.end());
}

double ScoreDistribution::quantile(double share) const {
    if (atoms_.empty())
        return 0;
    if (outermost_ && groups_ > 0) {
        const double k = static_cast<double>(groups_);
        share =
            share > 0.5 ? std::min(1.0, share * (k + 1) / k) : 1 - std::min(1.0, (1 - share) * (k + 1) / k);
    }
    constexpr double kSlack = 1e-12;
    double below = 0;
    for (const auto& [score, weight] : atoms_) {
        below += weight;
        if (below >= share - kSlack)
            return score;
    }
    return atoms_.back().first;
}

ScoreDistribution ScoreDistribution::blurred(double by) const {
    ScoreDistribution result = *this;
    result.atoms_.clear();
    for (const auto& [score, weight] : atoms_)
        for (const double moved : {score - by, score + by})
            result.atoms_.emplace_back(moved, weight / 2);
    std::sort(result.atoms_.begin(), result.atoms_.end());
    return result;
}

} // namespace archsim
