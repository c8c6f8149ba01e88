#include "archsim/core/version.hpp"
#include "core/digest.hpp"
#include "fields/question.hpp"
#include "report/blocks/result_text.hpp"
#include "session/given.hpp"
#include "store/results_file.hpp"
#include "store/schema.hpp"

#include <chrono>
#include <ctime>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace archsim {

static std::string now_utc() {
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm utc{};
    gmtime_r(&now, &utc);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                       utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

static std::string sizes_text(const nlohmann::json& sizes) {
    return sizes.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

static std::string dims_text(const ModelFacts& model) {
    nlohmann::json dims = nlohmann::json::object();
    for (const auto& [name, size] : model.dims)
        if (name != "batch")
            dims[name] = size;
    return sizes_text(dims);
}

/// The part of a question beyond the columns that a result has: fields without one, formats that their column
/// does not tell apart, and sizes that the model does not show.
static std::string question_beside_columns(const Result& result) {
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
    /// A file's facts of a model and a device beside what tells questions apart.
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
               "kv_cache = ? AND scenario = ? AND scope = ? AND prompt_tokens = ? AND generate_tokens = ? "
               "AND devices = ? AND question = ?"};
    SqlStatement insert_{file_, "INSERT INTO results (run_id, model_id, device_id, conditions_id, "
                                "executed_precision, status, reason) VALUES (?, ?, ?, ?, ?, ?, ?)"};
    SqlStatement measure_{file_, "INSERT INTO measures VALUES (?, ?, ?, ?, ?)"};
};

/// One run, whole or not at all.
template <class Rows>
static std::int64_t save_run(const std::filesystem::path& file, const RunFacts& run, const Rows& rows,
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

static Metric plain_metric(const char* key, const char* title) {
    return {
        .key = key,
        .title = title,
        .better = Better::lower,
        .measure = [](const Result&, const CostOptions&) -> std::optional<Measure> { return std::nullopt; },
        .recommend = false};
}

static Metric time_metric(const char* key, const char* title) {
    Metric metric = plain_metric(key, title);
    metric.unit = "s";
    metric.quantity = QuantityKind::time;
    metric.field = fmt::format("{}_s", key);
    metric.scale = 1e3;
    metric.column_unit = "ms";
    return metric;
}

static Metric rate_metric(const char* key, const char* title) {
    Metric metric = plain_metric(key, title);
    metric.unit = "1/s";
    metric.better = Better::higher;
    metric.quantity = QuantityKind::rate;
    metric.field = fmt::format("{}_per_s", key);
    return metric;
}

static Measure point_measure(double value) {
    return {value, {value, value}};
}

/// The part of a load and an engine that is not as usual; lengths and how devices share the model have
/// columns. A member that is added to these does not compile until somebody decides whether it is part of the
/// question.
static nlohmann::json load_json(const ServingRequest& request) {
    nlohmann::json object = nlohmann::json::object();
    const ServingRequest usual_request;
    const auto add = [&](const char* key, const auto& value, const auto& usual) {
        if (value != usual)
            object[key] = value;
    };
    const auto& [load, plan, parallelism, prompt_devices, prompt_way, prompt_hardware, sizes, find_capacity,
                 pue, grid] = request;
    static_cast<void>(pue), static_cast<void>(grid); // no number that is saved depends on them
    add("prompt_devices", prompt_devices, usual_request.prompt_devices);
    add("prompt_parallel", prompt_way ? to_string(*prompt_way) : "", "");
    add("prompt_hardware", prompt_hardware, usual_request.prompt_hardware);
    const auto& [count, rate, prompt_tokens, output_tokens, distinct, systems, system_tokens, shape, shortest,
                 longest, lengths, seed, arrivals, burstiness, trace] = load;
    const RequestPlan& l = usual_request.load;
    add("requests", count, l.count);
    add("rate_per_s", rate, l.rate_per_s); // as asked: a rate that was searched is an answer
    add("distinct_prompts", distinct, l.distinct_prompts);
    add("system_prompts", systems, l.system_prompts);
    add("system_tokens", system_tokens, l.system_tokens);
    add("shape", static_cast<int>(shape), static_cast<int>(l.shape));
    add("shortest", shortest, l.shortest);
    add("longest", longest, l.longest);
    add("seed", seed, l.seed);
    add("arrivals", static_cast<int>(arrivals), static_cast<int>(l.arrivals));
    add("burstiness", burstiness, l.burstiness);
    if (trace != nullptr) {
        Digest digest;
        for (const TraceRequest& r : trace->requests) {
            digest.number(r.arrival_s);
            digest.number(r.prompt_tokens);
            digest.number(r.output_tokens);
            for (const std::int64_t block : r.blocks)
                digest.number(block);
        }
        object["trace"] = digest.hex();
    }
    add("prompt_tokens", prompt_tokens, std::round(prompt_tokens)); // whose column holds whole numbers
    add("output_tokens", output_tokens, std::round(output_tokens));
    if (!lengths.empty()) {
        Digest digest;
        for (const auto& [prompt, output] : lengths) {
            digest.number(prompt);
            digest.number(output);
        }
        object["lengths"] = digest.hex();
    }
    // Members that are filled in from the device are none of the request's.
    const auto& [engine, engines, prompt_engines, prompt_engine, transfer, idle_watts, request_s,
                 prompt_token_s, answer_token_s, stream_interval, side_by_side, first_factor, concurrency,
                 warm_up, on_step, goes_on] = plan;
    static_cast<void>(on_step); // who looks on changes nothing
    static_cast<void>(goes_on);
    add("warm_up", warm_up, usual_request.plan.warm_up);
    add("request_s", request_s, usual_request.plan.request_s);
    add("prompt_token_s", prompt_token_s, usual_request.plan.prompt_token_s);
    add("answer_token_s", answer_token_s, usual_request.plan.answer_token_s);
    add("stream_interval", stream_interval, usual_request.plan.stream_interval);
    add("side_by_side", side_by_side, usual_request.plan.side_by_side);
    add("first_factor", first_factor, usual_request.plan.first_factor);
    add("in_flight", concurrency, usual_request.plan.concurrency);
    const auto& [cache_bytes, admission, expected, memory_share, groups, sequences, step_tokens, chunked,
                 prompts_apart, scheduled_ahead, whole_graph, captured_tokens, wait_tokens, wait_prompts,
                 wait_steps, poll_steps, block_tokens, prefix_hit, prefix_cache, drafted, accepted,
                 draft_cost] = engine;
    const EngineLimits& e = usual_request.plan.engine;
    static_cast<void>(expected); // the stack's
    add("admission", static_cast<int>(admission), static_cast<int>(e.admission));
    add("memory_share", memory_share, e.memory_share);
    add("groups", groups, e.groups);
    add("max_sequences", sequences, e.sequences);
    add("step_tokens", step_tokens, e.step_tokens);
    add("chunked", chunked, e.chunked);
    add("prompts_apart", prompts_apart, e.prompts_apart);
    add("scheduled_ahead", scheduled_ahead, e.scheduled_ahead);
    add("whole_graph", whole_graph, e.whole_graph);
    add("captured_tokens", captured_tokens, e.captured_tokens);
    add("wait_tokens", wait_tokens, e.wait_tokens);
    add("wait_prompts", wait_prompts, e.wait_prompts);
    add("wait_steps", wait_steps, e.wait_steps);
    add("poll_steps", poll_steps, e.poll_steps);
    add("block_tokens", block_tokens, e.block_tokens);
    add("prefix_hit", prefix_hit, e.prefix_hit);
    add("prefix_cache", prefix_cache, e.prefix_cache);
    add("drafted", drafted, e.drafted);
    add("accepted", accepted, e.accepted);
    add("draft_cost", draft_cost, e.draft_cost);
    return object;
}

std::int64_t save_results(const std::filesystem::path& file, const RunFacts& run,
                          std::span<const AskedResult> results, const MetricView& view) {
    return save_run(file, run, results, view);
}

std::int64_t save_rows(const std::filesystem::path& file, const RunFacts& run,
                       std::span<const SavedResult> rows) {
    return save_run(file, run, rows, {&saved_metrics(), {}});
}

void name_device(const std::string& asked, CellKey& key) {
    const std::size_t at = asked.find('@');
    key.hardware = asked.substr(0, at);
    if (at != std::string::npos)
        key.power_mode = asked.substr(at + 1);
}

const MetricTable& saved_metrics() {
    static const MetricTable table = MetricTable::standard()
                                         .with(time_metric("ttft_p50", "Time to first token, P50"))
                                         .with(time_metric("ttft_p99", "Time to first token, P99"))
                                         .with(time_metric("tpot_p50", "Time per output token, P50"))
                                         .with(time_metric("tpot_p99", "Time per output token, P99"))
                                         .with(time_metric("answer_p99", "Time of an answer, P99"))
                                         .with(rate_metric("served_requests", "Requests served"))
                                         .with(rate_metric("served_tokens", "Tokens answered"))
                                         .with(rate_metric("serving_capacity", "Requests at most"))
                                         .with(plain_metric("measured", "Measured value"))
                                         .with(plain_metric("error", "Error of the prediction"));
    return table;
}

SavedResult saved_row(const ServingResult& result, const ServingRequest& request,
                      const Conditions& conditions, const ServiceLevel& level) {
    SavedResult row;
    row.key.model = result.model;
    nlohmann::json load = load_json(request);
    load["parallel"] = to_string(result.parallelism);
    if (result.in_flight > 0)
        load["in_flight"] = result.in_flight;
    for (const auto& [key, limit] :
         {std::pair("ttft_p99", level.time_to_first_s), std::pair("tpot_p99", level.time_per_token_s),
          std::pair("e2e_p99", level.end_to_end_s)})
        if (limit > 0)
            load[key] = limit;
    row.key.dims = sizes_text(load);
    row.key.question =
        question_key({{.sizes = request.sizes, .prompt = Prompt{}}, conditions}, kSavedColumns);
    if (conditions.kv_cache)
        row.key.kv_cache = name_of(*conditions.kv_cache);
    name_device(result.hardware, row.key);
    row.key.runtime = result.runtime;
    row.key.precision = row.executed_precision = result.precision;
    row.key.scenario = "served";
    row.key.scope = "end_to_end";
    row.key.prompt_tokens = std::llround(request.load.prompt_tokens);
    row.key.generate_tokens = std::llround(request.load.output_tokens);
    row.key.devices = static_cast<double>(result.parallelism.devices());
    row.status = result.ok ? "ok" : "failed";
    row.reason = result.reason;
    if (!result.ok)
        return row;
    const ServingSummary& s = result.summary;
    const auto wait = [](const Percentiles& value, const PercentileBounds& bounds,
                         double Percentiles::*which) {
        return Measure{value.*which, {bounds.low.*which, bounds.high.*which}};
    };
    const WaitBounds& b = result.bounds;
    row.metrics["ttft_p50"] = wait(s.time_to_first_s, b.time_to_first_s, &Percentiles::p50);
    row.metrics["ttft_p99"] = wait(s.time_to_first_s, b.time_to_first_s, &Percentiles::p99);
    row.metrics["tpot_p50"] = wait(s.time_per_token_s, b.time_per_token_s, &Percentiles::p50);
    row.metrics["tpot_p99"] = wait(s.time_per_token_s, b.time_per_token_s, &Percentiles::p99);
    row.metrics["answer_p99"] = wait(s.end_to_end_s, b.end_to_end_s, &Percentiles::p99);
    row.metrics["served_requests"] = point_measure(s.requests_per_s);
    row.metrics["served_tokens"] = point_measure(s.output_tokens_per_s);
    if (result.capacity_per_s > 0)
        row.metrics["serving_capacity"] = point_measure(result.capacity_per_s);
    row.metrics[metric::power.key] = point_measure(s.watts);
    return row;
}

} // namespace archsim
