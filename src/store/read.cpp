#include "store/results_file.hpp"

#include "store/schema.hpp"

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
        run.started = select.text();
        run.tool = select.text();
        run.command = select.text();
        run.version = select.text();
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
        "SELECT results.id, run_id, models.name, dims, devices.name, power_mode, runtime, "
        "precision, kv_cache, scenario, "
        "scope, batch_size, prompt_tokens, generate_tokens, conditions.devices, family, "
        "executed_precision, status, reason, " +
            question_of_row(layout) +
            " FROM results JOIN models ON models.id = model_id JOIN devices ON devices.id = device_id "
            "JOIN runs ON runs.id = run_id JOIN conditions ON conditions.id = conditions_id ORDER BY "
            "results.id");
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

} // namespace archsim
