// Operations as shares of subgraphs and of time, the layers of extreme utilisation, and what an average
// means.

#include "report/blocks/subgraph_table.hpp"

#include "laws/laws.hpp"
#include "result/common_regions.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace archsim;

namespace {

Result estimate_of(const char* model, const char* device, std::int64_t batch = 1) {
    Conditions conditions;
    conditions.precision = PrecisionConfig::uniform(Precision::fp16);
    return laws::session().estimate(
        {.model = laws::session().load(model), .batch = batch, .single_pass = true}, device, conditions);
}

const OperationShare* share_named(const std::vector<OperationShare>& shares, const std::string& name) {
    for (const OperationShare& share : shares)
        if (share.name == name)
            return &share;
    return nullptr;
}

} // namespace

TEST_CASE("every subgraph and every second belongs to one operation", "[report][operation_shares]") {
    for (const char* model : {"resnet50", "vit_b_16", "bert-base", "clip-vit-b32"})
        for (const char* device : {"H100", "Xeon-8490H", "KPU-T256", "Hailo-8"}) {
            INFO(model << " on " << device);
            const Result result = estimate_of(model, device);
            if (!result.ok())
                continue;
            double subgraphs = 0, seconds = 0, outside = 0, expected = 0;
            for (const OperationShare& share : operation_shares(result)) {
                subgraphs += share.subgraphs;
                seconds += share.latency_s;
            }
            for (const ResultLeaf& leaf : leaves_of(result)) {
                expected += leaf.repeat * static_cast<double>(leaf.result->partition->subgraphs.size());
                outside += leaf.repeat * leaf.result->estimate.network_s;
            }
            CHECK(subgraphs == expected);
            CHECK(seconds + outside == Approx(result.estimate.latency_s).epsilon(1e-6));
        }
}

TEST_CASE("operations have the words of their field", "[report][operation_shares]") {
    const auto resnet = operation_shares(estimate_of("resnet50", "H100"));
    REQUIRE(share_named(resnet, "Conv2D") != nullptr);
    CHECK(share_named(resnet, "Conv2D")->subgraphs == 53); // the convolutions of ResNet-50
    CHECK(share_named(resnet, "Linear")->subgraphs == 1);
    CHECK(share_named(resnet, "Pooling")->subgraphs == 2);
    CHECK(resnet.front().name == "Conv2D");
    const auto bert = operation_shares(estimate_of("bert-base", "H100"));
    CHECK(share_named(bert, "Linear") != nullptr);
    CHECK(share_named(bert, "Attention") != nullptr);
    const auto items = subgraph_shares(estimate_of("resnet50", "H100"));
    CHECK(items.front().name == "Conv2D Operations");
    CHECK_THAT(items.front().value, Catch::Contains("% (53 subgraphs)"));
}

TEST_CASE("the extremes of utilisation name their layers", "[report][operation_shares]") {
    const Result result = estimate_of("resnet50", "KPU-T64@6W");
    const auto facts = utilization_facts(result);
    REQUIRE(facts.size() == 4);
    double low = 2, high = -1;
    std::string low_name, high_name;
    for (const SubgraphEstimate& s : result.estimate.subgraphs) {
        if (s.utilization <= 0)
            continue;
        const std::string& name = result.partition->subgraphs[s.index].name;
        if (s.utilization < low) {
            low = s.utilization;
            low_name = name;
        }
        if (s.utilization > high) {
            high = s.utilization;
            high_name = name;
        }
    }
    CHECK(facts[1].name == "Min");
    CHECK_THAT(facts[1].value, Catch::Contains(low_name));
    CHECK(facts[2].name == "Max");
    CHECK_THAT(facts[2].value, Catch::Contains(high_name + ", Conv2D"));
}

TEST_CASE("a utilisation is read by its band", "[report][operation_shares]") {
    CHECK(utilization_band(0.95).verdict == "excellent");
    CHECK(utilization_band(0.9).verdict == "excellent");
    CHECK(utilization_band(0.8999).verdict == "good");
    CHECK(utilization_band(0.7).verdict == "good");
    CHECK(utilization_band(0.6).verdict == "fair");
    CHECK(utilization_band(0.4999).verdict == "poor");
    CHECK(utilization_band(0).verdict == "poor");
    // What binds is said from the estimate's own times.
    const Result small = estimate_of("resnet50", "H100");
    CHECK_THAT(utilization_reading(small), Catch::StartsWith("poor, significant waste: "));
    CHECK_THAT(utilization_reading(small), Catch::Contains("bound by starting kernels and layers"));
    const Result decoder = estimate_of("llama-3-8b", "H100");
    CHECK_THAT(utilization_reading(decoder), Catch::Contains("bound by"));
}
