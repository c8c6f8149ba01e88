// Partial pooling: what chips share moves a parameter, what one chip has alone moves its own value.

#include "fit/parameters/fit.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace archsim;

namespace {

/// One factor of which every prediction is a multiple, and chips that lie apart by `biases`: each has its
/// rows and, where `own`, a factor of its own. Rows of a chip share one voice.
FitResult fit_chips(const std::vector<std::pair<std::size_t, double>>& biases, bool own) {
    FitVariable factor;
    factor.name = "factor";
    factor.low = 0.01;
    factor.high = 100;
    std::vector<FitVariable> variables = {factor};
    std::vector<std::size_t> parents = {kShared};
    std::vector<PricedRow> measured;
    for (const auto& [rows, bias] : biases) {
        if (own) {
            variables.push_back(factor);
            variables.back().prior_spread = 0.15;
            parents.push_back(0);
        }
        for (std::size_t k = 0; k < rows; ++k)
            measured.push_back({-bias + (k % 2 == 0 ? 0.02 : -0.02),
                                1,
                                {{variables.size() - 1, 1.0}},
                                1,
                                own ? 1 / std::sqrt(static_cast<double>(rows)) : 1});
    }
    return fit_on_shares(variables, parents, measured);
}

} // namespace

TEST_CASE("a source with many rows of one odd chip moves itself, not what fifty chips share", "[fit]") {
    std::vector<std::pair<std::size_t, double>> chips(50, {4, 0.15});
    chips.emplace_back(1000, 0.9);
    const FitResult pooled = fit_chips(chips, true);
    CHECK(std::log(pooled.values[0]) == Approx(0.15).margin(0.05));
    CHECK(std::log(pooled.values.back()) == Approx(0.9).margin(0.05));
    CHECK(std::log(fit_chips(chips, false).values[0]) > 0.5);
}

TEST_CASE("a bias that all chips share moves the parameter whole", "[fit]") {
    const FitResult fit = fit_chips(std::vector<std::pair<std::size_t, double>>(30, {5, -0.2}), true);
    CHECK(std::log(fit.values[0]) == Approx(-0.2).margin(0.01));
    CHECK(std::log(fit.values[1]) == Approx(-0.2).margin(0.01));
}

TEST_CASE("a chip with few rows stays near what all share, one with many goes its own way", "[fit]") {
    std::vector<std::pair<std::size_t, double>> chips(20, {6, 0.0});
    chips.emplace_back(1, 0.3);
    chips.emplace_back(60, 0.3);
    const FitResult fit = fit_chips(chips, true);
    CHECK(std::log(fit.values[0]) == Approx(0).margin(0.03));
    CHECK(std::log(fit.values[21]) > 0.05);
    CHECK(std::log(fit.values[21]) < std::log(fit.values[22]));
    CHECK(std::log(fit.values[22]) == Approx(0.3).margin(0.03));
}
