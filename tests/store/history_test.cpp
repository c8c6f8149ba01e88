// What a file of results tells of runs: what changed, and that different questions are never compared.

#include "store/history.hpp"
#include "store/results_file.hpp"
#include "store/results_path.hpp"

#include "archsim/core/version.hpp"
#include "cli/workplace.hpp"
#include "fields/question.hpp"
#include "hardware/schema_check.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <set>
#include <sys/wait.h>

using namespace archsim;
using namespace archsim::test;

TEST_CASE("history tells what changed, what got worse and what is new", "[store]") {
    const ResultsPath path;
    std::vector<Result> results = two_results();
    save(path.file(), {"t", "one"}, results);
    results[0].estimate.latency_s *= 1.25;
    results[1].estimate.latency_s *= 0.5;
    save(path.file(), {"t", "two"}, results);
    const Result third = laws::run("mobilenet_v2", "H100", Precision::fp16, 1);
    save(path.file(), {"t", "three"}, {&third, 1});

    const HistoryChanges changes = compare_history(path.file(), "1", "2", metric::latency);
    REQUIRE(changes.changes.size() == 2);
    CHECK(changes.worse() == 1);
    CHECK(changes.changes[0].worse); // the worst first
    CHECK(changes.changes[0].ratio() == Approx(1.25));
    CHECK(changes.changes[1].better);
    CHECK(changes.changes[1].ratio() == Approx(0.5));
    CHECK(changes.gone.empty());

    const HistoryChanges last = compare_history(path.file(), "previous", "last", metric::latency);
    CHECK(last.changes.empty());
    CHECK(last.gone.size() == 2);
    CHECK(last.added.size() == 1);
    // Throughput is better the other way round; it did not change.
    CHECK(compare_history(path.file(), "1", "2", metric::energy).same == 2);
    // All runs of a version: the newest answer of each question counts, so that a version equals itself.
    CHECK(
        compare_history(path.file(), std::string(version()), std::string(version()), metric::latency).same ==
        3);
    CHECK_THROWS_WITH(compare_history(path.file(), "1", "9", metric::latency),
                      Catch::Contains("no run \"9\""));

    CHECK(find_regressions(path.file(), metric::latency).worse() == 1);
    CHECK(find_regressions(path.file(), metric::latency, 0.3).worse() == 0);
    HistoryFilter jetson;
    jetson.hardware = "orin-nano@15";
    CHECK(find_regressions(path.file(), metric::latency, 0, jetson).worse() == 0);
    const HistoryTrend trend = history_trend(path.file(), metric::latency, jetson);
    REQUIRE(trend.trends.size() == 1);
    REQUIRE(trend.trends[0].points.size() == 2);
    CHECK(trend.trends[0].points[1].measure->value == Approx(trend.trends[0].points[0].measure->value / 2));

    // A cell that no longer runs is worse.
    results[0].estimate.status = Status::unsupported;
    save(path.file(), {"t", "four"}, results);
    const HistoryChanges lost = find_regressions(path.file(), metric::latency);
    REQUIRE(lost.worse() == 1);
    CHECK(lost.changes[0].status_after == "unsupported");

    for (const auto format : {Format::text, Format::markdown, Format::csv, Format::html, Format::json}) {
        CHECK_FALSE(render(changes, format, PlainView{}).empty());
        CHECK_FALSE(render(trend, format, PlainView{}).empty());
        CHECK_FALSE(render(history_rows(path.file()), format, PlainView{}).empty());
        CHECK_FALSE(render(list_history(path.file()), format, PlainView{}).empty());
    }
    const auto document = nlohmann::json::parse(to_json(history_rows(path.file())));
    REQUIRE(document["rows"].size() == 7);
    CHECK(document["rows"][0]["latency_s"] == two_results()[0].estimate.latency_s);
}

TEST_CASE("tools that compare save what they print", "[store][cli]") {
    const Workplace workplace;
    for (const char* command :
         {"compare_models resnet18 --hardware A100 T4 --save r.db --format csv --output a.csv",
          "compare_architectures resnet18 --architectures GPU TPU --save r.db",
          "analyze_batch resnet18 --hardware A100 --batch-sizes 1,8 --save r.db",
          "analyze_comprehensive resnet18 --hardware A100 --save r.db",
          "compare_models --study docs/examples/quick_test.yaml --save r.db"}) {
        INFO(command);
        CHECK(workplace.run(std::string(command) + " -q 2>&1").status == 0);
    }
    const auto runs = saved_runs(workplace.folder() / "r.db");
    REQUIRE(runs.size() == 5);
    const std::vector<std::int64_t> expected{2, 2, 2, 1, 20};
    for (std::size_t i = 0; i < runs.size(); ++i)
        CHECK(runs[i].results == expected[i]);
    CHECK_THAT(runs[0].command, Catch::StartsWith("compare_models resnet18 --hardware A100 T4"));
    // Several processes at once.
    CHECK(workplace
              .run("for i in 1 2 3 4; do compare_models resnet18 --hardware A100 T4 --save p.db -q "
                   ">/dev/null & done; wait")
              .status == 0);
    CHECK(saved_runs(workplace.folder() / "p.db").size() == 4);
    CHECK(workplace.run("compare_models resnet18 --hardware A100 --save my_model.onnx 2>/dev/null").status ==
          2);
    CHECK(workplace.run("history r.db --regressions").status == 0);
    CHECK(workplace.run("history nothing.db 2>/dev/null").status == 2);
}

TEST_CASE("documents of history keep to their schema", "[store][schemas]") {
    const ResultsPath path;
    std::vector<Result> results = two_results();
    save(path.file(), {"t", "one"}, results);
    results[0].estimate.latency_s *= 2;
    results.pop_back();
    save(path.file(), {"t", "two"}, results);
    results[0].estimate.status = Status::unsupported;
    save(path.file(), {"t", "three"}, results);
    const nlohmann::json described = history_schema();
    const SchemaCheck schema(described);
    for (const std::string& text :
         {to_json(list_history(path.file())),
          to_json(compare_history(path.file(), "1", "2", metric::latency)),
          to_json(compare_history(path.file(), "2", "3", metric::latency)),
          to_json(history_trend(path.file(), metric::energy)), to_json(history_rows(path.file()))}) {
        auto document = nlohmann::json::parse(text);
        INFO(text.substr(0, 300));
        for (const Finding& finding : schema.validate(document, "history")) {
            INFO(to_string(finding));
            CHECK(false);
        }
        document["surprise"] = 1;
        CHECK_FALSE(schema.validate(document, "history").empty());
    }
}

TEST_CASE("answers to different questions are never compared", "[laws][store]") {
    const ResultsPath path;
    const Session& session = laws::session();
    Workload workload{.model = session.load("qwen3-0.6b"), .prompt = Prompt{.tokens = 64, .generate = 16}};
    std::vector<std::string> given = {"context=4096",          "sampling=top-p",      "weights=int4",
                                      "kv_cache=fp8",          "parallel=tp=2",       "devices=2",
                                      "scope=end_to_end",      "scenario=throughput", "precision=fp32",
                                      "changes=bandwidth=0.5", "generate_tokens=8",   "batch_size=2"};
    std::set<CellKey> keys;
    std::vector<Result> results;
    given.insert(given.begin(), "prompt_tokens=64");
    for (const std::string& one : given) {
        QuestionTexts texts(Spelling::key);
        texts.give("prompt_tokens", "64");
        texts.give("generate_tokens", "16");
        texts.give(one.substr(0, one.find('=')), one.substr(one.find('=') + 1));
        const Question asked = texts.question(workload.model);
        results.push_back(session.estimate(asked.workload, "H100", asked.conditions));
    }
    for (const Result& result : results)
        save(path.file(), {"a_tool", "a_tool"}, std::span(&result, 1));
    for (const SavedResult& saved : saved_results(path.file()))
        CHECK(keys.insert(saved.key).second);
    CHECK(find_regressions(path.file(), metric::latency).changes.empty());
    save(path.file(), {"a_tool", "a_tool"}, std::span(&results.front(), 1)); // and the same one is
    CHECK(find_regressions(path.file(), metric::latency).same == 1);

    ServingResult served;
    served.model = "qwen3-0.6b";
    served.hardware = "H100";
    ServingRequest first, second;
    second.plan.engine.sequences = 8;
    CHECK(saved_row(served, first).key != saved_row(served, second).key);
    CHECK(saved_row(served, first, {}, {.time_to_first_s = 1}).key != saved_row(served, first).key);
    Conditions cached;
    cached.kv_cache = Precision::fp8;
    CHECK(saved_row(served, first, cached).key != saved_row(served, first).key);
}
