#include "store/results_file.hpp"

#include "archsim/core/version.hpp"
#include "fields/question.hpp"
#include "report/blocks/result_text.hpp"
#include "session/given.hpp"
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

/// What was asked beyond the columns that a result has: fields without one, formats that their column does
/// not tell apart, and sizes that the model does not show.
std::string question_beside_columns(const Result& result) {
    Question question{result.workload ? *result.workload : Workload{}, result.conditions};
    std::erase_if(question.workload.sizes.dims, [&](const auto& size) {
        const auto shown = result.model->dims.find(size.first);
        return shown != result.model->dims.end() && shown->second == size.second;
    });
    std::vector<std::string_view> columns = {"runtime", "batch_size",    "kv_cache",        "scenario",
                                             "scope",   "prompt_tokens", "generate_tokens", "devices"};
    if (question_field("precision").print(question) ==
        std::vector{precision_name(result.conditions.precision)})
        columns.push_back("precision");
    return with_measured(question_key(question, columns), measured_key(result));
}

class RunWriter {
  public:
    RunWriter(SqlFile& file, std::int64_t run, const MetricView& view)
        : file_(file), run_(run), view_(view) {}

    void write(const AskedResult& asked) {
        const Result& result = *asked.result;
        const Estimate& e = result.estimate;
        const Conditions& conditions = result.conditions;
        const auto tokens = [&](double GenerationEstimate::*count) {
            return result.generation ? static_cast<std::int64_t>((*result.generation).*count) : 0;
        };
        SavedResult answer;
        answer.key = {.model = result.model->name,
                      .dims = dims_text(*result.model),
                      .hardware = result.device ? result.device->id : result.hardware,
                      .power_mode = result.power_mode,
                      .runtime = runtime_label(result),
                      .precision = precision_name(conditions.precision),
                      .kv_cache = std::string(conditions.kv_cache ? name_of(*conditions.kv_cache) : ""),
                      .scenario = std::string(name_of(conditions.scenario)),
                      .scope = std::string(name_of(conditions.scope)),
                      .batch_size = asked.batch_size,
                      .prompt_tokens = tokens(&GenerationEstimate::prompt_tokens),
                      .generate_tokens = tokens(&GenerationEstimate::generate_tokens),
                      .devices = conditions.devices,
                      .question = question_beside_columns(result)};
        answer.family = result.device ? name_of(result.device->family) : "";
        answer.executed_precision = result.ok() ? precision_name(e.executed) : "";
        answer.status = status_text(e);
        answer.reason = e.reason.empty() ? e.precision_note : e.reason;
        for (const Metric* metric : view_.metrics->rows())
            if (const auto measure = measure_of(result, *metric, view_.conditions))
                answer.metrics.emplace(metric->key, *measure);
        write(answer, {.model_title = result.model->title,
                       .device_title = result.device ? result.device->name : "",
                       .parameters = result.model->parameters,
                       .macs = result.model->macs});
    }
    /// An answer that was taken apart before.
    void write(const SavedResult& answer) {
        write(answer, {.model_title = answer.key.model, .device_title = answer.key.hardware});
    }

  private:
    /// What a file says of a model and a device beside what tells questions apart.
    struct Described {
        std::string model_title, device_title;
        double parameters = 0, macs = 0;
    };

    void write(const SavedResult& answer, const Described& what) {
        const CellKey& key = answer.key;
        const std::int64_t model = row(insert_model_, select_model_, [&](SqlStatement& s) {
            s.bind(key.model).bind(key.dims).bind(what.parameters).bind(what.macs);
            if (&s == &insert_model_)
                s.bind(what.model_title);
        });
        const std::int64_t device = row(insert_device_, select_device_, [&](SqlStatement& s) {
            s.bind(key.hardware).bind(what.device_title).bind(key.power_mode);
            if (&s == &insert_device_)
                s.bind(answer.family);
        });
        const std::int64_t conditions = row(insert_conditions_, select_conditions_, [&](SqlStatement& s) {
            s.bind(key.runtime).bind(key.batch_size).bind(key.precision).bind(key.kv_cache);
            s.bind(key.scenario).bind(key.scope).bind(key.prompt_tokens).bind(key.generate_tokens);
            s.bind(key.devices).bind(key.question);
        });
        insert_.bind(run_).bind(model).bind(device).bind(conditions);
        insert_.bind(answer.executed_precision).bind(answer.status).bind(answer.reason).finish();
        const std::int64_t id = file_.last_row();
        for (const auto& [metric, measure] : answer.metrics)
            add_measure(id, metric, measure);
    }

    void add_measure(std::int64_t result, const std::string& metric, const Measure& measure) {
        measure_.bind(result)
            .bind(metric)
            .bind(measure.value)
            .bind(measure.interval.low)
            .bind(measure.interval.high)
            .finish();
    }

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
        file_, "INSERT INTO conditions (runtime, batch_size, precision, kv_cache, scenario, scope, "
               "prompt_tokens, generate_tokens, devices, question) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON "
               "CONFLICT DO NOTHING"};
    SqlStatement select_conditions_{
        file_, "SELECT id FROM conditions WHERE runtime = ? AND batch_size = ? AND precision = ? AND "
               "kv_cache = ? AND "
               "scenario = ? AND scope = ? AND prompt_tokens = ? AND generate_tokens = ? AND devices = ? AND "
               "question = ?"};
    SqlStatement insert_{file_, "INSERT INTO results (run_id, model_id, device_id, conditions_id, "
                                "executed_precision, status, reason) "
                                "VALUES (?, ?, ?, ?, ?, ?, ?)"};
    SqlStatement measure_{file_, "INSERT INTO measures VALUES (?, ?, ?, ?, ?)"};
};

/// One run, whole or not at all.
template <class Rows>
std::int64_t save_run(const std::filesystem::path& file, const RunFacts& run, const Rows& rows,
                      const MetricView& view) {
    SqlFile database(file, SqlAccess::write);
    const auto expect_ours = [&] {
        if (database.number("SELECT EXISTS (SELECT 1 FROM sqlite_master)") != 0)
            expect_results_file(database, file.string());
    };
    expect_ours(); // before anything is written to it
    database.allow_several_writers();
    SqlTransaction transaction(database);
    expect_ours();
    prepare_results_file(database, *view.metrics);
    {
        SqlStatement insert(database,
                            "INSERT INTO runs (started, tool, command, version) VALUES (?, ?, ?, ?)");
        insert.bind(now_utc()).bind(run.tool).bind(run.command).bind(version()).finish();
    }
    const std::int64_t id = database.last_row();
    {
        RunWriter writer(database, id, view);
        for (const auto& each : rows)
            writer.write(each);
    }
    transaction.commit();
    return id;
}

} // namespace

std::int64_t save_results(const std::filesystem::path& file, const RunFacts& run,
                          std::span<const AskedResult> results, const MetricView& view) {
    return save_run(file, run, results, view);
}

std::int64_t save_rows(const std::filesystem::path& file, const RunFacts& run,
                       std::span<const SavedResult> rows) {
    return save_run(file, run, rows, {&saved_metrics(), {}});
}

} // namespace archsim
