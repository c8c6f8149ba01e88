// Budgets: rules by hand, baselines that read back as they were written, outcomes and exit statuses.

#include "answers/budget/budget.hpp"
#include "cli/workplace.hpp"
#include "laws/laws.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <fstream>

using namespace archsim;

namespace {

EstimateRecord with_latency(double seconds) {
    EstimateRecord record;
    record.values["latency"] = {seconds, {seconds, seconds}};
    return record;
}

BudgetStatus status_of(const std::string& rule, double before, double after) {
    const EstimateRecord old = with_latency(before), now = with_latency(after);
    return apply(parse_budget_rule(rule, "--fail-on"), &old, &now).status;
}

BudgetAnswer answer_of(const std::vector<std::string>& models, const std::vector<std::string>& hardware,
                       const std::filesystem::path& baseline = {}) {
    BudgetRequest request;
    request.models = models;
    request.hardware = hardware;
    request.baseline = baseline;
    request.conditions.precision = PrecisionConfig::uniform(Precision::fp16);
    return check_budget(laws::session(), std::move(request));
}

} // namespace

TEST_CASE("budget rules fail above and below values, changes and shares", "[budget]") {
    CHECK(status_of("latency>5ms", 1e-3, 5.1e-3) == BudgetStatus::exceeded);
    CHECK(status_of("latency>5ms", 9e-3, 5e-3) == BudgetStatus::kept);
    CHECK(status_of("latency>+5%", 10e-3, 10.6e-3) == BudgetStatus::exceeded);
    CHECK(status_of("latency>+5%", 10e-3, 10.5e-3) == BudgetStatus::kept);
    CHECK(status_of("latency>+5%", 10e-3, 1e-3) == BudgetStatus::kept);
    CHECK(status_of("latency>+1ms", 10e-3, 11.5e-3) == BudgetStatus::exceeded);
    CHECK(status_of("latency>+1ms", 10e-3, 10.5e-3) == BudgetStatus::kept);
    CHECK(status_of("latency<-20%", 10e-3, 7e-3) == BudgetStatus::exceeded);
    CHECK(status_of("latency<-20%", 10e-3, 9e-3) == BudgetStatus::kept);
    const EstimateRecord now = with_latency(1);
    CHECK(apply(parse_budget_rule("latency>+5%", "--fail-on"), nullptr, &now).status ==
          BudgetStatus::no_baseline);
    CHECK(apply(parse_budget_rule("latency>5ms", "--fail-on"), nullptr, nullptr).failed());
    CHECK(apply(parse_budget_rule("energy>5mJ", "--fail-on"), &now, &now).failed());
    for (const char* bad : {"latency", ">5ms", "latency>", "latency>fast", "latency>+%", "latency>+",
                            "speed>1", "latency>+5 %%", "latency>5%"})
        CHECK_THROWS_AS(parse_budget_rule(bad, "--fail-on"), UsageError);
}

TEST_CASE("a certainty holds limits of values by the interval, and changes by the estimate", "[budget]") {
    EstimateRecord now;
    now.values["latency"] = {10e-3, {7e-3, 14e-3}};
    const auto judged = [&](const std::string& rule, double certainty) {
        return apply(parse_budget_rule(rule, "--fail-on"), &now, &now, certainty);
    };
    CHECK(judged("latency>11ms", 0).status == BudgetStatus::kept);
    CHECK(judged("latency>11ms", 0).chance.value() == Approx(0.71).epsilon(0.01)); // t = 0.604
    CHECK(judged("latency>11ms", 0.9).status == BudgetStatus::exceeded);
    CHECK(judged("latency>11ms", 0.7).status == BudgetStatus::kept);
    CHECK(judged("latency>14ms", 0.94).status == BudgetStatus::kept); // the end of the interval: 95 %
    CHECK(judged("latency>14ms", 0.96).status == BudgetStatus::exceeded);
    CHECK(judged("latency<9ms", 0.9).chance.value() + judged("latency>9ms", 0.9).chance.value() == Approx(1));
    CHECK_FALSE(judged("latency>+5%", 0.9).chance);
    CHECK(judged("latency>+5%", 0.9).status == BudgetStatus::kept);
    // A value without an interval, such as memory, is what it is.
    now.values["latency"] = {10e-3, {10e-3, 10e-3}};
    CHECK(judged("latency>10ms", 0.99).status == BudgetStatus::kept);
    CHECK(judged("latency>9ms", 0.01).status == BudgetStatus::exceeded);
}

TEST_CASE("a baseline reads back as it was written, and nothing has moved since", "[budget]") {
    const test::Workplace workplace;
    const auto file = workplace.folder() / "baseline.json";
    // One graph, several parts, a device without external memory, a power mode, one that runs int8 alone.
    const std::vector<std::string> models = {"resnet18", "t5-small", "bert-base"},
                                   hardware = {"H100", "TPU-v4", "KPU-T64@6W", "Hailo-8"};
    const BudgetAnswer first = answer_of(models, hardware);
    std::ofstream(file) << baseline_json(first);
    const BudgetAnswer second = answer_of(models, hardware, file);
    int compared = 0;
    for (std::size_t i = 0; i < first.estimates.size(); ++i) {
        const BudgetedEstimate& e = second.estimates[i];
        CAPTURE(e.title());
        CHECK(e.before.has_value() == e.after.has_value());
        CHECK(e.moved.empty());
        if (!e.before)
            continue;
        ++compared;
        for (const Metric* metric : {&metric::latency, &metric::energy, &metric::memory}) {
            if (!e.before->values.contains(metric->key))
                continue;
            const Difference none = explain_difference(*e.before, *e.after, *metric);
            CHECK(none.attribution.contributions.empty());
            CHECK(none.aligned == none.operators[0]);
        }
    }
    CHECK(compared >= 8);
    // From a file the difference to another model is the same as from estimates.
    const std::vector<EstimateRecord> records = read_baseline(file);
    const EstimateRecord other = record_of(laws::run("resnet34", "H100", Precision::fp16));
    const Difference from_file = explain_difference(records.front(), other, metric::latency);
    const Difference direct = explain_difference(*first.estimates.front().after, other, metric::latency);
    REQUIRE(from_file.attribution.contributions.size() == direct.attribution.contributions.size());
    for (std::size_t i = 0; i < direct.attribution.contributions.size(); ++i)
        CHECK(from_file.attribution.contributions[i].value == direct.attribution.contributions[i].value);
    CHECK(from_file.blocks.size() == direct.blocks.size());
}

TEST_CASE("a damaged baseline is an error that names the place", "[budget]") {
    const test::Workplace workplace;
    const auto file = workplace.folder() / "baseline.json";
    const std::string good = baseline_json(answer_of({"resnet18"}, {"H100"}));
    const auto damaged = [&](const std::string& from, const std::string& to) {
        std::string text = good;
        const auto at = text.find(from);
        REQUIRE(at != std::string::npos);
        text.replace(at, from.size(), to);
        std::ofstream(file) << text;
        try {
            read_baseline(file);
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string("read");
    };
    CHECK_THAT(damaged("\"clock_ratio\": ", "\"clock\": "),
               Catch::Contains("/estimates/0/graphs/0/clock_ratio"));
    CHECK_THAT(damaged("archsim.baseline/1", "archsim.baseline/9"), Catch::Contains("schema"));
    CHECK_THAT(damaged("\"compute\": \"fp16\"", "\"compute\": \"fp17\""), Catch::Contains("numeric format"));
    CHECK_THAT(damaged("\"operators\": [\n0", "\"operators\": [\n987654"),
               Catch::Contains("operators of the graph"));
    CHECK(damaged("{", "[") != "read");
    CHECK_THROWS_AS(read_baseline(workplace.folder() / "no_such.json"), InputError);
}

TEST_CASE("check_budget ends as its budgets do", "[budget][cli]") {
    const test::Workplace workplace;
    const std::string tool = "check_budget resnet18 --hardware H100 --precision fp16 ";
    CHECK(workplace.run(tool + "--save-baseline base.json --fail-on 'latency>1s'").status == 0);
    CHECK(workplace.run(tool + "--fail-on 'latency>1ns'").status == 4);
    CHECK(workplace.run(tool + "--fail-on 'latency>+5%' 2>&1").status == 1);
    CHECK(workplace.run(tool + "--baseline base.json --fail-on 'latency>+5%'").status == 0);
    CHECK(workplace.run(tool + "--baseline none.json --fail-on 'latency>+5%' 2>&1").status == 2);
    // A larger model under the old name.
    std::string base = test::read(workplace.folder() / "base.json");
    const auto at = base.find("\"model\": \"resnet18\"");
    REQUIRE(at != std::string::npos);
    base.replace(at, 19, "\"model\": \"resnet34\"");
    std::ofstream(workplace.folder() / "old.json") << base;
    const test::Said said =
        workplace.run("check_budget resnet34 --hardware H100 --precision fp16 --baseline old.json --fail-on "
                      "'latency>+5%' --fail-on 'memory>1GB' --junit out.xml --format markdown");
    CHECK(said.status == 4);
    CHECK_THAT(said.output, Catch::Contains("FAILED: 1 of 2 budgets exceeded"));
    CHECK_THAT(said.output, Catch::Contains("- the 8 blocks layer\\*.\\* added"));
    const std::string junit = test::read(workplace.folder() / "out.xml");
    CHECK_THAT(junit, Catch::Contains("tests=\"2\" failures=\"1\""));
    CHECK_THAT(junit, Catch::Contains("<testcase classname=\"resnet34 on H100\" name=\"latency&gt;+5%\""));
    CHECK(workplace.run("python3 -c \"import xml.dom.minidom as x; x.parse('out.xml')\"").status == 0);
}

TEST_CASE("a baseline of another question is none to compare with", "[budget]") {
    const test::Workplace workplace;
    const std::string ask =
        "check_budget bert-base --hardware H100 --quiet --fail-on 'latency>+5%' --format json ";
    CHECK(workplace
              .run("check_budget bert-base --hardware H100 --quiet --dim sequence=64 --fail-on 'latency>1s' "
                   "--save-baseline b.json")
              .status == 0);
    CHECK(workplace.run(ask + "--baseline b.json --dim sequence=64").status == 0);
    for (const auto& [more, known] : {std::pair{"--dim sequence=64", true},
                                      {"--dim sequence=512", false},
                                      {"--dim sequence=64 --scope end_to_end", false},
                                      {"--dim sequence=64 --kv-cache fp8", false}}) {
        INFO(more);
        const test::Said answered = workplace.run(ask + "--baseline b.json --junit out.xml " + more);
        const auto said = nlohmann::json::parse(answered.output);
        CHECK(said.at("estimates").at(0).at("in_baseline") == known);
        // Nothing compared is no success.
        CHECK(answered.status == (known ? 0 : 4));
        CHECK(said.at("failures") == (known ? 0 : 1));
        CHECK(said.at("estimates").at(0).at("outcomes").at(0).at("reason").is_null() == known);
        CHECK((test::read(workplace.folder() / "out.xml").find("failures=\"0\"") != std::string::npos) ==
              known);
    }
    // A device in its usual mode is the same device without it.
    CHECK(workplace.run("check_budget resnet18 --hardware Jetson-Orin-Nano --save-baseline m.json").status ==
          0);
    CHECK(workplace
              .run("check_budget resnet18 --hardware Jetson-Orin-Nano@15W --baseline m.json --fail-on "
                   "'latency>+1%'")
              .status == 0);
    CHECK(workplace
              .run("check_budget resnet18 --hardware Jetson-Orin-Nano@7W --baseline m.json --fail-on "
                   "'latency>+1%'")
              .status == 4);
}
