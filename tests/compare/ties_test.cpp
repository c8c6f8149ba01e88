// Places by pairs, projections apart, one board against itself.

#include "archsim/compare/ranking.hpp"

#include <catch2/catch.hpp>

#include <limits>
#include <memory>
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

TEST_CASE("places count those that are surely better, pair by pair", "[compare][ties]") {
    // The second overlaps both neighbours, which do not overlap each other.
    CHECK(texts({made("a", 10, 9, 12), made("b", 12, 11, 15), made("c", 15, 13, 18),
                 made("d", 30, 28, 33)}) == std::vector<std::string>{"1=", "1=", "2=", "4"});
}

TEST_CASE("projections keep their row and count for nobody", "[compare][ties]") {
    const std::vector<Result> results = {made("paper", 1, 0.3, 3, true), made("a", 10, 9, 11),
                                         made("b", 20, 19, 21), made("late", 15, 5, 50, true)};
    CHECK(texts(results) == std::vector<std::string>{"1", "1=", "2=", "1="});
    const auto winner = find_winner(results, metric::latency);
    REQUIRE(winner);
    CHECK(winner->best == 1);
    CHECK(winner->tied.empty());
    REQUIRE(winner->projected);
    CHECK(*winner->projected == 0);
    // Where nothing was measured the best projection is the best.
    const std::vector<Result> paper = {made("x", 2, 1, 4, true), made("y", 1, 0.5, 2, true)};
    CHECK(find_winner(paper, metric::latency)->best == 1);
    CHECK(find_winner(paper, metric::latency)->tied == std::vector<std::size_t>{0});
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
