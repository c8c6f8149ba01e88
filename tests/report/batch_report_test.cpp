// Batch sweeps: the best batch is the best, limits are kept, failures are rows.

#include "answers/batch/batch.hpp"
#include "answers/comprehensive/comprehensive.hpp"
#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace archsim;

namespace {

BatchRequest request_for(std::vector<std::string> hardware) {
    BatchRequest request;
    request.models = {"resnet18"};
    request.hardware = std::move(hardware);
    request.batches = {16, 1, 4, 4, 64};
    return request;
}

} // namespace

TEST_CASE("the best batch of a sweep is the best one", "[report][batch]") {
    const BatchAnalysis sweep =
        analyze_batches(test::shipped_session(), request_for({"A100", "KPU-T256", "Xeon-8490H"}));
    CHECK(sweep.batches == std::vector<std::int64_t>{1, 4, 16, 64});
    for (const BatchSeries& series : sweep.series) {
        REQUIRE(series.results.size() == 4);
        const BestBatches best = best_batches(series);
        REQUIRE(best.throughput);
        double most = 0;
        for (std::size_t i = 0; i < series.results.size(); ++i) {
            CHECK(series.results[i].estimate.batch == static_cast<double>(series.batches[i]));
            most = std::max(most, series.results[i].estimate.throughput_per_s);
        }
        CHECK(series.results[*best.throughput].estimate.throughput_per_s == most);
        CHECK(series.results[*best.knee].estimate.throughput_per_s >= kNearlyBest * most);
        CHECK(*best.knee <= *best.throughput);
        CHECK(*best.latency == 0); // doubling the batch never lowers latency
    }
    BatchRequest wrong = request_for({"A100"});
    wrong.batches = {};
    CHECK_THROWS_AS(analyze_batches(test::shipped_session(), wrong), UsageError);
    wrong.batches = {0};
    CHECK_THROWS_AS(analyze_batches(test::shipped_session(), wrong), UsageError);
    wrong = request_for({"no such device"});
    CHECK_THROWS_AS(analyze_batches(test::shipped_session(), wrong), InputError);
}

TEST_CASE("limits leave only the batches that keep them", "[report][batch]") {
    auto request = request_for({"A100"});
    const BatchAnalysis all = analyze_batches(test::shipped_session(), request);
    const double at_4 = all.series[0].results[1].estimate.latency_s;
    request.decision.constraints = {{&metric::latency, at_4 * 1.001}};
    const BatchAnalysis limited = analyze_batches(test::shipped_session(), request);
    const BestBatches best = best_batches(limited.series[0]);
    REQUIRE(best.throughput);
    CHECK(limited.series[0].batches[*best.throughput] == 4);
    request.decision.constraints = {{&metric::latency, 1e-9}};
    const BatchAnalysis none = analyze_batches(test::shipped_session(), request);
    CHECK_FALSE(best_batches(none.series[0]).throughput);
    const std::string text = render(describe(none), Format::text, {200});
    CHECK_THAT(text, Catch::Contains("None qualifies; nearest is A100, batch 1"));
    const auto document = nlohmann::json::parse(to_json(none));
    CHECK(document.at("series").at(0).at("best_batch").at("throughput").is_null());
}

TEST_CASE("a comprehensive analysis adds up", "[report][comprehensive]") {
    auto request = request_for({"KPU-T64@6W"});
    request.batches.clear();
    request.decision.constraints = {{&metric::power, 100.0}};
    const ComprehensiveAnalysis analysis = analyze_comprehensive(test::shipped_session(), request);
    const Result& result = analysis.result();
    REQUIRE(result.ok());
    double latency = 0, subgraphs = 0;
    for (const KindShare& share : breakdown_by_kind(result)) {
        latency += share.latency_s;
        subgraphs += share.subgraphs;
    }
    CHECK(latency == Approx(result.estimate.latency_s));
    CHECK(subgraphs == static_cast<double>(result.estimate.subgraphs.size()));
    const auto document = nlohmann::json::parse(to_json(analysis));
    CHECK(document.at("decision").at("verdicts").at(0).at("qualifies") == true);
    double energy = 0;
    for (const auto& event : document.at("energy_events"))
        energy += event.at("energy_j").get<double>();
    CHECK(energy / result.estimate.batch == Approx(result.estimate.energy_per_inference_j));
    for (const Format format : {Format::text, Format::markdown, Format::csv, Format::html})
        CHECK_FALSE(render(describe(analysis, {}), format).empty());
}
