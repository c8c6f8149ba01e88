// The blocks behind --explain-energy, --show-memory, --cost and --grid-intensity, in every format.

#include "answers/compare/compare_models_report.hpp"
#include "laws/laws.hpp"
#include "report/blocks/explanations.hpp"
#include "result/memory_fit.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>

using namespace archsim;

namespace {

ModelComparison compare(const std::vector<std::string>& models, const std::vector<std::string>& hardware,
                        std::int64_t batch = 1) {
    CompareModelsRequest request;
    request.models = models;
    request.hardware = hardware;
    request.workload.batch = batch;
    request.conditions.precision = PrecisionConfig::uniform(Precision::int8);
    return compare_models(laws::session(), request);
}

CompareModelsView everything(bool verbose) {
    CompareModelsView view;
    view.verbose = verbose;
    view.explanations.energy = view.explanations.memory = view.explanations.cost = true;
    view.explanations.subgraphs = verbose;
    return view;
}

} // namespace

TEST_CASE("all explanations come in all formats", "[report][explanations]") {
    const ModelComparison comparison =
        compare({"mobilenet_v2", "resnet50"}, {"A100", "T4", "KPU-T64@6W", "TPU-v1"}, 8);
    const Report report = describe(comparison, everything(true));
    const Report table = describe(comparison, everything(true), Format::csv);
    for (const Format format : {Format::text, Format::markdown, Format::html, Format::csv}) {
        const std::string out = render(format == Format::csv ? table : report, format, {200});
        INFO(name_of(format));
        for (const char* word : {"A100", "KPU-T64@6W", "multiply-accumulate int8", "no published price"})
            CHECK(out.find(word) != std::string::npos);
        CHECK(out.find("nan") == std::string::npos);
    }
    // Tables have no titles in CSV: each row says what it is about.
    const std::string csv = render(table, Format::csv);
    CHECK(csv.find("model,hardware,event,count,each_j,energy_j,share,source_kind,source") !=
          std::string::npos);
    CHECK(csv.find("resnet50,T4,multiply-accumulate int8,") != std::string::npos);
    CHECK(render(report, Format::text, {200}).find("resnet50  T4 ") == std::string::npos);
}

TEST_CASE("the document holds what was asked for and adds up", "[report][explanations]") {
    const ModelComparison comparison = compare({"mobilenet_v2"}, {"A100", "Hailo-8", "Ethos-N78"}, 8);
    CHECK_FALSE(nlohmann::json::parse(to_json(comparison)).contains("energy"));
    const auto document = nlohmann::json::parse(to_json(comparison, everything(false)));
    for (const auto& result : document["energy"]["results"]) {
        double sum = 0;
        for (const auto& event : result["events"])
            sum += event["energy_j"].get<double>();
        CHECK(sum / 8 == Approx(result["energy_per_inference_j"].get<double>()).epsilon(1e-9));
    }
    for (const auto& result : document["memory"]["results"]) {
        double peak = 0;
        for (const auto& step : result["timeline"])
            peak = std::max(peak, step["bytes"].get<double>());
        CHECK(peak == result["live_bytes"].get<double>());
        double tensors = 0;
        for (const auto& tensor : result["peak_tensors"])
            tensors += tensor["bytes"].get<double>();
        CHECK(tensors == Approx(peak));
        CHECK(result["arena_bytes"].get<double>() >= peak);
    }
    CHECK(document["cost"]["results"].size() == 3);
    CHECK(document["cost"]["results"][0]["cloud_price"]["date"].is_string());
}

TEST_CASE("carbon alone is one line", "[report][explanations]") {
    const ModelComparison comparison = compare({"mobilenet_v2"}, {"A100", "T4"});
    CostOptions clean, dirty;
    clean.grid_intensity = 50;
    dirty.grid_intensity = 500;
    REQUIRE(carbon_blocks(comparison.results, clean).size() == 1);
    const auto grams = [&](const CostOptions& o) { return *cost_of(comparison.results[0], o).carbon_g; };
    CHECK(grams(dirty) == Approx(10 * grams(clean)));
    CompareModelsView view;
    view.explanations.carbon = true;
    CHECK(render(describe(comparison, view), Format::text, {200}).find("Carbon, CO2e per 1,000") !=
          std::string::npos);
}

TEST_CASE("what would stay on the chip does, and one item more does not", "[report][memory]") {
    std::size_t tried = 0;
    for (const char* hardware : {"Ethos-N78", "QCS8550", "KPU-T64@6W"})
        for (const std::string& model : laws::models()) {
            const Result r = laws::run(model, hardware, Precision::int8, 32);
            const auto fit = memory_fit(r);
            if (!fit || fit->on_chip_options.empty())
                continue;
            INFO(model << " on " << hardware);
            const FitOption& option = fit->on_chip_options.front();
            REQUIRE(option.precision == r.estimate.executed);
            const auto batch = static_cast<std::int64_t>(option.batch);
            const auto alive = [&](std::int64_t b) {
                return laws::run(model, hardware, Precision::int8, b).work->memory.peak_live_bytes;
            };
            CHECK(alive(batch) <= fit->on_chip_bytes * 1.001);
            CHECK(alive(batch + 1) > fit->on_chip_bytes * 0.999);
            ++tried;
        }
    CHECK(tried >= 4);
}

TEST_CASE("what does not fit the device names what would", "[report][memory]") {
    Result r = laws::run("resnet50", "A100", Precision::fp32, 32);
    REQUIRE(r.ok());
    Machine small = *r.machine;
    small.memory_capacity_bytes = 150e6; // 102 MB of weights and 32 x 5 MB of activations in fp32
    r.machine = std::make_shared<const Machine>(small);
    r.estimate = estimate(*r.work, small, {});
    REQUIRE(r.estimate.status == Status::does_not_fit);
    const auto fit = memory_fit(r);
    REQUIRE(fit);
    CHECK_FALSE(fit->in_device());
    REQUIRE(fit->device_options.size() >= 2);
    CHECK(fit->device_options.front().batch < 32);
    CHECK(std::any_of(fit->device_options.begin(), fit->device_options.end(), [](const FitOption& o) {
        return o.precision.weights == Precision::int8 && o.batch == 32;
    }));
    for (const FitOption& option : fit->device_options)
        CHECK(option.bytes <= small.memory_capacity_bytes);
    Report report;
    report.blocks = memory_blocks(std::span(&r, 1));
    CHECK(render(report, Format::text, {160}).find("does not fit the device; would: batch") !=
          std::string::npos);
}
