#include "answers/compare/compare_models_report.hpp"

#include "archsim/core/finding.hpp"
#include "archsim/run/compare_models.hpp"
#include "archsim/run/session.hpp"
#include "hardware/temporary_database.hpp"
#include "support/places.hpp"
#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

using namespace archsim;
using archsim::test::shipped_session;

namespace {

Result percentile_case(const std::string& device, std::int64_t batch = 1) {
    const Workload workload{.model = shipped_session().load("resnet50"), .batch = batch};
    Conditions conditions;
    conditions.precision = PrecisionConfig::uniform(Precision::fp16);
    return shipped_session().estimate(workload, device, conditions);
}

} // namespace

TEST_CASE("every device has percentiles that rise from its estimate", "[percentiles][laws]") {
    const Workload workload{.model = shipped_session().load("mobilenet_v2")};
    int checked = 0;
    for (const std::string& id : shipped_session().hardware().device_ids()) {
        const Result result = shipped_session().estimate(workload, id);
        if (!result.ok())
            continue;
        ++checked;
        INFO(id);
        const auto found = percentiles(result);
        REQUIRE(found);
        CHECK(!found->queued);
        CHECK(found->spread.rows >= 4);
        CHECK(!found->spread.basis.empty());
        const RunPercentiles& p = found->run_to_run;
        CHECK(p.p50 == Approx(result.estimate.latency_s));
        CHECK(p.p90 >= p.p50);
        CHECK(p.p99 >= p.p90);
        CHECK(p.p999 >= p.p99);
        CHECK(p.p999 < 4 * p.p50);
    }
    CHECK(checked > 100);
}

TEST_CASE("a stack with rows of its own is asked first", "[percentiles]") {
    CHECK(percentiles(percentile_case("A100"))
              ->spread.basis.find("tensorrt on GPUs with memory of their own") != std::string::npos);
    CHECK(percentiles(percentile_case("Jetson-AGX-Orin"))->spread.basis.find("in their host's memory") !=
          std::string::npos);
}

TEST_CASE("the queue before a device is that of Pollaczek and Khinchine", "[percentiles]") {
    const Result result = percentile_case("A100");
    const auto still = percentiles(result);
    const double s = result.estimate.latency_s;
    double before = 0;
    for (const double load : {0.2, 0.5, 0.8}) {
        PercentileRequest request;
        request.rate_per_s = load / s;
        const auto found = percentiles(result, request);
        REQUIRE(found);
        REQUIRE(found->queued);
        CHECK(!found->queued->overloaded);
        CHECK(found->queued->capacity_per_s * s == Approx(1).epsilon(0.05));
        // Mean wait with service times that hardly vary: rho s / (2 (1 - rho)), and rho from the mean
        // service.
        const double rho = request.rate_per_s / found->queued->capacity_per_s;
        CHECK(found->queued->utilization == Approx(rho).epsilon(0.02));
        CHECK(found->queued->mean_wait_s ==
              Approx(rho * rho / request.rate_per_s / (2 * (1 - rho))).epsilon(0.08));
        CHECK(found->queued->latency.p99 > still->run_to_run.p99);
        CHECK(found->queued->latency.p99 > before); // more load never lowers P99
        before = found->queued->latency.p99;
        CHECK(found->queued->latency.p999 >= found->queued->latency.p99);
        const auto again = percentiles(result, request);
        CHECK(again->queued->latency.p99 == found->queued->latency.p99); // seeded
    }
}

TEST_CASE("a rate above the capacity has no percentiles", "[percentiles]") {
    const Result result = percentile_case("A100");
    PercentileRequest request;
    request.rate_per_s = 1.5 / result.estimate.latency_s;
    const auto found = percentiles(result, request);
    REQUIRE(found->queued);
    CHECK(found->queued->overloaded);
    CHECK(found->queued->latency.p99 == 0);
    // A batch of eight stands more than one item per latency, and waits less than eight latencies.
    const Result batch = percentile_case("A100", 8);
    const auto together = percentiles(batch, request);
    CHECK(!together->queued->overloaded);
    CHECK(together->queued->latency.p50 >= batch.estimate.latency_s);
    request.rate_per_s = std::numeric_limits<double>::infinity();
    CHECK_THROWS_AS(percentiles(result, request), UsageError);
    request.rate_per_s = -1;
    CHECK_THROWS_AS(percentiles(result, request), UsageError);
}

TEST_CASE("percentiles are those of the session's data folder", "[percentiles]") {
    namespace fs = std::filesystem;
    const test::TemporaryDatabase folder;
    fs::copy(test::kDatabase, folder.root() / "hardware_db", fs::copy_options::recursive);
    fs::create_directories(folder.root() / "models/catalogue");
    std::ifstream shipped(test::kDatabase / "percentiles.json");
    nlohmann::json rows = nlohmann::json::parse(shipped);
    for (nlohmann::json& row : rows["rows"])
        row["ms"] = {{"p50", row["ms"]["p50"]}, {"p99", 3 * row["ms"]["p50"].get<double>()}};
    folder.write("hardware_db/percentiles.json", rows.dump());
    SessionOptions options;
    options.data = folder.root();
    const Session session(options);
    const Result result = percentile_case("A100");
    const auto shown = percentiles(result, {.rows = session.spread_rows()});
    REQUIRE(shown);
    CHECK(shown->run_to_run.p99 == Approx(3 * result.estimate.latency_s));
    CHECK(percentiles(result)->run_to_run.p99 < 2 * result.estimate.latency_s);
    CHECK(percentiles(result, {.rows = shipped_session().spread_rows()})->run_to_run.p99 ==
          percentiles(result)->run_to_run.p99);
    fs::remove(folder.root() / "hardware_db/percentiles.json");
    CHECK_THROWS_AS(session.spread_rows(), InputError);
}

TEST_CASE("percentiles stand in every format of compare_models", "[percentiles]") {
    CompareModelsRequest request;
    request.models = {"resnet18"};
    request.hardware = {"A100", "Coral-Edge-TPU"};
    const ModelComparison comparison = compare_models(shipped_session(), request);
    CompareModelsView view;
    const std::string without = render(describe(comparison, view), Format::text);
    CHECK(without.find("Percentiles") == std::string::npos);
    view.percentiles = PercentileRequest{};
    for (const Format format : {Format::text, Format::markdown, Format::html}) {
        const std::string text = render(describe(comparison, view, format), format);
        CHECK(text.find("Latency Percentiles (Run to Run)") != std::string::npos);
        CHECK(text.find("P99.9") != std::string::npos);
    }
    CHECK(render(describe(comparison, view, Format::csv), Format::csv).find("p999_s") != std::string::npos);
    view.percentiles->rate_per_s = 100000;
    const auto document = nlohmann::json::parse(to_json(comparison, view));
    REQUIRE(document["percentiles"].size() >= 1);
    CHECK(document["percentiles"][0]["run_to_run"]["p99_s"] >
          document["percentiles"][0]["run_to_run"]["p50_s"]);
    CHECK(document["percentiles"][0]["queued"]["overloaded"] == true);
    CHECK(document["percentiles"][0]["queued"]["latency"].is_null());
}
