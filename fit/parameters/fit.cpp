#include "fit/parameters/fit.hpp"

#include "archsim/core/finding.hpp"
#include "core/lists.hpp"

#include <algorithm>
#include <cmath>
#include <Eigen/Dense>
#include <map>
#include <set>

namespace archsim {

// Levenberg-Marquardt damping: start, growth on a rejected step, shrinkage on an accepted one, and its end.
constexpr double kDampingStart = 1e-2, kDampingGrowth = 4, kDampingShrink = 0.3, kDampingLimit = 1e8;

class Fitter {
  public:
    Fitter(const std::vector<FitVariable>& variables, const ResidualFunction& residuals,
           const std::vector<double>& weights, const FitOptions& options)
        : variables_(variables), residuals_(residuals), weights_(weights), options_(options) {
        check();
    }

    FitResult run() {
        const auto n = static_cast<Eigen::Index>(variables_.size());
        Eigen::VectorXd u(n);
        for (Eigen::Index j = 0; j < n; ++j)
            u[j] = to_scale(j, std::clamp(variable(j).start, variable(j).low, variable(j).high));
        FitResult result;
        std::vector<double> r = evaluate(u);
        const Eigen::VectorXd first_u = u;
        const std::vector<double> first_r = r;
        std::vector<double> first_jacobian;
        descend(u, r, result, first_jacobian);
        const double first_cost = cost_of(first_u, first_r), cost = cost_of(u, r);
        const bool stays = first_cost - cost < options_.least_gain * first_cost;
        result.cost = stays ? first_cost : cost;
        result.jacobian = std::move(stays ? first_jacobian : jacobian_);
        result.residuals = stays ? first_r : std::move(r);
        result.values = values(stays ? first_u : u);
        return result;
    }

  private:
    /// Levenberg-Marquardt from `u` until a step gains too little, or the iterations of all calls are used
    /// up.
    void descend(Eigen::VectorXd& u, std::vector<double>& r, FitResult& result,
                 std::vector<double>& first_jacobian) {
        double cost = cost_of(u, r), damping = kDampingStart;
        while (result.iterations < options_.max_iterations && damping < kDampingLimit) {
            ++result.iterations;
            Eigen::MatrixXd normal;
            Eigen::VectorXd gradient;
            linearise(u, r, normal, gradient);
            if (result.iterations == 1)
                first_jacobian = jacobian_;
            bool accepted = false;
            double gain = 0;
            while (!accepted && damping < kDampingLimit) {
                const Eigen::VectorXd next = project(u - step(u, normal, gradient, damping));
                const std::vector<double> trial = evaluate(next);
                const double trial_cost = cost_of(next, trial);
                if (trial_cost < cost) {
                    gain = (cost - trial_cost) / cost;
                    u = next;
                    r = trial;
                    cost = trial_cost;
                    damping *= kDampingShrink;
                    accepted = true;
                } else {
                    damping *= kDampingGrowth;
                }
            }
            if (!accepted || gain < options_.tolerance) {
                result.converged = true;
                break;
            }
        }
    }

    /// Weight of a residual in the quadratic that touches its loss.
    double pull(std::size_t i, double r) const {
        const double s2 = options_.loss_scale * options_.loss_scale;
        return weights_[i] > 0 ? weights_[i] / (s2 * std::sqrt(1 + r * r / s2)) : 0;
    }

    const FitVariable& variable(Eigen::Index j) const { return variables_[static_cast<std::size_t>(j)]; }

    void check() const {
        for (const FitVariable& v : variables_) {
            if (!(v.low <= v.high))
                throw UsageError("fit: the bounds of " + v.name + " are the wrong way round");
            if (v.logarithmic && !(v.start > 0))
                throw UsageError("fit: " + v.name +
                                 " varies on a logarithmic scale and starts at or below zero");
        }
        if (!options_.jacobian.empty() && options_.jacobian.size() != variables_.size() * weights_.size())
            throw UsageError("fit: the Jacobian does not have one entry per residual and variable");
    }

    double to_scale(Eigen::Index j, double x) const { return variable(j).logarithmic ? std::log(x) : x; }
    double from_scale(Eigen::Index j, double u) const { return variable(j).logarithmic ? std::exp(u) : u; }

    std::vector<double> values(const Eigen::VectorXd& u) const {
        std::vector<double> x(variables_.size());
        for (Eigen::Index j = 0; j < u.size(); ++j)
            x[static_cast<std::size_t>(j)] =
                std::clamp(from_scale(j, u[j]), variable(j).low, variable(j).high);
        return x;
    }

    std::vector<double> evaluate(const Eigen::VectorXd& u) const {
        std::vector<double> r(weights_.size());
        residuals_(values(u), r);
        return r;
    }

    double prior_distance(Eigen::Index j, double u) const {
        return (u - to_scale(j, variable(j).prior)) / variable(j).prior_spread;
    }
    bool has_prior(Eigen::Index j) const { return std::isfinite(variable(j).prior_spread); }

    double cost_of(const Eigen::VectorXd& u, const std::vector<double>& r) const {
        const double s2 = options_.loss_scale * options_.loss_scale;
        double cost = 0;
        for (std::size_t i = 0; i < r.size(); ++i)
            if (weights_[i] > 0)
                cost += weights_[i] * 2 * (std::sqrt(1 + r[i] * r[i] / s2) - 1);
        for (Eigen::Index j = 0; j < u.size(); ++j)
            if (has_prior(j))
                cost += prior_distance(j, u[j]) * prior_distance(j, u[j]);
        return std::isfinite(cost) ? cost : std::numeric_limits<double>::infinity();
    }

    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

    /// Forward differences, away from a bound that is close.
    void differentiate(const Eigen::VectorXd& u, const std::vector<double>& r) {
        jacobian_.assign(r.size() * variables_.size(), 0);
        for (Eigen::Index j = 0; j < u.size(); ++j) {
            Eigen::VectorXd moved = u;
            const bool down = variable(j).high < std::numeric_limits<double>::infinity() &&
                              u[j] + options_.step > to_scale(j, variable(j).high);
            moved[j] += down ? -options_.step : options_.step;
            const std::vector<double> shifted = evaluate(moved);
            for (std::size_t i = 0; i < r.size(); ++i)
                jacobian_[i * variables_.size() + static_cast<std::size_t>(j)] =
                    (shifted[i] - r[i]) / (moved[j] - u[j]);
        }
    }

    void linearise(const Eigen::VectorXd& u, const std::vector<double>& r, Eigen::MatrixXd& normal,
                   Eigen::VectorXd& gradient) {
        const auto m = static_cast<Eigen::Index>(r.size());
        if (options_.jacobian.empty())
            differentiate(u, r);
        else
            jacobian_ = options_.jacobian;
        RowMajor jacobian = Eigen::Map<const RowMajor>(jacobian_.data(), m, u.size());
        Eigen::VectorXd w(m), residual(m);
        for (Eigen::Index i = 0; i < m; ++i) {
            const auto k = static_cast<std::size_t>(i);
            residual[i] = weights_[k] > 0 ? r[k] : 0;
            w[i] = pull(k, r[k]);
            if (weights_[k] <= 0)
                jacobian.row(i).setZero();
        }
        normal = jacobian.transpose() * w.asDiagonal() * jacobian;
        gradient = jacobian.transpose() * w.cwiseProduct(residual);
        for (Eigen::Index j = 0; j < u.size(); ++j)
            if (has_prior(j)) {
                const double sigma = variable(j).prior_spread;
                normal(j, j) += 1 / (sigma * sigma);
                gradient[j] += prior_distance(j, u[j]) / sigma;
            }
    }

    /// Damped Newton step; variables that sit on a bound and would leave it are held.
    Eigen::VectorXd step(const Eigen::VectorXd& u, const Eigen::MatrixXd& normal,
                         const Eigen::VectorXd& gradient, double damping) const {
        Eigen::MatrixXd a = normal;
        Eigen::VectorXd b = gradient;
        for (Eigen::Index j = 0; j < u.size(); ++j) {
            a(j, j) += damping * normal(j, j) + 1e-12;
            const double x = from_scale(j, u[j]);
            const bool held = (x <= variable(j).low * (1 + 1e-12) && gradient[j] > 0) ||
                              (x >= variable(j).high * (1 - 1e-12) && gradient[j] < 0);
            if (held) {
                a.row(j).setZero();
                a.col(j).setZero();
                a(j, j) = 1;
                b[j] = 0;
            }
        }
        return a.ldlt().solve(b);
    }

    Eigen::VectorXd project(Eigen::VectorXd u) const {
        for (Eigen::Index j = 0; j < u.size(); ++j)
            u[j] = to_scale(j, std::clamp(from_scale(j, u[j]), lowest(j), variable(j).high));
        return u;
    }
    double lowest(Eigen::Index j) const {
        const FitVariable& v = variable(j);
        // A logarithmic variable cannot reach zero; a thousandth of its start is as good as none.
        return v.logarithmic ? std::max(v.low, v.start * 1e-3) : v.low;
    }

    const std::vector<FitVariable>& variables_;
    const ResidualFunction& residuals_;
    const std::vector<double>& weights_;
    const FitOptions& options_;
    std::vector<double> jacobian_;
};

/// The least share of a row's time that remains when all that variables price vanishes.
constexpr double kLeastTime = 0.02;

/// The part of a time that a change leaves is added to the rest, as in the lanes.
static double residual_of(const PricedRow& row, const std::vector<FitVariable>& start,
                          std::span<const double> x) {
    double time = 1;
    for (const auto& [j, share] : row.shares) {
        const double ratio = x[j] / start[j].start;
        time += std::abs(share) * ((share > 0 ? ratio : 1 / ratio) - 1);
    }
    return row.residual + row.about_time * std::log(std::max(time, kLeastTime));
}

/// The fit of the variables `chosen` on the rows `picked`; `fill` makes all values of theirs.
template <class Fill>
static std::vector<double> fit_part(const std::vector<FitVariable>& variables,
                                    const std::vector<FitVariable>& part, const std::vector<PricedRow>& rows,
                                    const std::vector<std::size_t>& picked, double PricedRow::*weight,
                                    const FitOptions& options, Fill fill) {
    std::vector<double> weights = mapped(picked, [&](const std::size_t i) { return rows[i].*weight; });
    return fit_bounded(
               part,
               [&](std::span<const double> x, std::span<double> r) {
                   const std::vector<double> all = fill(x);
                   for (std::size_t k = 0; k < picked.size(); ++k)
                       r[k] = residual_of(rows[picked[k]], variables, all);
               },
               weights, options)
        .values;
}

FitResult fit_bounded(const std::vector<FitVariable>& variables, const ResidualFunction& residuals,
                      const std::vector<double>& weights, const FitOptions& options) {
    return Fitter(variables, residuals, weights, options).run();
}

FitResult fit_on_shares(const std::vector<FitVariable>& variables, const std::vector<std::size_t>& parents,
                        const std::vector<PricedRow>& rows, const FitOptions& options,
                        const std::vector<char>& wanted) {
    std::vector<std::size_t> every, shared;
    std::vector<FitVariable> of_all;
    for (std::size_t i = 0; i < rows.size(); ++i)
        every.push_back(i);
    for (std::size_t j = 0; j < variables.size(); ++j)
        if (parents[j] == kShared) {
            shared.push_back(j);
            of_all.push_back(variables[j]);
        }
    const auto follow = [&](std::span<const double> x) {
        std::vector<double> all(variables.size());
        for (std::size_t k = 0; k < shared.size(); ++k)
            all[shared[k]] = x[k];
        for (std::size_t j = 0; j < variables.size(); ++j)
            if (parents[j] != kShared)
                all[j] = std::clamp(all[parents[j]], variables[j].low, variables[j].high);
        return all;
    };
    FitResult result;
    result.values =
        follow(fit_part(variables, of_all, rows, every, &PricedRow::shared_weight, options, follow));

    // Own values hang together where a row has several.
    std::map<std::vector<std::size_t>, std::vector<std::size_t>> sets;
    std::set<std::vector<std::size_t>> asked;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        std::vector<std::size_t> own;
        for (const auto& [j, _] : rows[i].shares)
            if (parents[j] != kShared)
                own.push_back(j);
        if (own.empty())
            continue;
        sets[own].push_back(i);
        if (wanted.empty() || wanted[i] != 0)
            asked.insert(own);
    }
    for (const auto& own : asked) {
        std::vector<FitVariable> part;
        for (const std::size_t j : own) {
            FitVariable& variable = part.emplace_back(variables[j]);
            variable.start = variable.prior = result.values[j];
        }
        const std::vector<double> values = fit_part(variables, part, rows, sets[own], &PricedRow::weight,
                                                    options, [&](std::span<const double> x) {
                                                        std::vector<double> all = result.values;
                                                        for (std::size_t k = 0; k < own.size(); ++k)
                                                            all[own[k]] = x[k];
                                                        return all;
                                                    });
        for (std::size_t k = 0; k < own.size(); ++k)
            result.values[own[k]] = values[k];
    }
    for (const PricedRow& row : rows)
        result.residuals.push_back(residual_of(row, variables, result.values));
    return result;
}

} // namespace archsim
