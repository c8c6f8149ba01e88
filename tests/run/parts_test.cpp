#include "answers/compare/compare_models_report.hpp"
#include "laws/laws.hpp"

#include <catch2/catch.hpp>

using namespace archsim;

namespace {

Conditions fp16_options() {
    Conditions options;
    options.precision = PrecisionConfig::uniform(Precision::fp16);
    return options;
}

} // namespace

TEST_CASE("parts together have the published parameters, shared weights once", "[parts]") {
    int compared = 0;
    for (const CatalogueEntry& entry : laws::session().catalogue().entries()) {
        if (entry.parts.empty() || !entry.published)
            continue;
        CAPTURE(entry.name);
        const Workload whole{.model = laws::session().load(entry.name)};
        CHECK(whole.model.parts.size() == entry.parts.size());
        CHECK(laws::session().facts(whole)->parameters + entry.not_exported_parameters ==
              Approx(entry.published->parameters).epsilon(entry.published->parameters_tolerance).margin(0));
        ++compared;
    }
    CHECK(compared >= 8);
}

TEST_CASE("the catalogue's own sizes reach the parts that have them, and are no remark on the others",
          "[parts]") {
    for (const CatalogueEntry& entry : laws::session().catalogue().entries()) {
        if (entry.parts.empty())
            continue;
        CAPTURE(entry.name);
        const auto facts = laws::session().facts({.model = laws::session().load(entry.name)});
        for (const Finding& finding : facts->findings) {
            INFO(to_string(finding));
            CHECK(finding.message.find("no free dimension") == std::string::npos);
        }
    }
}

TEST_CASE("the whole is the sum of its parts with their repeats", "[parts]") {
    const Result whole =
        laws::session().estimate({.model = laws::session().load("t5-small")}, "H100", fp16_options());
    REQUIRE(whole.ok());
    REQUIRE(whole.parts.size() == 2);
    double latency = 0, energy = 0, macs = 0, weights = 0;
    for (const ResultPart& part : whole.parts) {
        latency += part.repeat * part.result->estimate.latency_s;
        energy += part.repeat * part.result->estimate.energy_per_inference_j;
        macs += part.repeat * part.result->model->macs;
        weights += part.result->estimate.memory.weight_bytes;
    }
    const Estimate& e = whole.estimate;
    CHECK(e.latency_s == Approx(latency));
    CHECK(e.energy_per_inference_j == Approx(energy));
    CHECK(e.energy_per_inference_j == Approx(e.energy.total()));
    CHECK(whole.model->macs == Approx(macs));
    CHECK(e.latency_interval.low <= e.latency_s);
    CHECK(e.latency_interval.high >= e.latency_s);
    // Encoder and decoder read one embedding table: 32128 x 512 values of 2 bytes.
    CHECK(e.memory.weight_bytes == Approx(weights - 32128.0 * 512 * 2));
}

TEST_CASE("a part that fails names itself", "[parts]") {
    const Model llava = laws::session().load("llava-1.5-7b");
    const auto on_small = [&](const Workload& workload) {
        const Result small = laws::session().estimate(workload, "Jetson-Orin-Nano", fp16_options());
        CHECK(small.estimate.status == Status::does_not_fit);
        return small.estimate.reason;
    };
    CHECK(on_small({.model = llava, .single_pass = true}).find("language model: ") == 0);
    CHECK(on_small({.model = llava}).find("needs 14.") == 0);    // an answer holds all parts at once
    CHECK_THROWS_AS(laws::session().bind(llava, 1), InputError); // it has no graph of its own
}

TEST_CASE("comparisons report parts as JSON", "[parts]") {
    CompareModelsRequest request;
    request.models = {"clip-vit-b32"};
    request.hardware = {"H100", "KPU-T64"};
    request.conditions = fp16_options();
    const ModelComparison comparison = compare_models(laws::session(), request);
    REQUIRE(comparison.results.size() == 2);
    const std::string json = to_json(comparison);
    CHECK(json.find("\"parts\"") != std::string::npos);
    CHECK(json.find("\"similarity\"") != std::string::npos);
}
