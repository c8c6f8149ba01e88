#include "archsim/store/results_file.hpp"

#include "archsim/core/version.hpp"
#include "report/blocks/result_text.hpp"
#include "store/schema.hpp"

#include <chrono>
#include <ctime>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace archsim {

namespace {

std::string now_utc() {
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm utc{};
    gmtime_r(&now, &utc);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                       utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

std::string dims_text(const ModelFacts& model) {
    nlohmann::json dims = nlohmann::json::object();
    for (const auto& [name, size] : model.dims)
        if (name != "batch")
            dims[name] = size;
    return dims.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Writes the rows of one run.
class RunWriter {
  public:
    RunWriter(SqlFile& file, std::int64_t run, const MetricView& view)
        : file_(file), run_(run), view_(view) {}

    void write(const AskedResult& asked) {
        const Result& result = *asked.result;
        const std::int64_t model = model_of(*result.model), device = device_of(result),
                           conditions = conditions_of(result, asked.batch_size);
        insert_.bind(run_).bind(model).bind(device).bind(conditions);
        insert_.bind(result.ok() ? precision_name(result.estimate.executed) : std::string());
        insert_.bind(name_of(result.estimate.status));
        insert_.bind(result.estimate.reason.empty() ? result.estimate.precision_note
                                                    : result.estimate.reason);
        insert_.finish();
        const std::int64_t id = file_.last_row();
        for (const Metric* metric : view_.metrics->rows())
            if (const auto measure = measure_of(result, *metric, view_.conditions))
                measure_.bind(id)
                    .bind(metric->key)
                    .bind(measure->value)
                    .bind(measure->interval.low)
                    .bind(measure->interval.high)
                    .finish();
    }

  private:
    /// The row that holds these values, made where there is none. `insert` and `select` have the same values.
    template <class Bind>
    static std::int64_t row(SqlStatement& insert, SqlStatement& select, Bind bind) {
        bind(insert);
        insert.finish();
        bind(select);
        select.step();
        const std::int64_t id = select.number();
        select.finish();
        return id;
    }

    std::int64_t model_of(const ModelFacts& model) {
        return row(insert_model_, select_model_, [&](SqlStatement& s) {
            s.bind(model.name).bind(dims_text(model)).bind(model.parameters).bind(model.macs);
            if (&s == &insert_model_)
                s.bind(model.title);
        });
    }

    std::int64_t device_of(const Result& result) {
        const std::string name = result.device ? result.device->id : result.hardware,
                          title = result.device ? result.device->name : std::string();
        return row(insert_device_, select_device_, [&](SqlStatement& s) {
            s.bind(name).bind(title).bind(result.power_mode);
            if (&s == &insert_device_)
                s.bind(result.device ? name_of(result.device->family) : std::string_view());
        });
    }

    std::int64_t conditions_of(const Result& result, std::int64_t batch_size) {
        const Conditions& asked = result.conditions;
        const GenerationEstimate* const text = result.generation.get();
        return row(insert_conditions_, select_conditions_, [&](SqlStatement& s) {
            s.bind(runtime_label(result))
                .bind(batch_size)
                .bind(precision_name(asked.precision))
                .bind(asked.kv_cache ? name_of(*asked.kv_cache) : std::string_view())
                .bind(name_of(asked.scenario))
                .bind(name_of(asked.scope))
                .bind(static_cast<std::int64_t>(text != nullptr ? text->prompt_tokens : 0))
                .bind(static_cast<std::int64_t>(text != nullptr ? text->generate_tokens : 0))
                .bind(asked.devices);
        });
    }

    SqlFile& file_;
    std::int64_t run_;
    const MetricView& view_;
    SqlStatement insert_model_{file_, "INSERT INTO models (name, dims, parameters, macs, title) VALUES (?, "
                                      "?, ?, ?, ?) ON CONFLICT DO NOTHING"};
    SqlStatement select_model_{
        file_, "SELECT id FROM models WHERE name = ? AND dims = ? AND parameters = ? AND macs = ?"};
    SqlStatement insert_device_{
        file_,
        "INSERT INTO devices (name, title, power_mode, family) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"};
    SqlStatement select_device_{file_,
                                "SELECT id FROM devices WHERE name = ? AND title = ? AND power_mode = ?"};
    SqlStatement insert_conditions_{
        file_,
        "INSERT INTO conditions (runtime, batch_size, precision, kv_cache, scenario, scope, "
        "prompt_tokens, generate_tokens, devices) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"};
    SqlStatement select_conditions_{
        file_, "SELECT id FROM conditions WHERE runtime = ? AND batch_size = ? AND precision = ? AND "
               "kv_cache = ? AND "
               "scenario = ? AND scope = ? AND prompt_tokens = ? AND generate_tokens = ? AND devices = ?"};
    SqlStatement insert_{file_, "INSERT INTO results (run_id, model_id, device_id, conditions_id, "
                                "executed_precision, status, reason) "
                                "VALUES (?, ?, ?, ?, ?, ?, ?)"};
    SqlStatement measure_{file_, "INSERT INTO measures VALUES (?, ?, ?, ?, ?)"};
};

} // namespace

std::int64_t save_results(const std::filesystem::path& file, const RunFacts& run,
                          std::span<const AskedResult> results, const MetricView& view) {
    SqlFile database(file, SqlAccess::write);
    SqlTransaction transaction(database);
    if (database.number("SELECT count(*) FROM sqlite_master") > 0)
        expect_results_file(database, file.string());
    prepare_results_file(database, *view.metrics);
    {
        SqlStatement insert(database,
                            "INSERT INTO runs (started, tool, command, version) VALUES (?, ?, ?, ?)");
        insert.bind(now_utc()).bind(run.tool).bind(run.command).bind(version()).finish();
    }
    const std::int64_t id = database.last_row();
    {
        RunWriter writer(database, id, view);
        for (const AskedResult& asked : results)
            writer.write(asked);
    }
    transaction.commit();
    return id;
}

} // namespace archsim
