// Distributions over exchangeable groups, by hand and by simulation: a new group is covered.

#include "compare/conformal.hpp"

#include <catch2/catch.hpp>
#include <random>

using namespace archsim;

TEST_CASE("every group counts alike, and the distribution around counts for five", "[compare][conformal]") {
    const ScoreDistribution around(GroupedScores{{"elsewhere", {5}}}, nullptr);
    const ScoreDistribution scores(GroupedScores{{"a", {0}}, {"b", {1, 1}}}, &around);
    // Weights 1/7 at 0, 1/7 at 1, 5/7 at 5.
    CHECK(scores.quantile(0.14) == 0);
    CHECK(scores.quantile(0.15) == 1);
    CHECK(scores.quantile(0.28) == 1);
    CHECK(scores.quantile(0.29) == 5);
    CHECK(scores.groups() == 2);
    CHECK(scores.rows() == 3);
    CHECK(ScoreDistribution().quantile(0.9) == 0);
}

TEST_CASE("scores of another quantity count for half a group", "[compare][conformal]") {
    const ScoreDistribution around(GroupedScores{{"elsewhere", {5}}}, nullptr);
    const ScoreDistribution scores(GroupedScores{{"a", {0}}, {"b", {1, 1}}}, &around,
                                   ScoreDistribution::kAnotherQuantity);
    // Weights 2/5, 2/5 and 1/5.
    CHECK(scores.quantile(0.39) == 0);
    CHECK(scores.quantile(0.79) == 1);
    CHECK(scores.quantile(0.81) == 5);
}

TEST_CASE("the outermost distribution counts the new group among its own", "[compare][conformal]") {
    GroupedScores ten;
    for (int i = 1; i <= 10; ++i)
        ten[std::to_string(i)] = {static_cast<double>(i)};
    // 0.8 x 11 / 10 = 0.88: the ninth of ten; at the other end 1 - 0.88 = 0.12: the second.
    CHECK(ScoreDistribution(ten, nullptr).quantile(0.8) == 9);
    CHECK(ScoreDistribution(ten, nullptr).quantile(0.2) == 2);
}

TEST_CASE("a blurred distribution lies half below and half above", "[compare][conformal]") {
    const ScoreDistribution one(GroupedScores{{"a", {2}}}, nullptr);
    CHECK(one.blurred(0.5).quantile(0.05) == 1.5);
    CHECK(one.blurred(0.5).quantile(0.95) == 2.5);
}

TEST_CASE("a new group lies off as some group does, its rows around that as any group's",
          "[compare][conformal]") {
    // Medians 0 and 0.2; parts count alike however many rows they have.
    const NestedScores groups{{"a", {{"one", {0}}, {"other", {0.1}}}},
                              {"b", {{"one", {0.2, 0.2, 0.3, 0.3}}}}};
    const ScoreDistribution scores = ScoreDistribution::of_new_group(groups, groups, 1);
    CHECK(scores.groups() == 2);
    CHECK(scores.rows() == 6);
    for (int i = 0; i < 4; ++i)
        CHECK(scores.quantile(0.24 + 0.25 * i) == Approx(0.1 * i).margin(1e-12));
    // Only what a group shares is widened.
    CHECK(ScoreDistribution::of_new_group(groups, groups, 2).quantile(1) == Approx(0.5));
    CHECK(ScoreDistribution::of_new_group({}, {}, 2).empty());
    CHECK(ScoreDistribution::of_new_group({{"a", {}}}, {{"a", {}}}, 2).empty());
}

TEST_CASE("rows of a group beside five are covered nine times in ten", "[compare][conformal]") {
    std::mt19937 random(11);
    std::normal_distribution<double> of_group(0, 0.2), of_row(0, 0.3);
    double covered = 0, rows = 0;
    for (int trial = 0; trial < 100; ++trial) {
        NestedScores groups;
        for (int g = 0; g < 5; ++g) {
            const double shift = of_group(random);
            for (int i = 0; i < 40; ++i)
                groups[std::to_string(g)][std::to_string(i % (1 + g))].push_back(shift + of_row(random));
        }
        const ScoreDistribution scores = ScoreDistribution::of_new_group(groups, groups, 1.4);
        const double low = scores.quantile(0.05), high = scores.quantile(0.95);
        const double shift = of_group(random);
        for (int i = 0; i < 40; ++i) {
            const double score = shift + of_row(random);
            covered += score >= low && score <= high ? 1 : 0;
            rows += 1;
        }
    }
    CHECK(covered / rows > 0.86);
    CHECK(covered / rows < 0.95);
}

TEST_CASE("rows of a new group are covered nine times in ten", "[compare][conformal]") {
    std::mt19937 random(7);
    std::normal_distribution<double> of_group(0, 0.2), of_row(0, 0.1);
    double covered = 0, rows = 0;
    for (int trial = 0; trial < 400; ++trial) {
        GroupedScores groups;
        for (int g = 0; g < 24; ++g) { // many rows of some, few of others
            const double shift = of_group(random);
            for (int i = 0; i < 1 + g; ++i)
                groups[std::to_string(g)].push_back(shift + of_row(random));
        }
        const ScoreDistribution scores(groups, nullptr);
        const double shift = of_group(random);
        for (int i = 0; i < 10; ++i) {
            const double score = shift + of_row(random);
            covered += score >= scores.quantile(0.05) && score <= scores.quantile(0.95) ? 1 : 0;
            rows += 1;
        }
    }
    CHECK(covered / rows > 0.87);
    CHECK(covered / rows < 0.97); // the (k + 1)-quantile errs on the wide side
}
