// A file of results: what is saved is what is read, whoever else writes and whatever ends in between.

#include "store/history.hpp"
#include "store/results_file.hpp"
#include "store/results_path.hpp"

#include "answers/sweep/sweep_file.hpp"
#include "archsim/core/finding.hpp"
#include "archsim/core/version.hpp"
#include "cli/workplace.hpp"
#include "fit/report/validation_report.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace archsim;
using namespace archsim::test;

TEST_CASE("results are read as they were saved", "[store]") {
    const ResultsPath path;
    const std::vector<Result> results = two_results();
    CHECK(save(path.file(), {"a_tool", "a_tool --flag 'x y'"}, results) == 1);
    CHECK(save(path.file(), {"other", "other"}, std::span(results).first(1)) == 2);

    const auto runs = saved_runs(path.file());
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].command == "a_tool --flag 'x y'");
    CHECK(runs[0].version == version());
    CHECK(runs[0].results == 2);
    CHECK(runs[1].results == 1);
    CHECK(runs[0].started.size() == std::string("2026-11-22T10:00:00Z").size());

    const auto saved = saved_results(path.file());
    REQUIRE(saved.size() == 3);
    CHECK(saved[0].key == saved[2].key); // the same question in another run
    CHECK(saved[0].key != saved[1].key);
    CHECK(saved[0].key.batch_size == 4);
    CHECK(saved[1].key.power_mode == "15W");
    CHECK(saved[1].key.precision == "int8");
    CHECK(saved[0].status == "ok");
    for (std::size_t i = 0; i < 2; ++i)
        for (const Metric* metric : MetricTable::standard().rows()) {
            INFO(metric->key);
            const auto expected = measure_of(results[i], *metric);
            const auto found = saved[i].metrics.find(metric->key);
            REQUIRE(expected.has_value() == (found != saved[i].metrics.end()));
            if (!expected)
                continue;
            CHECK(found->second.value == expected->value); // bit by bit
            CHECK(found->second.interval.low == expected->interval.low);
            CHECK(found->second.interval.high == expected->interval.high);
        }
}

TEST_CASE("a result without an estimate is kept with its reason", "[store]") {
    const ResultsPath path;
    Conditions conditions;
    conditions.stack = "tensorrt";
    const Result result =
        laws::session().estimate({.model = laws::session().load("resnet18")}, "Coral-Edge-TPU", conditions);
    REQUIRE_FALSE(result.ok());
    const AskedResult asked{&result, 8};
    save_results(path.file(), {"t", "t"}, {&asked, 1});
    const auto saved = saved_results(path.file());
    REQUIRE(saved.size() == 1);
    CHECK(saved[0].status == "unsupported");
    CHECK(saved[0].reason == result.estimate.reason);
    CHECK(saved[0].metrics.empty());
    CHECK(saved[0].key.batch_size == 8);
}

TEST_CASE("the view of rows has a column for every metric", "[store]") {
    const ResultsPath path;
    const std::vector<Result> results = two_results();
    save(path.file(), {"t", "t"}, results);
    SqlFile database(path.file(), SqlAccess::read);
    for (const Metric* metric : MetricTable::standard().rows()) {
        INFO(metric->key);
        SqlStatement row(database, "SELECT \"" + metric->field + "\" FROM rows WHERE hardware = 'H100'");
        REQUIRE(row.step());
        if (const auto measure = measure_of(results[0], *metric))
            CHECK(row.real() == measure->value);
        else
            CHECK(row.next_is_null());
    }
}

TEST_CASE("writers at the same time lose nothing", "[store]") {
    const ResultsPath path;
    const std::vector<Result> results = two_results();
    constexpr int kWriters = 6, kRuns = 8;
    std::vector<std::thread> writers;
    for (int w = 0; w < kWriters; ++w)
        writers.emplace_back([&, w] {
            for (int r = 0; r < kRuns; ++r)
                save(path.file(), {"writer", "writer " + std::to_string(w)}, results);
        });
    for (std::thread& writer : writers)
        writer.join();
    const auto runs = saved_runs(path.file());
    CHECK(runs.size() == kWriters * kRuns);
    for (const SavedRun& run : runs)
        CHECK(run.results == 2);
    CHECK(integrity(path.file()) == "ok");
}

TEST_CASE("a run that is interrupted leaves the file as it was", "[store]") {
    const ResultsPath path;
    const std::vector<Result> results = two_results();
    save(path.file(), {"before", "before"}, results);
    const pid_t child = fork();
    if (child == 0) {
        // In the middle of a run: written, not committed; the process ends as by kill -9.
        SqlFile database(path.file(), SqlAccess::write);
        database.run("BEGIN IMMEDIATE; INSERT INTO runs VALUES (NULL, 'now', 'half', 'half', '0')");
        _exit(0);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(saved_runs(path.file()).size() == 1);
    CHECK(integrity(path.file()) == "ok");
    save(path.file(), {"after", "after"}, results);
    REQUIRE(saved_runs(path.file()).size() == 2);
    CHECK(saved_runs(path.file()).back().tool == "after");
}

TEST_CASE("what is no file of results is refused and left alone", "[store]") {
    const ResultsPath path;
    const std::vector<Result> results = two_results();
    CHECK_THROWS_WITH(saved_runs(path.file()), Catch::Contains("cannot be opened"));
    CHECK_THROWS_WITH(save(path.folder(), {"t", "t"}, results), Catch::Contains("is a folder"));
    const auto text = path.folder() / "notes.txt";
    const std::string note(5000, 'x');
    std::ofstream(text) << note;
    CHECK_THROWS_WITH(save(text, {"t", "t"}, results), Catch::Contains("not a database"));
    CHECK_THROWS_AS(saved_runs(text), InputError);
    CHECK(read(text) == note);
    const auto other = path.folder() / "other.db";
    SqlFile(other, SqlAccess::write).run("CREATE TABLE mine (x)");
    CHECK_THROWS_WITH(save(other, {"t", "t"}, results), Catch::Contains("not a results file"));
    CHECK_THROWS_WITH(saved_results(other), Catch::Contains("not a results file"));
    save(path.file(), {"t", "t"}, results);
    SqlFile(path.file(), SqlAccess::write).run("PRAGMA user_version = 99");
    CHECK_THROWS_WITH(saved_runs(path.file()), Catch::Contains("newer version"));
}

TEST_CASE("points, served runs and predictions are saved beside estimates", "[store]") {
    const ResultsPath path;
    SweepRow point;
    point.model = "resnet18";
    point.hardware = "Jetson-Orin-Nano@15W";
    point.precision = point.executed = "int8";
    point.batch = 4;
    point.factors = {0.5};
    point.measures.assign(MetricTable::standard().rows().size(), std::nullopt);
    point.measures.front() = Measure{2e-3, {1e-3, 3e-3}};
    SweepRequest sweep;
    sweep.axes = {{"bandwidth", {0.5, 1}}};
    ServingResult served;
    served.model = "llama-3-8b";
    served.hardware = "H100";
    served.ok = true;
    served.rate_per_s = 2;
    served.parallelism.tensor = 2;
    served.summary.time_per_token_s.p99 = 0.02;
    served.bounds.time_per_token_s.low.p99 = 0.01;
    served.bounds.time_per_token_s.high.p99 = 0.04;
    ValidatedRow predicted;
    predicted.measured.id = "row-1";
    predicted.measured.model = "resnet18";
    predicted.measured.hardware = "A100";
    predicted.measured.value = 4; // ms
    predicted.prediction.predicted = 5;
    predicted.prediction.low = 3;
    predicted.prediction.high = 8;
    const std::vector<SavedResult> rows = {saved_row(point, sweep), saved_row(served, ServingRequest{}),
                                           saved_row(predicted)};
    CHECK(save(path.file(), {"compare_models", "compare_models"}, two_results()) == 1);
    CHECK(save_rows(path.file(), {"mixed", "mixed"}, rows) == 2);
    CHECK(save_rows(path.file(), {"mixed", "mixed"}, rows) == 3);
    CHECK(integrity(path.file()) == "ok");

    const auto saved = saved_results(path.file());
    REQUIRE(saved.size() == 8);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(saved[2 + i].key == rows[i].key);
        CHECK(saved[2 + i].key == saved[5 + i].key); // the same question in the next run
    }
    CHECK(saved[2].key.power_mode == "15W");
    CHECK(saved[2].key.dims == R"({"bandwidth":0.5})");
    CHECK(saved[2].metrics.at("latency").value == Approx(2e-3));
    CHECK(saved[3].metrics.at("tpot_p99").interval.high == Approx(0.04));
    CHECK(saved[3].key.devices == 2);
    CHECK(saved[4].metrics.at("latency").value == Approx(5e-3));
    CHECK(saved[4].metrics.at("measured").value == Approx(4e-3));
    CHECK(saved[4].metrics.at("error").value == Approx(0.25));
    // What history compares and lists.
    const auto changes =
        compare_history(path.file(), "2", "3", saved_metrics().at("tpot_p99", "--metric"), 0, {});
    CHECK(changes.changes.empty());
    CHECK(to_json(history_rows(path.file()), PlainView{}).find("tpot_p99_s") != std::string::npos);
}
