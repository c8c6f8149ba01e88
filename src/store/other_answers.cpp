#include "store/results_file.hpp"

#include "core/digest.hpp"
#include "fields/question.hpp"

#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <utility>

namespace archsim {

namespace {

std::optional<Measure> not_of_an_estimate(const Result&, const CostOptions&) {
    return std::nullopt;
}

Metric time_metric(const char* key, const char* title) {
    return {.key = key,
            .title = title,
            .unit = "s",
            .better = Better::lower,
            .measure = not_of_an_estimate,
            .quantity = QuantityKind::time,
            .field = fmt::format("{}_s", key),
            .scale = 1e3,
            .column_unit = "ms",
            .recommend = false};
}

Metric rate_metric(const char* key, const char* title) {
    return {.key = key,
            .title = title,
            .unit = "1/s",
            .better = Better::higher,
            .measure = not_of_an_estimate,
            .quantity = QuantityKind::rate,
            .field = fmt::format("{}_per_s", key),
            .recommend = false};
}

Metric plain_metric(const char* key, const char* title) {
    return {.key = key,
            .title = title,
            .better = Better::lower,
            .measure = not_of_an_estimate,
            .recommend = false};
}

std::string sizes_text(const nlohmann::json& sizes) {
    return sizes.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Measure point_measure(double value) {
    return {value, {value, value}};
}

} // namespace

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

namespace {

/// What of a load and an engine is not as usual; lengths and how devices share the model have columns. A
/// member that is added to these does not compile until somebody decides whether it is part of the question.
nlohmann::json load_json(const ServingRequest& request) {
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
    // What is filled in from the device is none of the request's.
    const auto& [engine, engines, prompt_engines, prompt_engine, transfer, idle_watts, request_s,
                 prompt_token_s, side_by_side, first_factor, concurrency, warm_up, on_step, goes_on] = plan;
    static_cast<void>(on_step); // who looks on changes nothing
    static_cast<void>(goes_on);
    add("warm_up", warm_up, usual_request.plan.warm_up);
    add("request_s", request_s, usual_request.plan.request_s);
    add("prompt_token_s", prompt_token_s, usual_request.plan.prompt_token_s);
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

} // namespace

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
