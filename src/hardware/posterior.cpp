#include "hardware/posterior.hpp"

#include <cmath>
#include <numeric>

namespace archsim {

/// Two runs of one thing, in logarithms: keeps what is measured twice from contradicting itself.
constexpr double kRepeated = 1e-4;

static double dot(const LaneShares& a, const LaneShares& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

struct ErrorPlace {
    std::string_view family, device, runtime;
    SpreadOf metric;
    const ErrorParts& parts;
};

static ErrorPlace place_of(const GivenRow& row) {
    return {row.family, row.device, row.runtime, row.metric, row.parts};
}

/// Variance of one measured row around what it shares with others. Strays are few: a row is taken for one of
/// the others, so that a chip that nobody had measured follows its first row as closely as a known one would.
static double around(const ErrorParts& parts) {
    return parts.network + parts.generation + parts.cell + parts.rest - parts.stray + kRepeated;
}

/// Covariance of the parts that do not depend on lanes.
static double common(const ErrorPlace& a, const ErrorPlace& b) {
    const auto shared = [](double x, double y) { return std::sqrt(x * y); };
    double sum = 0;
    if (a.device == b.device) {
        sum += shared(a.parts.device, b.parts.device);
        if (a.runtime == b.runtime && a.metric == b.metric)
            sum += shared(a.parts.set, b.parts.set);
    }
    if (a.family == b.family && a.runtime == b.runtime && a.metric == b.metric)
        sum += shared(a.parts.stack, b.parts.stack);
    return sum;
}

static double lane(const ErrorPlace& a, const ErrorPlace& b) {
    return a.device == b.device ? std::sqrt(a.parts.lane * b.parts.lane) : 0;
}

/// Puts L^-1 b in place of the columns b, where L L^T is the covariance, of which the lower half is given
/// (Cholesky): products of two of them are those with the covariance's inverse between.
static void solve_lower(std::vector<std::vector<double>>& a, std::vector<std::vector<double>>& columns) {
    for (std::size_t i = 0; i < a.size(); ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            const double sum =
                a[i][j] - std::inner_product(a[j].begin(), a[j].begin() + static_cast<std::ptrdiff_t>(j),
                                             a[i].begin(), 0.0);
            a[i][j] = i == j ? std::sqrt(sum) : sum / a[j][j];
        }
        for (std::size_t c = 0; c < columns[i].size(); ++c) {
            for (std::size_t j = 0; j < i; ++j)
                columns[i][c] -= a[i][j] * columns[j][c];
            columns[i][c] /= a[i][i];
        }
    }
}

double Posterior::mean_at(const LaneShares& lanes) const {
    double sum = mean[0];
    for (std::size_t l = 0; l < lanes.size(); ++l)
        sum += mean[1 + l] * lanes[l];
    return sum;
}

double Posterior::fall_at(const LaneShares& lanes) const {
    const std::array<double, 4> q = {1, lanes[0], lanes[1], lanes[2]};
    double sum = 0;
    for (std::size_t i = 0; i < q.size(); ++i)
        for (std::size_t j = 0; j < q.size(); ++j)
            sum += q[i] * fall[i][j] * q[j];
    return sum;
}

Posterior posterior(const std::vector<GivenRow>& rows, const ErrorSubject& of, const ErrorParts& parts) {
    const ErrorPlace here{of.family, of.device, of.runtime, of.metric, parts};
    Posterior result;
    std::vector<const GivenRow*> akin;
    for (const GivenRow& row : rows)
        if (common(place_of(row), here) > 0 || lane(place_of(row), here) > 0)
            akin.push_back(&row);
    const std::size_t n = akin.size();
    result.rows = static_cast<int>(n);
    if (n == 0)
        return result;
    std::vector<std::vector<double>> covariance(n),
        with(n); // the latter with (the ratio; the coefficients of (1, w))
    for (std::size_t i = 0; i < n; ++i) {
        const GivenRow& a = *akin[i];
        for (std::size_t j = 0; j <= i; ++j) {
            const GivenRow& b = *akin[j];
            covariance[i].push_back(common(place_of(a), place_of(b)) +
                                    lane(place_of(a), place_of(b)) * dot(a.lanes, b.lanes));
        }
        covariance[i][i] += around(a.parts);
        with[i] = {a.log_ratio, common(place_of(a), here)};
        for (const double share : a.lanes)
            with[i].push_back(lane(place_of(a), here) * share);
    }
    solve_lower(covariance, with);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < 4; ++k) {
            result.mean[k] += with[i][k + 1] * with[i][0];
            for (std::size_t m = 0; m < 4; ++m)
                result.fall[k][m] += with[i][k + 1] * with[i][m + 1];
        }
    return result;
}

} // namespace archsim
