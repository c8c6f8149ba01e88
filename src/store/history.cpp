#include "store/history.hpp"

#include "core/text.hpp"
#include "store/schema.hpp"

#include <fmt/ranges.h>
#include <set>

namespace archsim {

std::vector<SavedRun> saved_runs(const std::filesystem::path& file) {
    SqlFile database(file, SqlAccess::read);
    expect_results_file(database, file.string());
    expect_sound_pages(database);
    SqlStatement select(database,
                        "SELECT id, started, tool, command, version, (SELECT count(*) FROM results WHERE "
                        "run_id = runs.id) FROM runs ORDER BY id");
    std::vector<SavedRun> runs;
    while (select.step()) {
        SavedRun& run = runs.emplace_back();
        run.id = select.number();
        for (std::string* text : {&run.started, &run.tool, &run.command, &run.version})
            *text = select.text();
        run.results = select.number();
    }
    return runs;
}

std::vector<SavedResult> saved_results(const std::filesystem::path& file) {
    SqlFile database(file, SqlAccess::read);
    const std::int64_t layout = expect_results_file(database, file.string());
    expect_sound_pages(database);
    SqlStatement select(
        database,
        "SELECT results.id, run_id, models.name, dims, devices.name, power_mode, runtime, precision, "
        "kv_cache, scenario, scope, batch_size, prompt_tokens, generate_tokens, conditions.devices, family, "
        "executed_precision, status, reason, " +
            question_of_row(layout) +
            " FROM results JOIN models ON models.id = model_id JOIN devices ON devices.id = device_id JOIN "
            "runs ON runs.id = run_id JOIN conditions ON conditions.id = conditions_id ORDER BY results.id");
    SqlStatement measures(database, "SELECT metric, value, low, high FROM measures WHERE result_id = ?");
    std::vector<SavedResult> results;
    while (select.step()) {
        SavedResult& result = results.emplace_back();
        const std::int64_t id = select.number();
        result.run = select.number();
        CellKey& key = result.key;
        for (std::string* text : {&key.model, &key.dims, &key.hardware, &key.power_mode, &key.runtime,
                                  &key.precision, &key.kv_cache, &key.scenario, &key.scope})
            *text = select.text();
        for (std::int64_t* number : {&key.batch_size, &key.prompt_tokens, &key.generate_tokens})
            *number = select.number();
        key.devices = select.real();
        for (std::string* text :
             {&result.family, &result.executed_precision, &result.status, &result.reason, &key.question})
            *text = select.text();
        measures.bind(id);
        while (measures.step()) {
            const std::string metric = measures.text();
            if (measures.next_is_null())
                continue;
            Measure& measure = result.metrics[metric];
            measure.value = measures.real();
            measure.interval.low = measure.interval.high = measure.value;
            if (!measures.next_is_null()) {
                measure.interval.low = measures.real();
                measure.interval.high = measures.real();
            }
        }
        measures.finish();
    }
    return results;
}

namespace fs = std::filesystem;

static bool holds(const std::string& text, const std::string& part) {
    return part.empty() || lower_case(text).find(lower_case(part)) != std::string::npos;
}

static bool taken(const HistoryFilter& filter, const CellKey& key) {
    const std::string hardware = key.power_mode.empty() ? key.hardware : key.hardware + '@' + key.power_mode;
    return holds(key.model, filter.model) && holds(hardware, filter.hardware) &&
           holds(key.runtime, filter.runtime) && holds(key.precision, filter.precision) &&
           (!filter.batch_size || key.batch_size == *filter.batch_size);
}

static std::vector<SavedResult> filtered(const fs::path& file, const HistoryFilter& filter) {
    std::vector<SavedResult> results = saved_results(file);
    std::erase_if(results, [&](const SavedResult& result) { return !taken(filter, result.key); });
    return results;
}

static std::set<std::int64_t> runs_named(const std::vector<SavedRun>& runs, const std::string& name) {
    std::set<std::int64_t> ids;
    if (name == "last" && !runs.empty())
        ids.insert(runs.back().id);
    else if (name == "previous" && runs.size() > 1)
        ids.insert(runs[runs.size() - 2].id);
    for (const SavedRun& run : runs)
        if (run.version == name || std::to_string(run.id) == name)
            ids.insert(run.id);
    if (ids.empty())
        throw UsageError(
            fmt::format("there is no run \"{}\"; name a run by its number, last, previous, or a version "
                        "of the library",
                        name));
    return ids;
}

using Cells = std::map<CellKey, const SavedResult*>;

/// The newest result of each question among some runs.
static Cells newest(const std::vector<SavedResult>& results, const std::set<std::int64_t>& runs) {
    Cells cells;
    for (const SavedResult& result : results) // in the order of saving
        if (runs.contains(result.run))
            cells.insert_or_assign(result.key, &result);
    return cells;
}

static std::optional<Measure> measure_in(const SavedResult& result, const Metric& metric) {
    const auto found = result.metrics.find(metric.key);
    return found == result.metrics.end() ? std::nullopt : std::optional(found->second);
}

static CellChange change_between(const SavedResult& before, const SavedResult& after, const Metric& metric,
                                 double threshold) {
    CellChange change{before.key, measure_in(before, metric), measure_in(after, metric), before.status,
                      after.status};
    if (const auto ratio = change.ratio(); ratio && std::abs(*ratio - 1) > threshold) {
        change.better = better(metric, change.after->value, change.before->value);
        change.worse = !change.better;
    } else if (before.status != after.status) {
        change.better = after.status == "ok";
        change.worse = before.status == "ok";
    }
    return change;
}

static void put_worst_first(std::vector<CellChange>& changes, const Metric& metric) {
    const auto harm = [&](const CellChange& change) {
        if (change.status_before != change.status_after)
            return change.worse ? std::numeric_limits<double>::infinity()
                                : -std::numeric_limits<double>::infinity();
        const double logarithm = std::log(change.ratio().value_or(1));
        return metric.better == Better::lower ? logarithm : -logarithm;
    };
    std::ranges::stable_sort(changes,
                             [&](const CellChange& a, const CellChange& b) { return harm(a) > harm(b); });
}

static bool differs(const CellChange& change) {
    return change.better || change.worse || change.status_before != change.status_after;
}

std::optional<double> CellChange::ratio() const {
    if (!before || !after || before->value == 0)
        return std::nullopt;
    return after->value / before->value;
}

std::size_t HistoryChanges::worse() const {
    return static_cast<std::size_t>(std::ranges::count_if(changes, &CellChange::worse));
}

HistoryList list_history(const fs::path& file) {
    return {file.string(), saved_runs(file)};
}

HistoryChanges compare_history(const fs::path& file, const std::string& before, const std::string& after,
                               const Metric& metric, double threshold, const HistoryFilter& filter) {
    const auto runs = saved_runs(file);
    const auto old_runs = runs_named(runs, before), new_runs = runs_named(runs, after);
    const auto results = filtered(file, filter);
    const Cells old_cells = newest(results, old_runs), new_cells = newest(results, new_runs);
    const auto side = [](const std::string& name, const std::set<std::int64_t>& ids) {
        return fmt::format("{} (run{} {})", name, ids.size() == 1 ? "" : "s", fmt::join(ids, ", "));
    };
    HistoryChanges answer{.file = file.string(),
                          .before = side(before, old_runs),
                          .after = side(after, new_runs),
                          .metric = &metric,
                          .threshold = threshold};
    for (const auto& [key, old_result] : old_cells) {
        const auto found = new_cells.find(key);
        if (found == new_cells.end()) {
            answer.gone.push_back(key);
            continue;
        }
        CellChange change = change_between(*old_result, *found->second, metric, threshold);
        if (differs(change))
            answer.changes.push_back(std::move(change));
        else
            ++answer.same;
    }
    for (const auto& [key, result] : new_cells)
        if (!old_cells.contains(key))
            answer.added.push_back(key);
    put_worst_first(answer.changes, metric);
    return answer;
}

HistoryChanges find_regressions(const fs::path& file, const Metric& metric, double threshold,
                                const HistoryFilter& filter) {
    std::map<CellKey, std::pair<const SavedResult*, const SavedResult*>> last_two;
    const auto results = filtered(file, filter);
    for (const SavedResult& result : results) {
        auto& [before, after] = last_two[result.key];
        before = std::exchange(after, &result);
    }
    HistoryChanges answer{.file = file.string(),
                          .before = "the answer before it",
                          .after = "the newest answer to each question",
                          .metric = &metric,
                          .threshold = threshold};
    for (const auto& [key, pair] : last_two) {
        if (pair.first == nullptr)
            continue;
        CellChange change = change_between(*pair.first, *pair.second, metric, threshold);
        if (change.worse)
            answer.changes.push_back(std::move(change));
        else
            ++answer.same;
    }
    put_worst_first(answer.changes, metric);
    return answer;
}

HistoryTrend history_trend(const fs::path& file, const Metric& metric, const HistoryFilter& filter) {
    std::map<std::int64_t, SavedRun> runs;
    for (SavedRun& run : saved_runs(file))
        runs.emplace(run.id, run);
    std::map<CellKey, Trend> trends;
    for (const SavedResult& result : filtered(file, filter)) {
        const auto run = runs.find(result.run);
        if (run == runs.end()) // saved since the runs were read
            continue;
        Trend& trend = trends[result.key];
        trend.key = result.key;
        trend.points.push_back({run->second, result.status, measure_in(result, metric)});
    }
    HistoryTrend answer{file.string(), &metric, {}};
    for (auto& [key, trend] : trends)
        answer.trends.push_back(std::move(trend));
    return answer;
}

HistoryRows history_rows(const fs::path& file, const HistoryFilter& filter) {
    return {file.string(), saved_runs(file), filtered(file, filter)};
}

} // namespace archsim
