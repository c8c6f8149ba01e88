#include "store/schema.hpp"

#include "core/lists.hpp"

#include <fmt/format.h>

namespace archsim {

constexpr std::int64_t kApplication = 0x61726373; ///< "arcs": what `file` and PRAGMA application_id say
constexpr std::int64_t kLayout = 2;

// A file is recognised by these statements, letter by letter: another text is another layout. What may be
// absent is '' or 0, never NULL: SQLite takes two NULLs for different in UNIQUE.
constexpr const char* kTables = R"(
CREATE TABLE runs (
    id INTEGER PRIMARY KEY, started TEXT NOT NULL, tool TEXT NOT NULL, command TEXT NOT NULL, version TEXT NOT NULL);
CREATE TABLE models (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, title TEXT NOT NULL, dims TEXT NOT NULL,
    parameters REAL NOT NULL, macs REAL NOT NULL, UNIQUE (name, dims, parameters, macs));
CREATE TABLE devices (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, title TEXT NOT NULL, family TEXT NOT NULL, power_mode TEXT NOT NULL,
    UNIQUE (name, title, power_mode));
CREATE TABLE conditions (
    id INTEGER PRIMARY KEY, runtime TEXT NOT NULL, batch_size INTEGER NOT NULL, precision TEXT NOT NULL,
    kv_cache TEXT NOT NULL, scenario TEXT NOT NULL, scope TEXT NOT NULL, prompt_tokens INTEGER NOT NULL,
    generate_tokens INTEGER NOT NULL, devices REAL NOT NULL, question TEXT NOT NULL,
    UNIQUE (runtime, batch_size, precision, kv_cache, scenario, scope, prompt_tokens, generate_tokens, devices, question));
CREATE TABLE results (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES runs, model_id INTEGER NOT NULL REFERENCES models,
    device_id INTEGER NOT NULL REFERENCES devices, conditions_id INTEGER NOT NULL REFERENCES conditions,
    executed_precision TEXT NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL);
CREATE INDEX results_of_run ON results (run_id);
CREATE INDEX results_of_cell ON results (model_id, device_id, conditions_id);
CREATE TABLE metrics (
    key TEXT PRIMARY KEY, title TEXT NOT NULL, field TEXT NOT NULL, unit TEXT NOT NULL, better TEXT NOT NULL);
CREATE TABLE measures (
    result_id INTEGER NOT NULL REFERENCES results, metric TEXT NOT NULL REFERENCES metrics,
    value REAL, low REAL, high REAL, PRIMARY KEY (result_id, metric)) WITHOUT ROWID;
)";

/// The first layout's stand-in for that table: most fields of a question were not kept.
constexpr const char* kFirstConditions = R"(CREATE TABLE conditions (
    id INTEGER PRIMARY KEY, runtime TEXT NOT NULL, batch_size INTEGER NOT NULL, precision TEXT NOT NULL,
    kv_cache TEXT NOT NULL, scenario TEXT NOT NULL, scope TEXT NOT NULL, prompt_tokens INTEGER NOT NULL,
    generate_tokens INTEGER NOT NULL, devices REAL NOT NULL,
    UNIQUE (runtime, batch_size, precision, kv_cache, scenario, scope, prompt_tokens, generate_tokens, devices)))";

/// The conditions of such a question.
constexpr const char* kUnrecorded = R"({"unrecorded":true})";

/// The flags of those fields. A run whose command names one asked another question than its row says.
constexpr std::array kNotKept = {"context",     "sampling",    "parallel", "weights",
                                 "activations", "strict-fp32", "input"};

/// A key or column of a metric: whatever else a table of metrics says is not one that this library wrote.
static bool is_key(std::string_view text) {
    constexpr std::size_t kLongest = 64;
    return !text.empty() && text.size() <= kLongest && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
               c == '.' || c == '-';
    });
}

/// One row per result with a column per metric, for spreadsheets and data frames.
static std::string rows_view(SqlFile& file) {
    std::string columns;
    SqlStatement metrics(file, "SELECT key, field FROM metrics ORDER BY rowid");
    while (metrics.step()) {
        const std::string key = metrics.text(), field = metrics.text();
        if (!is_key(key) || !is_key(field))
            throw InputError(fmt::format("{}: its table of metrics has the key \"{}\", which no version of "
                                         "archsim writes; save to another file",
                                         file.name(), key));
        columns += fmt::format(
            ",\n    (SELECT value FROM measures WHERE result_id = results.id AND metric = '{}') AS \"{}\"",
            key, field);
    }
    return "CREATE VIEW rows AS SELECT results.id AS result_id, run_id, started, tool, version, models.name "
           "AS model, dims, batch_size, devices.name AS hardware, family, power_mode, runtime, precision, "
           "executed_precision, kv_cache, scenario, scope, prompt_tokens, generate_tokens, "
           "conditions.devices AS devices, question, status, reason" +
           columns +
           "\nFROM results JOIN runs ON runs.id = run_id JOIN models ON models.id = model_id "
           "JOIN devices ON devices.id = device_id JOIN conditions ON conditions.id = conditions_id";
}

/// The statements of a layout's tables, without what lies between them.
static std::vector<std::string> table_statements(std::int64_t layout) {
    std::vector<std::string> statements;
    const std::string_view all = kTables;
    for (std::size_t at = all.find("CREATE"); at != std::string_view::npos; at = all.find("CREATE", at)) {
        const std::size_t end = all.find(';', at);
        statements.emplace_back(all.substr(at, end - at));
        if (layout == 1 && statements.back().starts_with("CREATE TABLE conditions"))
            statements.back() = kFirstConditions;
        at = end;
    }
    return statements;
}

/// Whether the text of an index names columns alone: an expression, or a condition behind the list, is
/// computed for every new row. One made by UNIQUE has no text.
static bool indexes_columns(std::string_view sql) {
    constexpr std::string_view kNames =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_, \"\n\t";
    const std::size_t open = sql.find('(');
    return sql.empty() || (open != std::string_view::npos && sql.ends_with(')') &&
                           sql.find_first_not_of(kNames, open + 1) == sql.size() - 1);
}

/// True when the file has the tables and indices of kTables exactly as they are made, and nothing that acts
/// by itself: no trigger, and no index that calculates. Tables and views that somebody added are not looked
/// at.
static bool has_our_schema(SqlFile& file, std::int64_t layout) {
    const std::vector<std::string> ours = table_statements(layout);
    std::size_t found = 0;
    SqlStatement schema(file, "SELECT type, sql FROM sqlite_master");
    while (schema.step()) {
        const std::string type = schema.text(), sql = schema.text();
        const bool own = contains(ours, sql);
        if (type == "trigger" || (type == "index" && !own && !indexes_columns(sql)))
            return false;
        found += own ? 1U : 0U;
    }
    return found == ours.size();
}

static std::int64_t layout_of(SqlFile& file) {
    return file.number("PRAGMA user_version");
}

/// The first layout as the present one. Runs keep their results; those of a command that names a field which
/// was not kept get conditions of their own.
static void bring_up_to_date(SqlFile& file) {
    std::string conditions;
    for (const std::string& statement : table_statements(kLayout))
        if (statement.starts_with("CREATE TABLE conditions"))
            conditions = statement;
    constexpr const char* kKept =
        "runtime, batch_size, precision, kv_cache, scenario, scope, prompt_tokens, generate_tokens, devices";
    const std::string of_runs = fmt::format("SELECT id FROM runs WHERE {} <> '{{}}'", question_of_row(1));
    file.run(fmt::format(
        "DROP VIEW IF EXISTS rows;\n"
        "CREATE TEMP TABLE first AS SELECT * FROM conditions;\n"
        "DROP TABLE conditions;\n{0};\n"
        "INSERT INTO conditions SELECT *, '{{}}' FROM temp.first;\n"
        "INSERT INTO conditions ({1}, question) SELECT {1}, '{2}' FROM temp.first WHERE id IN (SELECT "
        "conditions_id FROM "
        "results WHERE run_id IN ({3}));\n"
        "UPDATE results SET conditions_id = (SELECT other.id FROM conditions AS other JOIN temp.first AS own "
        "USING ({1}) "
        "WHERE own.id = results.conditions_id AND other.question = '{2}') WHERE run_id IN ({3});\n"
        "DROP TABLE temp.first;\n"
        "PRAGMA user_version = {4};\n",
        conditions, kKept, kUnrecorded, of_runs, kLayout));
}

std::string question_of_row(std::int64_t layout) {
    if (layout > 1)
        return "conditions.question";
    std::string names_one;
    for (const char* flag : kNotKept)
        names_one += fmt::format("{}runs.command LIKE '% --{}%'", names_one.empty() ? "" : " OR ", flag);
    return fmt::format("CASE WHEN {} THEN '{}' ELSE '{{}}' END", names_one, kUnrecorded);
}

void prepare_results_file(SqlFile& file, const MetricTable& metrics) {
    if (file.number("SELECT EXISTS (SELECT 1 FROM sqlite_master)") == 0)
        file.run(fmt::format("PRAGMA application_id = {};\nPRAGMA user_version = {};\n{}", kApplication,
                             kLayout, kTables));
    const bool old = layout_of(file) < kLayout;
    if (old)
        bring_up_to_date(file);
    // Row by row, which is ended where it takes long: count(*) is not.
    constexpr const char* kCount = "SELECT count(key) FROM metrics";
    const auto known = file.number(kCount);
    {
        SqlStatement insert(file, "INSERT INTO metrics VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING");
        for (const Metric* metric : metrics.rows())
            insert.bind(metric->key)
                .bind(metric->title)
                .bind(metric->field)
                .bind(metric->unit)
                .bind(metric->better == Better::lower ? "lower" : "higher")
                .finish();
    }
    if (old || file.number(kCount) != known)
        file.run("DROP VIEW IF EXISTS rows;\n" + rows_view(file));
}

std::int64_t expect_results_file(SqlFile& file, const std::string& name) {
    const auto application = file.number("PRAGMA application_id"), layout = layout_of(file);
    if (application != kApplication)
        throw InputError(fmt::format("{}: not a results file; create one with compare_models --save", name));
    if (layout > kLayout)
        throw InputError(
            fmt::format("{}: a newer version of archsim made this file; read it with that one", name));
    if (!has_our_schema(file, layout))
        throw InputError(fmt::format("{}: its tables are not those that archsim makes, or it has triggers or "
                                     "indices that calculate; save to another file",
                                     name));
    return layout;
}

void expect_sound_pages(SqlFile& file) {
    SqlStatement check(file, "PRAGMA quick_check(1)");
    if (!check.step() || check.text() != "ok")
        throw InputError(fmt::format("{}: is damaged; take a copy of it that is whole", file.name()));
}

} // namespace archsim
