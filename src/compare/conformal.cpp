#include "compare/conformal.hpp"

#include <algorithm>

namespace archsim {

namespace {

using Atoms = std::vector<std::pair<double, double>>;

constexpr double kSlack = 1e-12;

/// The smallest score that at least `share` of the weight does not exceed; atoms by score, weights sum to 1.
double quantile_of(const Atoms& atoms, double share) {
    double below = 0;
    for (const auto& [score, weight] : atoms) {
        below += weight;
        if (below >= share - kSlack)
            return score;
    }
    return atoms.back().first;
}

/// Every group that has scores with a weight of `all`, in equal parts among its scores.
void append(const GroupedScores& groups, double all, Atoms& atoms) {
    for (const auto& [name, scores] : groups)
        for (const double score : scores)
            atoms.emplace_back(score, all / static_cast<double>(scores.size()));
}

/// Of one group, its parts counting alike; by score, weights sum to 1.
Atoms atoms_of(const GroupedScores& parts) {
    Atoms own;
    append(parts, 1 / static_cast<double>(parts.size()), own);
    std::sort(own.begin(), own.end());
    return own;
}

} // namespace

ScoreDistribution::ScoreDistribution(const GroupedScores& groups, const ScoreDistribution* around,
                                     double around_groups) {
    for (const auto& [name, scores] : groups) {
        groups_ += scores.empty() ? 0 : 1;
        rows_ += scores.size();
    }
    const bool inside = around != nullptr && !around->empty();
    outermost_ = !inside;
    const double all = static_cast<double>(groups_) + (inside ? around_groups : 0);
    append(groups, 1 / all, atoms_);
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
    return quantile_of(atoms_, share);
}

ScoreDistribution ScoreDistribution::of_new_group(const NestedScores& groups, const NestedScores& rows,
                                                  double shift) {
    ScoreDistribution result;
    std::map<std::string, double> shifts;
    for (const auto& [name, parts] : groups)
        if (const Atoms own = atoms_of(parts); !own.empty())
            shifts.emplace(name, quantile_of(own, 0.5));
    Atoms around_shift;
    double kinds = 0; // groups that have such rows
    for (const auto& [name, parts] : rows) {
        const Atoms own = atoms_of(parts);
        kinds += own.empty() ? 0 : 1;
        for (const auto& [score, weight] : own)
            around_shift.emplace_back(score - shifts.at(name), weight);
    }
    result.rows_ = around_shift.size();
    result.groups_ = shifts.size();
    result.outermost_ = false; // the new group is among the few that `shift` stands for
    const double pairs = static_cast<double>(shifts.size()) * kinds;
    for (const auto& [name, of_group] : shifts)
        for (const auto& [score, weight] : around_shift)
            result.atoms_.emplace_back(shift * of_group + score, weight / pairs);
    std::sort(result.atoms_.begin(), result.atoms_.end());
    return result;
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
