#pragma once
// Scores of exchangeable groups (devices, networks) as one distribution, for intervals that hold for a new
// group.

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace archsim {

/// Scores of each group, by its name.
using GroupedScores = std::map<std::string, std::vector<double>>;
/// Groups of groups: devices of each family.
using NestedScores = std::map<std::string, GroupedScores>;

/// What a row of a new group may score: every group counts alike however many rows it has (the pooled
/// distribution of hierarchical conformal prediction; Dunn, Wasserman and Ramdas, arXiv:1809.07441), and the
/// distribution around it stands for kAround groups more. Worked: two groups {0} and {1, 1} around a
/// distribution that is all 5 weigh 1/7, 1/14 + 1/14 and 5/7. Scores of another quantity say less than a
/// group of the class's own: they are the prior of a class that nobody measured, half a group (Krichevsky and
/// Trofimov, IEEE Transactions on Information Theory 27, 1981).
class ScoreDistribution {
  public:
    /// Groups that the distribution around counts for.
    static constexpr double kAround = 5, kAnotherQuantity = 0.5;

    ScoreDistribution() = default;
    /// `around` null: the outermost one; else it counts for that many groups.
    ScoreDistribution(const GroupedScores& groups, const ScoreDistribution* around,
                      double around_groups = kAround);

    /// What a row of a new group may score where the groups are too few to be a distribution. Each lies off
    /// as a whole (its median, its parts counting alike), and its rows lie around that: the first is known
    /// from these few, so it counts `shift` times, the second from all their rows of the kind in question,
    /// `rows`. Any group's shift goes with any group's rows. Worked: medians 0 and 0.2, rows at them and 0.1
    /// beside: 0, 0.1, 0.2 and 0.3 with a quarter of the weight each.
    static ScoreDistribution of_new_group(const NestedScores& groups, const NestedScores& rows, double shift);

    /// The smallest score that at least `share` of the weight does not exceed; 0 where there is none. The
    /// outermost one counts a new group among its k: shares of (k + 1) / k.
    double quantile(double share) const;
    /// Every score `by` lower and `by` higher, with half the weight each.
    ScoreDistribution blurred(double by) const;

    std::size_t groups() const { return groups_; }
    std::size_t rows() const { return rows_; }
    bool empty() const { return atoms_.empty(); }

  private:
    std::vector<std::pair<double, double>> atoms_; ///< score, weight; by score
    std::size_t groups_ = 0, rows_ = 0;
    bool outermost_ = true;
};

} // namespace archsim
