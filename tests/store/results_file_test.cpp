// A file of results: what is saved is what is read, whoever else writes and whatever ends in between.

#include "store/history.hpp"
#include "store/other_answers.hpp"
#include "store/results_file.hpp"

#include "archsim/core/version.hpp"
#include "ask/question.hpp"
#include "cli/workplace.hpp"
#include "hardware/schema_check.hpp"
#include "laws/laws.hpp"
#include "store/schema.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace archsim;
using namespace archsim::test;

namespace {

/// A path in a folder of its own.
class ResultsPath {
  public:
    ResultsPath() {
        static int count = 0;
        folder_ = std::filesystem::temp_directory_path() /
                  ("archsim-results-" + std::to_string(getpid()) + "-" + std::to_string(count++));
        std::filesystem::create_directories(folder_);
    }
    ~ResultsPath() { std::filesystem::remove_all(folder_); }
    std::filesystem::path file() const { return folder_ / "results.db"; }
    const std::filesystem::path& folder() const { return folder_; }

  private:
    std::filesystem::path folder_;
};

std::vector<Result> two_results() {
    return {laws::run("resnet18", "H100", Precision::fp16, 4),
            laws::run("resnet18", "Jetson-Orin-Nano@15W", Precision::int8, 1)};
}

/// Saves results at the batch that their estimates have.
std::int64_t save(const std::filesystem::path& file, const RunFacts& run, std::span<const Result> results) {
    std::vector<AskedResult> asked;
    for (const Result& result : results)
        asked.push_back({&result, static_cast<std::int64_t>(result.estimate.batch)});
    return save_results(file, run, asked);
}

std::string integrity(const std::filesystem::path& file) {
    SqlFile database(file, SqlAccess::read);
    SqlStatement check(database, "PRAGMA integrity_check");
    check.step();
    return check.text();
}

} // namespace

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
    CHECK_THROWS_WITH(save(path.folder(), {"t", "t"}, results), Catch::Contains("cannot be opened"));
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
    std::vector<Finding> findings;
    const SchemaCheck schema(ARCHSIM_SOURCE_DIR "/docs/schemas/history.schema.json", findings);
    REQUIRE(findings.empty());
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
    cached.weights = Precision::int4;
    CHECK(saved_row(served, first, cached).key != saved_row(served, first).key);
}

namespace {

/// Runs statements on a file as somebody else would, with SQLite as it comes.
void tamper(const std::filesystem::path& file, const std::string& statements) {
    const auto script = file.parent_path() / "tamper.py";
    std::ofstream(script) << "import sqlite3, sys\nc = sqlite3.connect(sys.argv[1])\n"
                             "c.executescript(sys.argv[2])\nc.commit()\nc.close()\n";
    REQUIRE(std::system(("python3 '" + script.string() + "' '" + file.string() + "' \"" + statements + "\"")
                            .c_str()) == 0);
}

std::string bytes_of(const std::filesystem::path& file) {
    return read(file);
}

/// A file as versions before the column `question` left it.
void make_first_layout(const std::filesystem::path& file) {
    tamper(file, "DROP VIEW rows; CREATE TABLE kept AS SELECT * FROM conditions; DROP TABLE conditions; "
                 "CREATE TABLE conditions (\n"
                 "    id INTEGER PRIMARY KEY, runtime TEXT NOT NULL, batch_size INTEGER NOT NULL, precision "
                 "TEXT NOT NULL,\n"
                 "    kv_cache TEXT NOT NULL, scenario TEXT NOT NULL, scope TEXT NOT NULL, prompt_tokens "
                 "INTEGER NOT NULL,\n"
                 "    generate_tokens INTEGER NOT NULL, devices REAL NOT NULL,\n"
                 "    UNIQUE (runtime, batch_size, precision, kv_cache, scenario, scope, prompt_tokens, "
                 "generate_tokens, devices)); "
                 "INSERT INTO conditions SELECT id, runtime, batch_size, precision, kv_cache, scenario, "
                 "scope, prompt_tokens, "
                 "generate_tokens, devices FROM kept; DROP TABLE kept; PRAGMA user_version = 1;");
}

} // namespace

TEST_CASE("a file of an earlier version is read, brought up to date and goes on", "[store]") {
    const ResultsPath path;
    const std::vector<Result> results = two_results();
    save(path.file(), {"a_tool", "a_tool resnet18"}, results);
    save(path.file(), {"a_tool", "a_tool resnet18 --sampling top-p"}, results);
    const auto now = saved_results(path.file());
    make_first_layout(path.file());
    const auto before = saved_results(path.file());
    REQUIRE(before.size() == 4);
    CHECK(before[0].key == now[0].key);
    CHECK(before[2].key.question == R"({"unrecorded":true})");
    CHECK(save(path.file(), {"a_tool", "a_tool resnet18"}, results) == 3);
    CHECK(integrity(path.file()) == "ok");
    const auto after = saved_results(path.file());
    REQUIRE(after.size() == 6);
    for (std::size_t i = 0; i < before.size(); ++i) {
        CHECK(after[i].key == before[i].key);
        CHECK(after[i].metrics.size() == before[i].metrics.size());
    }
    CHECK(after[4].key == before[0].key); // the history goes on
    CHECK(find_regressions(path.file(), metric::latency).same == 2);
    const SavedRun last = saved_runs(path.file()).back();
    CHECK(last.results == 2);
}

TEST_CASE("a file of somebody else runs nothing when it is saved to", "[store][hostile]") {
    const std::vector<Result> results = two_results();
    for (const bool in_field : {false, true}) {
        const ResultsPath path;
        save(path.file(), {"t", "t"}, results);
        const std::string other = (path.folder() / "made.db").string();
        const std::string text =
            "x'') AS y FROM results; ATTACH ''" + other + "'' AS o; CREATE TABLE o.t(x); --";
        tamper(path.file(), "DELETE FROM metrics WHERE key = 'latency'; INSERT INTO metrics VALUES ('" +
                                (in_field ? std::string("key") : text) + "', 't', '" +
                                (in_field ? text : std::string("field")) + "', 's', 'lower')");
        CHECK_THROWS_WITH(save(path.file(), {"t", "t"}, results), Catch::Contains("which no version"));
        CHECK_FALSE(std::filesystem::exists(other));
        CHECK(saved_runs(path.file()).size() == 1);
    }
}

TEST_CASE("a file whose tables are other ones is refused and left alone", "[store][hostile]") {
    const std::vector<Result> results = two_results();
    const std::string endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";
    for (const std::string& change :
         {std::string("CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM results; END"),
          "ALTER TABLE runs RENAME TO old; CREATE VIEW runs AS SELECT i AS id, 'x' AS started, 'x' AS tool, "
          "'x' AS "
          "command, 'x' AS version FROM (" +
              endless + ")",
          "ALTER TABLE metrics RENAME TO old; CREATE VIEW metrics AS SELECT i AS key, i AS title, i AS "
          "field, i AS unit, "
          "i AS better FROM (" +
              endless + ")",
          std::string("DROP TABLE measures"), std::string("ALTER TABLE runs ADD COLUMN more TEXT")}) {
        INFO(change);
        const ResultsPath path;
        save(path.file(), {"t", "t"}, results);
        tamper(path.file(), "PRAGMA journal_mode = DELETE; " + change);
        const std::string before = bytes_of(path.file());
        CHECK_THROWS_AS(save(path.file(), {"t", "t"}, results), InputError);
        CHECK_THROWS_AS(saved_runs(path.file()), InputError);
        CHECK_THROWS_AS(saved_results(path.file()), InputError);
        CHECK(bytes_of(path.file()) == before);
    }
}

TEST_CASE("what somebody adds beside the tables does not matter", "[store]") {
    const std::vector<Result> results = two_results();
    const ResultsPath path;
    save(path.file(), {"t", "t"}, results);
    tamper(path.file(),
           "CREATE TABLE mine (x); CREATE VIEW newest AS SELECT max(id) FROM runs; CREATE INDEX by_name ON "
           "models (name); ANALYZE");
    CHECK(save(path.file(), {"t", "t"}, results) == 2);
    CHECK(saved_runs(path.file()).size() == 2);
}

TEST_CASE("a query that gives no row for long ends", "[store][hostile]") {
    const ResultsPath path;
    SqlFile file(path.file(), SqlAccess::write);
    CHECK_THROWS_WITH(
        file.number("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"),
        Catch::Contains("takes too long"));
}
