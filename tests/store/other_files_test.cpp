// Files of results of earlier versions, and files that somebody else made.

#include "store/history.hpp"
#include "store/results_path.hpp"

#include "archsim/core/finding.hpp"
#include "cli/workplace.hpp"

#include <sys/stat.h>

#include <catch2/catch.hpp>

#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

using namespace archsim;
using namespace archsim::test;

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
          std::string("CREATE INDEX slow ON runs (instr(hex(zeroblob(1000)), tool))"),
          std::string("CREATE INDEX [a(b] ON runs (tool, length(command))"),
          std::string("CREATE INDEX some ON runs (tool) WHERE length(hex(zeroblob(1000))) > 0"),
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

TEST_CASE("a name given to SQLite is that of a file, and its journals are files", "[store][hostile]") {
    const std::vector<Result> results = two_results();
    const ResultsPath path;
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(path.folder());
    for (const char* name : {":memory:", "file:r.db", "file:r.db?mode=memory", "file:%72.db"}) {
        INFO(name);
        CHECK(save(name, {"t", "t"}, results) == 1);
        CHECK(std::filesystem::exists(path.folder() / name));
        CHECK(saved_runs(name).size() == 1);
    }
    std::filesystem::current_path(before);
    save(path.file(), {"t", "t"}, results);
    for (const char* ending : {"-wal", "-shm", "-journal"}) {
        const std::string beside = path.file().string() + ending;
        std::filesystem::remove(beside);
        REQUIRE(mkfifo(beside.c_str(), 0600) == 0);
        CHECK_THROWS_WITH(saved_runs(path.file()), Catch::Contains("no regular file"));
        CHECK_THROWS_WITH(save(path.file(), {"t", "t"}, results), Catch::Contains("no regular file"));
        std::filesystem::remove(beside);
    }
    CHECK(saved_runs(path.file()).size() == 1);
}
