#include "fit/errors/price_check.hpp"

#include "fit/parameters/price_fit.hpp"

#include <algorithm>
#include <cmath>
#include <Eigen/Dense>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace archsim {

constexpr std::size_t kPriceColumns = kEventCount + 1; ///< events, and static power as the last
constexpr double kMostError = 0.3; ///< standard error of a factor that tells a price apart
constexpr std::size_t kRunsPerColumn = 3;

/// A run as a row of the least squares.
struct RunColumns {
    double measured_w = 0, outside_w = 0;
    std::array<double, kPriceColumns> watts{};
    const MeasuredRow* row = nullptr;
};

static std::vector<RunColumns> columns_of(const std::vector<PricedRun>& runs) {
    std::vector<RunColumns> columns;
    for (const PricedRun& run : runs) {
        if (run.parts.total() >= run.limit_w)
            continue; // draws what its limit allows, whatever prices are
        RunColumns c{run.measured_w, run.parts.outside_w, {}, run.row};
        std::copy(run.parts.event_w.begin(), run.parts.event_w.end(), c.watts.begin());
        c.watts.back() = run.parts.static_w;
        columns.push_back(c);
    }
    return columns;
}

/// max(0, x) that minimises |A x - b| (Lawson and Hanson, Solving Least Squares Problems, 1974, chapter 23).
static Eigen::VectorXd nonnegative_least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b) {
    constexpr double kRounding = 1e-10;
    const Eigen::Index n = a.cols();
    Eigen::VectorXd x = Eigen::VectorXd::Zero(n);
    std::vector<bool> free(static_cast<std::size_t>(n), false);
    const auto solve = [&] {
        std::vector<Eigen::Index> columns;
        for (Eigen::Index i = 0; i < n; ++i)
            if (free[static_cast<std::size_t>(i)])
                columns.push_back(i);
        Eigen::VectorXd z = Eigen::VectorXd::Zero(n);
        if (!columns.empty()) {
            const Eigen::VectorXd part = a(Eigen::all, columns).colPivHouseholderQr().solve(b);
            for (std::size_t i = 0; i < columns.size(); ++i)
                z[columns[i]] = part[static_cast<Eigen::Index>(i)];
        }
        return z;
    };
    for (Eigen::Index round = 0; round < 3 * n; ++round) {
        const Eigen::VectorXd gradient = a.transpose() * (b - a * x);
        Eigen::Index best = -1;
        for (Eigen::Index i = 0; i < n; ++i)
            if (!free[static_cast<std::size_t>(i)] && gradient[i] > kRounding * b.norm() &&
                (best < 0 || gradient[i] > gradient[best]))
                best = i;
        if (best < 0)
            break;
        free[static_cast<std::size_t>(best)] = true;
        Eigen::VectorXd z = solve();
        while ((z.array() < 0).any()) {
            double step = 1;
            for (Eigen::Index i = 0; i < n; ++i)
                if (z[i] < 0)
                    step = std::min(step, x[i] / (x[i] - z[i]));
            x += step * (z - x);
            for (Eigen::Index i = 0; i < n; ++i)
                if (free[static_cast<std::size_t>(i)] && x[i] <= kRounding) {
                    x[i] = 0;
                    free[static_cast<std::size_t>(i)] = false;
                }
            z = solve();
        }
        x = z;
    }
    return x;
}

static std::string_view price_name(std::size_t column) {
    return column < kEventCount ? name_of(static_cast<Event>(column)) : std::string_view("static");
}

/// The columns of one family, tied until they are told apart.
class Untangler {
  public:
    explicit Untangler(const std::vector<RunColumns>& runs) : runs_(runs) {
        for (std::size_t c = 0; c < kPriceColumns; ++c)
            if (std::ranges::any_of(runs, [&](const RunColumns& run) { return run.watts[c] > 0; }))
                groups_.push_back({c});
    }

    void untangle() {
        for (;;) {
            solve();
            if (groups_.size() <= 1)
                return;
            const auto worst = static_cast<std::size_t>(std::ranges::max_element(errors_) - errors_.begin());
            if (errors_[worst] <= kMostError && runs_.size() >= kRunsPerColumn * groups_.size())
                return;
            tie(worst, confused_with(worst));
        }
    }

    PriceCheck result() const {
        PriceCheck check{.runs = runs_.size()};
        std::set<std::string> networks, devices;
        std::vector<double> before, after;
        for (std::size_t r = 0; r < runs_.size(); ++r) {
            networks.insert(runs_[r].row->model);
            devices.insert(runs_[r].row->hardware);
            const auto i = static_cast<Eigen::Index>(r);
            before.push_back(std::abs(a_.row(i).sum() - b_[i]));
            after.push_back(std::abs(a_.row(i).dot(x_) - b_[i]));
        }
        check.networks = networks.size();
        check.devices = devices.size();
        std::sort(before.begin(), before.end());
        std::sort(after.begin(), after.end());
        check.median_before = quantile(before, 0.5);
        check.median_after = quantile(after, 0.5);
        check.median_network_out = left_out_median(&MeasuredRow::model);
        check.median_device_out = left_out_median(&MeasuredRow::hardware);
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            PriceColumn column;
            const auto i = static_cast<Eigen::Index>(g);
            for (const std::size_t c : groups_[g])
                column.prices.emplace_back(price_name(c));
            column.share = a_.col(i).mean();
            column.factor = x_[i];
            column.error = errors_[g];
            check.columns.push_back(std::move(column));
        }
        std::ranges::sort(check.columns, std::greater{}, &PriceColumn::share);
        return check;
    }

  private:
    /// Every run at multiples found without those that share its `name`.
    double left_out_median(std::string MeasuredRow::*name) const {
        std::map<std::string, std::vector<Eigen::Index>> groups;
        for (std::size_t r = 0; r < runs_.size(); ++r)
            groups[runs_[r].row->*name].push_back(static_cast<Eigen::Index>(r));
        std::vector<double> errors;
        for (const auto& [_, members] : groups) {
            std::vector<Eigen::Index> others;
            for (Eigen::Index r = 0; r < b_.size(); ++r)
                if (std::find(members.begin(), members.end(), r) == members.end())
                    others.push_back(r);
            if (others.size() < 2 * groups_.size())
                return std::numeric_limits<double>::quiet_NaN();
            const Eigen::VectorXd x = nonnegative_least_squares(a_(others, Eigen::all), b_(others));
            for (const Eigen::Index r : members)
                errors.push_back(std::abs(a_.row(r).dot(x) - b_[r]));
        }
        std::sort(errors.begin(), errors.end());
        return quantile(errors, 0.5);
    }

    void solve() {
        const auto rows = static_cast<Eigen::Index>(runs_.size()),
                   columns = static_cast<Eigen::Index>(groups_.size());
        a_ = Eigen::MatrixXd::Zero(rows, columns);
        b_ = Eigen::VectorXd::Zero(rows);
        for (Eigen::Index r = 0; r < rows; ++r) {
            const RunColumns& run = runs_[static_cast<std::size_t>(r)];
            b_[r] = (run.measured_w - run.outside_w) / run.measured_w;
            for (Eigen::Index c = 0; c < columns; ++c)
                for (const std::size_t column : groups_[static_cast<std::size_t>(c)])
                    a_(r, c) += run.watts[column] / run.measured_w;
        }
        x_ = nonnegative_least_squares(a_, b_);
        const double freedom = std::max<double>(1, static_cast<double>(rows - columns));
        const double variance = (b_ - a_ * x_).squaredNorm() / freedom;
        // Relative to the largest column, so that a column of zeros cannot divide by zero.
        const double tiny = 1e-9 * (a_.transpose() * a_).diagonal().maxCoeff();
        const Eigen::MatrixXd gram = a_.transpose() * a_ + tiny * Eigen::MatrixXd::Identity(columns, columns);
        covariance_ = variance * gram.inverse();
        errors_.resize(groups_.size());
        for (std::size_t g = 0; g < groups_.size(); ++g)
            errors_[g] = std::sqrt(covariance_(static_cast<Eigen::Index>(g), static_cast<Eigen::Index>(g)));
    }

    /// The column that has to give where this one takes.
    std::size_t confused_with(std::size_t group) const {
        const auto i = static_cast<Eigen::Index>(group);
        std::size_t best = group == 0 ? 1 : 0;
        double lowest = 2;
        for (std::size_t other = 0; other < groups_.size(); ++other) {
            if (other == group)
                continue;
            const double correlation =
                covariance_(i, static_cast<Eigen::Index>(other)) / (errors_[group] * errors_[other]);
            if (correlation < lowest) {
                lowest = correlation;
                best = other;
            }
        }
        return best;
    }

    void tie(std::size_t a, std::size_t b) {
        groups_[b].insert(groups_[b].end(), groups_[a].begin(), groups_[a].end());
        std::sort(groups_[b].begin(), groups_[b].end());
        groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(a));
    }

    const std::vector<RunColumns>& runs_;
    std::vector<std::vector<std::size_t>> groups_;
    std::vector<double> errors_;
    Eigen::MatrixXd a_, covariance_;
    Eigen::VectorXd b_, x_;
};

using Rows = std::vector<const ValidatedRow*>;

using PowerOfRun = std::map<std::string, const ValidatedRow*>;

static double middle(std::vector<double> values) {
    for (double& value : values)
        value = std::abs(std::expm1(value));
    std::sort(values.begin(), values.end());
    return quantile(values, 0.5);
}

static double mean(const std::vector<double>& logs) {
    double sum = 0;
    for (const double value : logs)
        sum += value;
    return std::expm1(sum / static_cast<double>(logs.size()));
}

/// Worked: energy 20 % too low where power is 10 % too high: the time is 27 % too short.
static void split_errors(const Rows& rows, const PowerOfRun& powers, PowerGroup& group) {
    std::vector<double> power, time;
    for (const ValidatedRow* row : rows) {
        const auto found = powers.find(run_of(row->measured));
        if (row->measured.metric != MeasuredMetric::energy_mj || found == powers.end())
            continue;
        const auto off = [](const ValidatedRow& r) {
            return std::log(r.prediction.predicted / r.measured.value);
        };
        power.push_back(off(*found->second));
        time.push_back(off(*row) - off(*found->second));
    }
    group.split = power.size();
    if (power.empty())
        return;
    group.power_error = middle(power);
    group.power_bias = mean(power);
    group.time_error = middle(time);
    group.time_bias = mean(time);
}

static PowerGroup price_group_of(const Rows& rows, const PowerOfRun& powers) {
    PowerGroup group{.metric = rows.front()->measured.metric,
                     .errors = error_statistics(rows),
                     .devices = tau_of_devices(rows)};
    double farthest = -1;
    for (const ValidatedRow* row : rows) {
        // Half and double are equally wrong.
        const double distance = std::abs(std::log(row->prediction.predicted / row->measured.value));
        if (distance <= farthest)
            continue;
        farthest = distance;
        group.worst = row->measured.id;
        group.worst_error = row->error();
    }
    split_errors(rows, powers, group);
    return group;
}

std::vector<PriceCheck> check_prices(const RowEstimator& estimator, const std::vector<MeasuredRow>& rows) {
    std::vector<PriceCheck> checks;
    for (const auto& [family, runs] : priced_runs(estimator, rows)) {
        const std::vector<RunColumns> columns = columns_of(runs);
        if (columns.empty())
            continue;
        Untangler untangler(columns);
        untangler.untangle();
        checks.push_back(untangler.result());
        checks.back().family = family;
    }
    return checks;
}

std::string run_of(const MeasuredRow& row) {
    return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", row.model, row.image_size.value_or(0),
                       row.sequence, row.batch.value_or(0), row.precision, row.hardware, row.power_mode,
                       row.devices, row.runtime, row.scope, row.source);
}

std::vector<PowerGroup> power_groups(const Validation& validation) {
    std::vector<PowerGroup> groups;
    PowerOfRun powers;
    for (const ValidatedRow& row : validation.rows)
        if (row.measured.metric == MeasuredMetric::power_w && row.prediction.ok())
            powers.emplace(run_of(row.measured), &row);
    for (const MeasuredMetric metric : {MeasuredMetric::power_w, MeasuredMetric::energy_mj}) {
        Rows all;
        std::map<PowerBoundary, Rows> boundaries;
        std::map<std::tuple<PowerBoundary, std::string, std::string>, Rows> parts;
        for (const ValidatedRow& row : validation.rows) {
            if (row.measured.metric != metric || !row.prediction.ok() || row.measured.weight < kTrustedWeight)
                continue;
            all.push_back(&row);
            boundaries[row.measured.boundary].push_back(&row);
            parts[{row.measured.boundary, row.prediction.family, row.prediction.regime}].push_back(&row);
        }
        if (all.empty())
            continue;
        groups.push_back(price_group_of(all, powers));
        for (const auto& [boundary, rows] : boundaries) {
            groups.push_back(price_group_of(rows, powers));
            groups.back().boundary = boundary;
        }
        for (const auto& [key, rows] : parts) {
            groups.push_back(price_group_of(rows, powers));
            std::tie(groups.back().boundary, groups.back().family, groups.back().regime) = key;
        }
    }
    return groups;
}

} // namespace archsim
