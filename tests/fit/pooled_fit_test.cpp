// Partial pooling: what groups of measurements share moves a parameter, what one group has alone does not.

#include "fit/parameters/fit.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace archsim;

namespace {

/// One parameter of which every prediction is a multiple, groups of measurements that lie apart by `biases`.
FitResult fit_groups(const std::vector<std::pair<std::size_t, double>>& biases, bool pooled) {
    std::vector<double> measured;
    FitOptions options;
    options.learn_spread = true;
    for (const auto& [rows, bias] : biases) {
        auto& group = options.groups.emplace_back();
        for (std::size_t k = 0; k < rows; ++k) {
            group.push_back(measured.size());
            measured.push_back(bias + (k % 2 == 0 ? 0.02 : -0.02));
        }
    }
    if (!pooled)
        options.groups.clear();
    FitVariable factor;
    factor.name = "factor";
    factor.low = 0.01;
    factor.high = 100;
    const auto residuals = [&](std::span<const double> x, std::span<double> r) {
        for (std::size_t i = 0; i < r.size(); ++i)
            r[i] = std::log(x[0]) - measured[i];
    };
    return fit_bounded({factor}, residuals, std::vector<double>(measured.size(), 1.0), options);
}

} // namespace

TEST_CASE("a source with many rows of one odd chip moves itself, not what fifty chips share", "[fit]") {
    std::vector<std::pair<std::size_t, double>> groups(50, {4, 0.15});
    groups.emplace_back(1000, 0.9);
    const double pooled = std::log(fit_groups(groups, true).values[0]);
    const double alone = std::log(fit_groups(groups, false).values[0]);
    CHECK(pooled == Approx(0.15).margin(0.04));
    CHECK(alone > 0.5);
}

TEST_CASE("a bias that all chips share moves the parameter whole", "[fit]") {
    const std::vector<std::pair<std::size_t, double>> groups(30, {5, -0.2});
    const FitResult fit = fit_groups(groups, true);
    CHECK(std::log(fit.values[0]) == Approx(-0.2).margin(0.01));
    CHECK(fit.group_spread < 0.1);
}

TEST_CASE("the spread of chips is learnt from them", "[fit]") {
    std::vector<std::pair<std::size_t, double>> groups;
    for (int k = 0; k < 40; ++k)
        groups.emplace_back(6, 0.3 * (k % 2 == 0 ? 1 : -1));
    const FitResult fit = fit_groups(groups, true);
    CHECK(fit.group_spread == Approx(0.3).epsilon(0.15));
    CHECK(std::log(fit.values[0]) == Approx(0).margin(0.05));
}
