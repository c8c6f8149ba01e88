// The verdict on top of an answer says what the results say; equal things stand together.

#include "answers/compare/compare_models_report.hpp"
#include "answers/mapping/graph_mapping.hpp"
#include "archsim/run/compare_models.hpp"
#include "laws/laws.hpp"
#include "report/blocks/finding_text.hpp"
#include "report/blocks/result_text.hpp"
#include "report/blocks/shape_text.hpp"
#include "report/blocks/subgraph_table.hpp"
#include "report/blocks/verdict.hpp"
#include "result/generation_metrics.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <set>

using namespace archsim;
using Catch::Contains;

namespace {

ModelComparison compared(std::vector<std::string> models, std::vector<std::string> hardware) {
    CompareModelsRequest request;
    request.models = std::move(models);
    request.hardware = std::move(hardware);
    return compare_models(laws::session(), request);
}

const Takeaway& takeaway_of(const Report& report) {
    for (const Block& block : report.blocks)
        if (const auto* takeaway = std::get_if<Takeaway>(&block))
            return *takeaway;
    FAIL("no takeaway");
    static const Takeaway none;
    return none;
}

} // namespace

TEST_CASE("the odds of being ahead are those of the two, whoever else there is", "[report][verdict]") {
    const auto winner = [](std::vector<std::string> hardware) {
        return *find_winner(compared({"resnet50"}, std::move(hardware)).results, metric::latency);
    };
    const Winner two = winner({"H100", "L4"}), more = winner({"H100", "L4", "A100", "T4"});
    REQUIRE(two.best == more.best);
    REQUIRE(*two.next == *more.next);
    CHECK(two.ahead == more.ahead);
    CHECK(two.ahead == Approx(two.probability));
    CHECK(more.ahead >= more.probability);
}

TEST_CASE("nobody is called best whom an unmeasured estimate beats with all of its interval",
          "[report][verdict]") {
    ModelComparison c = compared({"resnet50"}, {"H100", "T4"});
    const auto labels = hardware_labels(c.results);
    const auto first_line = [&] {
        return verdict_record(
                   {.results = c.results, .labels = labels, .by = metric::latency, .conditions = {}})
            .lines.front();
    };
    CHECK_THAT(first_line(), Contains("Fastest: H100"));
    Estimate& faster = c.results.front().estimate;
    faster.projected = true;
    REQUIRE(faster.latency_interval.high < c.results.back().estimate.latency_interval.low);
    CHECK_THAT(first_line(), !Contains("Fastest") && Contains("T4") && Contains("H100"));
    faster.latency_interval.high = 2 * c.results.back().estimate.latency_interval.low;
    CHECK_THAT(first_line(), Contains("Fastest: T4"));
}

TEST_CASE("the verdict names the winner of find_winner, its value and who is tied", "[report][verdict]") {
    const ModelComparison c = compared({"resnet50"}, {"H100", "A100", "T4", "KPU-T64@6W"});
    const auto labels = hardware_labels(c.results);
    const auto said = verdict_members().value(
        verdict_record({.results = c.results, .labels = labels, .by = metric::latency, .conditions = {}}));
    REQUIRE(said.at("best").size() == 2); // latency and energy
    for (const auto& best : said.at("best")) {
        const Metric& m = *MetricTable::standard().find(best.at("metric").get<std::string>());
        const auto winner = find_winner(c.results, m);
        REQUIRE(winner);
        REQUIRE(winner->leads);
        CHECK(best.at("device") == labels[winner->best]);
        CHECK(best.at("probability") == Approx(winner->probability));
        CHECK(best.at("close").size() == winner->close.size());
        CHECK(best.at("value") == Approx(*value_of(c.results[winner->best], m)));
        CHECK(best.at("tied").size() == winner->tied.size());
        CHECK(best.at("measured") == true);
        CHECK_THAT(said.at("lines").at(0).get<std::string>(), Contains(labels[winner->best]));
    }
    CHECK(said.at("bound").at("device") == said.at("best").at(0).at("device"));
    CHECK(takeaway_of(describe(c)).lines == said.at("lines").get<std::vector<std::string>>());
}

TEST_CASE("who is too close to call has somebody beside", "[report][verdict][laws]") {
    const ModelComparison c = compared({"resnet50"}, laws::session().hardware().device_ids());
    for (const Metric* m : {&metric::latency, &metric::energy, &metric::cost})
        if (const auto winner = find_winner(c.results, *m))
            CHECK(winner->close.size() != 1);
}

TEST_CASE("what sorts a table has a column, of answers to prompts too", "[report][verdict]") {
    CompareModelsRequest request;
    request.models = {"qwen3-0.6b"};
    request.hardware = {"H100", "L4"};
    request.workload.prompt = Prompt{.tokens = 64, .generate = 16};
    request.decision.cost.tenure = Tenure::rent;
    CompareModelsView view;
    view.sort_by = &metric::cost;
    const Report report = describe(compare_models(laws::session(), request), view);
    std::size_t columns = 0;
    for (const Block& block : report.blocks)
        if (const auto* table = std::get_if<Table>(&block);
            table && table->title.find("by Cost") != table->title.npos)
            for (const Column& column : table->columns)
                columns +=
                    column.heading == "Cost" && column.priority == 0 && column.unit == "USD/million rented";
    CHECK(columns == 1);
}

TEST_CASE("limits are counted over what runs", "[report][verdict]") {
    const ModelComparison c = compared({"resnet50"}, {"H100", "A100", "T4"});
    const auto labels = hardware_labels(c.results);
    DecisionRequest request;
    request.constraints = {{&metric::power, 60}};
    const Decision decision = decide(c.results, request);
    std::size_t met = 0;
    for (const Result& r : c.results)
        met += r.estimate.power_w <= 60 ? 1U : 0U;
    const auto said =
        verdict_members().value(verdict_record({c.results, labels, metric::latency, {}, &decision}));
    CHECK(said.at("limits").at(0).at("met") == met);
    CHECK(said.at("limits").at(0).at("of") == c.results.size());
    CHECK_THAT(said.at("lines").dump(), Contains("met by " + std::to_string(met) + " of 3"));
}

TEST_CASE("language models are judged by tokens", "[report][verdict]") {
    CompareModelsRequest request;
    request.models = {"llama-3-8b"};
    request.hardware = {"H100", "L4"};
    request.conditions.precision = PrecisionConfig::uniform(Precision::fp16);
    request.workload.prompt = Prompt{.tokens = 64, .generate = 8};
    const ModelComparison c = compare_models(laws::session(), request);
    REQUIRE(compares_generation(c.results));
    const auto document = nlohmann::json::parse(to_json(c));
    CHECK(document.at("verdicts").at(0).at("best").at(0).at("metric") == "token_rate");
    CHECK(document.at("verdicts").at(0).at("best").at(1).at("metric") == "first_token");
    CHECK(document.at("verdicts").at(0).at("best").at(2).at("metric") == "token_energy");
    const std::string text = render(describe(c), Format::text);
    CHECK_THAT(text, Contains("tokens/s") && Contains("J/token") && !Contains("FPS/W"));
    for (const Result& r : c.results)
        CHECK(*value_of(r, metric::token_rate) == Approx(r.generation->tokens_per_s_stream));
}

TEST_CASE("money says what of: requests and tokens of a language model, inferences of others",
          "[report][verdict][cost]") {
    CompareModelsRequest request;
    request.hardware = {"H100", "L4"};
    CompareModelsView view;
    view.sort_by = &metric::cost;
    request.models = {"llama-3-8b"};
    request.workload.prompt = Prompt{};
    CHECK_THAT(
        takeaway_of(describe(compare_models(laws::session(), request), view, Format::text)).lines.front(),
        Contains("per million requests ($") && Contains("written per million tokens)"));
    request.models = {"resnet50"};
    request.workload.prompt.reset();
    CHECK_THAT(
        takeaway_of(describe(compare_models(laws::session(), request), view, Format::text)).lines.front(),
        Contains("per million inferences"));
}

TEST_CASE("a rate beyond what a device completes stands first, with how many carry it", "[report][verdict]") {
    CompareModelsView view;
    view.percentiles = PercentileRequest{.rate_per_s = 1e5, .rows = laws::session().spread_rows()};
    const ModelComparison c = compared({"resnet50"}, {"T4"});
    CHECK_THAT(takeaway_of(describe(c, view, Format::text)).lines.front(),
               Contains("Overloaded at ") && Contains(" devices carry it"));
    view.percentiles->rate_per_s = 10;
    CHECK_THAT(takeaway_of(describe(c, view, Format::text)).lines.front(), !Contains("Overloaded"));
}

TEST_CASE("another stack is advised on where its odds are 3 to 1", "[report][verdict]") {
    const ModelComparison c = compared({"bert-large", "bert-base", "resnet50", "vit_b_16"}, {"A100", "T4"});
    for (const std::vector<TriedChange>& of_model : c.tried)
        for (const TriedChange& change : of_model)
            CHECK((change.asked.find("--runtime") == std::string::npos || change.probability >= 0.75));
}

TEST_CASE("several models: the matrix first, a line for each, details on request", "[report][verdict]") {
    const ModelComparison c = compared({"resnet50", "mobilenet_v2"}, {"H100", "T4"});
    const std::string brief = render(describe(c), Format::text);
    CHECK(takeaway_of(describe(c)).lines.size() == 2);
    CHECK_THAT(brief, Contains("Latency of every model") && !Contains("Hardware Comparison"));
    CompareModelsView verbose;
    verbose.verbose = true;
    const std::string whole = render(describe(c, verbose), Format::text);
    CHECK_THAT(whole, Contains("Hardware Comparison"));
    CHECK(whole.find("Latency of every model") < whole.find("Hardware Comparison"));
}

TEST_CASE("groups of equal subgraphs hold every subgraph once and add up", "[report]") {
    for (const char* device : {"H100", "KPU-T64", "TPU-v4", "Xeon-8490H"}) {
        INFO(device);
        const Result r = laws::session().estimate({.model = laws::session().load("bert-base")}, device);
        REQUIRE(r.ok());
        const auto groups = group_subgraphs(r);
        CHECK(groups.size() < r.estimate.subgraphs.size() / 3); // twelve equal layers
        std::set<std::size_t> seen;
        double seconds = 0, joules = 0;
        for (const SubgraphGroup& group : groups) {
            seen.insert(group.members.begin(), group.members.end());
            seconds += group.latency_s;
            joules += group.energy_j;
        }
        CHECK(seen.size() == r.estimate.subgraphs.size());
        double expected_s = 0, expected_j = 0;
        for (const SubgraphEstimate& s : r.estimate.subgraphs) {
            expected_s += s.latency_s;
            expected_j += s.energy.total();
        }
        CHECK(seconds == Approx(expected_s));
        CHECK(joules == Approx(expected_j));
        const Table table = grouped_subgraph_table(r, 4);
        CHECK(table.rows.size() == (outside_subgraphs(r) ? 6U : 5U));
        double shown = 0;
        for (const auto& row : table.rows)
            shown += row[3].value.value_or(0);
        CHECK(shown == Approx(r.estimate.latency_s)); // the rest, and what no subgraph holds, have rows
    }
}

TEST_CASE("names that differ in numbers share a name with stars", "[report]") {
    CHECK(common_name({"/layer.0/MatMul", "/layer.11/MatMul"}) == "/layer.*/MatMul");
    CHECK(common_name({"/layer4/conv1", "/layer4/conv1"}) == "/layer4/conv1");
    CHECK(common_name({"/layer4.1/conv1", "/layer4.2/conv1", "/layer4.3/conv1"}) == "/layer4.*/conv1");
    CHECK(common_name({"/a/b", "/a/c"}) == "/a/b");
    CHECK(common_name({"a1", "a1b"}) == "a1");
    CHECK(common_name({}).empty());
    CHECK(name_shape("/layer.12/x3") == "/layer.*/x*");
    CHECK(shortened_name("0123456789", 10) == "0123456789");
    CHECK(shortened_name("0123456789", 8) == "...56789");
    CHECK(shortened_name("aaaaaaaa\xc3\xa9zzzz", 8) == "...zzzz"); // not half a character
}

TEST_CASE("equal findings are one line with a count", "[report]") {
    std::vector<Finding> findings;
    for (int i = 0; i < 88; ++i) {
        Finding finding;
        finding.severity = Severity::note;
        finding.where = "If_" + std::to_string(i);
        finding.message = "branch 1 is taken";
        findings.push_back(finding);
    }
    findings.emplace_back();
    findings.back().message = "something else";
    const auto lines = finding_lines(findings);
    REQUIRE(lines.size() == 2);
    CHECK_THAT(lines[0].text, Contains("If_0") && Contains("and 87 more"));
    CHECK_THAT(lines[1].text, Contains("something else") && !Contains("more"));
}
