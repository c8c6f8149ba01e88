// The mapping report: its terms are those the estimate was made of, on every family.

#include "answers/mapping/graph_mapping.hpp"

#include "answers/comprehensive/comprehensive.hpp"
#include "archsim/run/session.hpp"
#include "estimate/resource_times.hpp"
#include "report/blocks/ranking_table.hpp"
#include "result/generation_metrics.hpp"
#include "session/graph_run.hpp"
#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace archsim;

namespace {

const std::vector<std::string> kOnePerFamily = {"Xeon-8490H", "A100",       "TPU-v4", "KPU-T256",
                                                "QRB5165",    "DPU-ZCU102", "SN10",   "Hailo-8"};

Result run_on(const std::string& hardware, const std::string& model = "resnet18") {
    Conditions options;
    options.precision = PrecisionConfig::uniform(Precision::int8);
    Result result =
        run_graph(test::shipped_session(),
                  test::shipped_session().bind(test::shipped_session().load(model), 1), hardware, options);
    if (!result.ok()) {
        options.precision = PrecisionConfig::uniform(Precision::fp32);
        result = run_graph(test::shipped_session(),
                           test::shipped_session().bind(test::shipped_session().load(model), 1), hardware,
                           options);
    }
    return result;
}

} // namespace

TEST_CASE("the resources of a subgraph add up to its lanes", "[report][mapping]") {
    for (const std::string& hardware : kOnePerFamily) {
        const Result result = run_on(hardware);
        INFO(hardware << ": " << result.estimate.reason);
        REQUIRE(result.ok());
        const bool prefetch = result.runtime->weight_prefetch == WeightPrefetch::network;
        for (const SubgraphEstimate& s : result.estimate.subgraphs) {
            const double repeat = result.partition->subgraphs[s.index].repeat;
            std::array<double, kLaneCount> lanes{};
            for (const ResourceTime& time :
                 resource_times(s.mapping, *result.machine, result.estimate.clock_ratio, repeat)) {
                CHECK(time.seconds == Approx(time.amount / (time.rate * time.efficiency)));
                if (!(prefetch && time.resource == Resource::weight_bytes))
                    lanes[static_cast<std::size_t>(time.lane)] += time.seconds;
            }
            for (std::size_t l = 0; l < kLaneCount; ++l)
                CHECK(lanes[l] == Approx(s.lane_s[l]));
        }
    }
}

TEST_CASE("the facts behind the rates outlive the machine they were made for", "[report][mapping]") {
    for (const std::string& hardware : test::shipped_session().hardware().device_ids()) {
        INFO(hardware);
        const auto copy = std::make_unique<Machine>(*test::shipped_session().machine(hardware, {}));
        for (const Rate& rate : copy->rates)
            for (const Fact* fact : rate.facts)
                if (fact)
                    REQUIRE(fact->known() == static_cast<bool>(fact->source));
    }
}

TEST_CASE("the mapping as JSON holds every subgraph and its terms", "[report][mapping]") {
    const Result result = run_on("A100");
    const auto document = nlohmann::json::parse(to_json(result, GraphMappingView{}));
    CHECK(document.at("schema") == "archsim.analyze_graph_mapping/1");
    REQUIRE(document.at("subgraphs").size() == result.partition->subgraphs.size());
    double latency = document.at("network_s");
    double operators = 0;
    for (const auto& s : document.at("subgraphs")) {
        latency += s.at("latency_s").get<double>();
        double energy = 0;
        for (const auto& [event, joules] : s.at("energy_events_j").items())
            energy += joules.get<double>();
        CHECK(energy == Approx(s.at("energy_j").get<double>()));
        for (const auto& op : s.at("operators"))
            operators += op.at("kind") != "free";
    }
    CHECK(latency == Approx(document.at("result").at("latency_s").get<double>()));
    CHECK(operators >= document.at("model").at("subgraphs").get<double>());
    CHECK(document.at("memory").at("live_bytes").size() == result.partition->subgraphs.size());
}

TEST_CASE("no point of the roofline lies above its roof", "[report][mapping]") {
    std::vector<Result> results;
    for (const char* hardware : {"A100", "TPU-v4", "KPU-T256"})
        results.push_back(run_on(hardware, "resnet50"));
    const Chart chart = roofline_chart(results);
    REQUIRE(chart.series.size() == 2 * results.size());
    for (std::size_t r = 0; r < results.size(); ++r) {
        const double bandwidth = results[r].machine->rate(Resource::dram_bytes);
        const double peak = results[r].machine->peak_ops(results[r].estimate.executed.compute);
        CHECK_FALSE(chart.series[r].points.empty());
        for (const ChartPoint& point : chart.series[r].points)
            CHECK(point.y <= std::min(peak, point.x * bandwidth) * 1.001);
    }
}

TEST_CASE("diagrams name every subgraph and every dependency, whatever the names", "[report][mapping]") {
    const Result result = run_on("A100");
    std::size_t edges = 0;
    for (const Subgraph& subgraph : result.partition->subgraphs)
        edges += subgraph.predecessors.size();
    REQUIRE(edges >= result.partition->subgraphs.size() - 1);
    const auto count = [](const std::string& text, const std::string& what) {
        std::size_t found = 0;
        for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + what.size()))
            ++found;
        return found;
    };
    const std::string dot = mapping_to_dot(result), mermaid = mapping_to_mermaid(result);
    CHECK(count(dot, "[label=\"") == result.partition->subgraphs.size());
    CHECK(count(dot, " -> s") == edges);
    CHECK(count(mermaid, "[\"") == result.partition->subgraphs.size());
    CHECK(count(mermaid, " --> ") == edges);

    Result renamed = result;
    Partition partition = *result.partition;
    partition.subgraphs.front().name = "a\"b\\<c>";
    renamed.partition = std::make_shared<const Partition>(std::move(partition));
    CHECK(count(mapping_to_dot(renamed), "a\\\"b\\\\<c>") == 1);
    CHECK(count(mapping_to_mermaid(renamed), "a#34;b\\#60;c#62;") == 1);
}

TEST_CASE("a device that cannot run the model says why", "[report][mapping]") {
    Result result = run_on("A100");
    result.estimate.status = Status::does_not_fit;
    result.estimate.reason = "needs 2 GB, the device has 1 GB";
    const Report report = describe(result, GraphMappingView{});
    const std::string text = render(report, Format::text);
    CHECK_THAT(text, Catch::Contains("No estimate: needs 2 GB"));
    CHECK(nlohmann::json::parse(to_json(result, GraphMappingView{})).at("subgraphs").empty());
}

TEST_CASE("of an answer the subgraphs are those of one pass, and shares are of it", "[report][mapping]") {
    const Session& session = test::shipped_session();
    Conditions conditions;
    conditions.precision = PrecisionConfig::uniform(Precision::bf16);
    conditions.stack = "llama.cpp"; // whose prompts do not wait for the host
    for (const std::int64_t tokens : {1, 65}) {
        const Workload workload{.model = session.load("qwen3-0.6b"),
                                .prompt = Prompt{.tokens = 256, .generate = tokens}};
        const Result r = session.estimate(workload, "H100", conditions);
        REQUIRE(r.ok());
        const ShownPass pass = shown_pass(r);
        CHECK(pass.part_of_answer);
        CHECK(pass.steps == Approx(static_cast<double>(tokens - 1)));
        CHECK(pass.latency_s <= r.estimate.latency_s * (1 + 1e-9));
        double seconds = 0, joules = 0, shares = 0;
        for (const SubgraphEstimate& s : r.estimate.subgraphs) {
            seconds += s.latency_s;
            joules += s.energy.total();
        }
        CHECK(seconds <= pass.latency_s * (1 + 1e-9));
        CHECK(seconds >= 0.8 * pass.latency_s); // the rest is what a pass costs outside of them
        CHECK(joules <= pass.energy_j * (1 + 1e-9));
        for (const KindShare& share : breakdown_by_kind(r))
            shares += share.latency_s;
        CHECK(shares == Approx(pass.latency_s));
        const auto document = nlohmann::json::parse(to_json(r, GraphMappingView{}));
        CHECK(document.at("pass").at("latency_s") == Approx(pass.latency_s));
        CHECK(document.at("verdict").at("best").at(0).at("metric") ==
              (tokens > 1 ? "token_rate" : "first_token"));
    }
    const Result whole = session.estimate({.model = session.load("resnet18")}, "H100");
    CHECK_FALSE(shown_pass(whole).part_of_answer);
    CHECK(shown_pass(whole).latency_s == whole.estimate.latency_s);
}
