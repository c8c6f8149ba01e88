// Places by odds, projections apart, one board against itself.

#include "hardware/error_model.hpp"
#include "result/ranking.hpp"
#include "result/ties.hpp"

#include <catch2/catch.hpp>

#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace archsim;

namespace {

Result made(const std::string& device, double latency, double low, double high, bool projected = false) {
    Result r;
    auto d = std::make_shared<Device>();
    d->id = device;
    r.device = d;
    auto runtime = std::make_shared<Runtime>();
    runtime->id = "stack";
    r.runtime = runtime;
    auto facts = std::make_shared<ModelFacts>();
    facts->name = "net";
    r.model = facts;
    r.estimate.latency_s = latency;
    r.estimate.latency_interval = {low, high};
    r.estimate.projected = projected;
    return r;
}

/// Place, and "=" where tied, of each result.
std::vector<std::string> texts(const std::vector<Result>& results) {
    std::vector<std::string> list(results.size());
    for (const Rank& rank : rank_results(results, metric::latency))
        list[rank.result] = std::to_string(rank.place) + (rank.tied ? "=" : "");
    return list;
}

} // namespace

TEST_CASE("places follow the estimates, and close ones share the place of the first", "[compare][ties]") {
    // A factor of 1.2 either way is a scale of 0.086 each, 0.121 of a ratio: odds of 3 to 1 at 1.09.
    const auto near = [](const char* name, double value) {
        return made(name, value, value / 1.2, value * 1.2);
    };
    CHECK(texts({near("a", 10), near("b", 10.2), near("c", 12), near("d", 30)}) ==
          std::vector<std::string>{"1=", "1=", "3", "4"});
    // A best that is called stands alone, with odds of 2 to 1 too.
    CHECK(texts({near("a", 10), near("b", 10.5), near("c", 12), near("d", 30)}) ==
          std::vector<std::string>{"1", "2", "3", "4"});
    // A chain of neighbours is no group: its last is clearly slower than its first.
    CHECK(texts({near("a", 10), near("b", 10.8), near("c", 11.6), near("d", 12.4)}) ==
          std::vector<std::string>{"1", "2=", "2=", "4"});
}

TEST_CASE("places never fall along a ranking", "[compare][ties]") {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> value(1, 3), width(1.01, 3);
    for (int run = 0; run < 100; ++run) {
        std::vector<Result> results;
        for (int i = 0; i < 12; ++i) {
            const double v = value(random), w = width(random);
            results.push_back(made("d" + std::to_string(i), v, v / w, v * w, i % 5 == 0));
        }
        int before = 1;
        for (const Rank& rank : rank_results(results, metric::latency)) {
            CHECK(rank.place >= before);
            before = rank.place;
        }
    }
}

TEST_CASE("what is too close to call is what shares the first place", "[compare][ties][laws]") {
    std::mt19937 random(5);
    std::uniform_real_distribution<double> value(1, 1.6), width(1.01, 1.8);
    int close = 0;
    for (int run = 0; run < 300; ++run) {
        std::vector<Result> results;
        for (int i = 0; i < 2 + run % 6; ++i) {
            const double v = value(random), w = width(random);
            results.push_back(made("d" + std::to_string(i), v, v / w, v * w, i == 4));
        }
        const auto winner = find_winner(results, metric::latency);
        REQUIRE(winner);
        std::vector<std::size_t> first;
        for (const Rank& rank : rank_results(results, metric::latency))
            if (rank.place == 1 && may_lead(results[rank.result].estimate))
                first.push_back(rank.result);
        CHECK(first == (winner->close.empty() ? std::vector{winner->best} : winner->close));
        CHECK(winner->close.empty() == (winner->probability >= kCalled));
        close += winner->close.empty() ? 0 : 1;
    }
    CHECK(close > 30);
}

TEST_CASE("one is better than the other or the other than it", "[compare][ties]") {
    const Result a = made("a", 10, 7, 14.3), b = made("b", 13, 9.3, 18.2);
    const auto of = [](const Result& r) { return *measure_of(r, metric::latency); };
    const double p = probability_better(metric::latency, a, of(a), b, of(b));
    CHECK(p == Approx(0.85).margin(0.01));
    CHECK(probability_better(metric::latency, b, of(b), a, of(a)) == Approx(1 - p));
    CHECK(probability_better(metric::latency, a, of(a), a, of(a)) == 0.5);
    CHECK(student_t(1.943, 6) == Approx(0.95).margin(1e-4));
    CHECK(student_t(kErrorReach, kErrorDegreesOfFreedom) == Approx(0.95).margin(1e-6));
    CHECK(student_t(0, 6) == 0.5);
}

TEST_CASE("shares of being best add up, and follow the order", "[compare][ties]") {
    const std::vector<Result> results = {made("a", 10, 8, 12.5), made("b", 11, 8.8, 13.8),
                                         made("c", 12, 9.6, 15), made("paper", 5, 2, 12, true),
                                         made("far", 100, 80, 125)};
    const auto shares = shares_of_best(results, metric::latency);
    CHECK(shares[0] + shares[1] + shares[2] == Approx(1));
    CHECK(shares[0] > shares[1]);
    CHECK(shares[1] > shares[2]);
    CHECK(shares[3] == 0); // a projection
    CHECK(shares[4] == 0);
    CHECK(shares[0] > 0.5);
}

TEST_CASE("projections keep their row and count for nobody", "[compare][ties]") {
    const std::vector<Result> results = {made("paper", 1, 0.3, 3, true), made("a", 10, 9, 11),
                                         made("b", 20, 19, 21), made("late", 15, 5, 50, true)};
    CHECK(texts(results) == std::vector<std::string>{"1", "1", "2", "2"});
    const auto winner = find_winner(results, metric::latency);
    REQUIRE(winner);
    CHECK(winner->best == 1);
    CHECK(winner->tied.empty());
    REQUIRE(winner->projected);
    CHECK(*winner->projected == 0);
    // Where nothing was measured the best projection is the first, and leads nothing.
    const std::vector<Result> paper = {made("x", 1.1, 0.5, 2.2, true), made("y", 1, 0.5, 2, true)};
    CHECK(find_winner(paper, metric::latency)->best == 1);
    CHECK(find_winner(paper, metric::latency)->tied == std::vector<std::size_t>{0});
    CHECK_FALSE(find_winner(paper, metric::latency)->leads);
    // Below three to two nobody is called.
    const std::vector<Result> close = {made("a", 10, 8, 12.5), made("b", 10.2, 8.2, 12.7),
                                       made("c", 30, 24, 37)};
    CHECK(find_winner(close, metric::latency)->close == std::vector<std::size_t>{0, 1});
    CHECK(find_winner(close, metric::latency)->probability < kCalled);
}

TEST_CASE("two modes of one board differ by their ratio", "[compare][ties]") {
    CHECK(texts({made("board", 10, 5, 20), made("board", 11, 5.5, 22)}) ==
          std::vector<std::string>{"1", "2"});
    CHECK(texts({made("board", 10, 5, 20), made("other", 11, 5.5, 22)}) ==
          std::vector<std::string>{"1=", "1="});
}

TEST_CASE("without energy there is no rank by energy", "[compare][ties]") {
    std::vector<Result> results = {made("a", 1, 1, 1), made("b", 1, 1, 1)};
    results[0].estimate.energy_per_inference_j = std::numeric_limits<double>::quiet_NaN();
    results[1].estimate.energy_per_inference_j = 2;
    results[1].estimate.energy_interval = {1, 3};
    const auto ranks = rank_results(results, metric::energy);
    CHECK(ranks[0].result == 1);
    CHECK(ranks[0].place == 1);
    CHECK(ranks[1].place == 0);
    CHECK_FALSE(value_of(results[0], metric::energy));
    CHECK(find_winner(results, metric::energy)->best == 1);
}
