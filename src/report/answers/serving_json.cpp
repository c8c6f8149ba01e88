#include "report/answers/serving_report.hpp"

#include "archsim/core/version.hpp"
#include "ask/question_json.hpp"
#include "ask/serving_fields_json.hpp"
#include "report/render/json_document.hpp"
#include "run/session/usual_precision.hpp"

#include <nlohmann/json.hpp>

namespace archsim {

namespace {

using Json = nlohmann::ordered_json;

Json serving_percentiles(const Percentiles& p) {
    return {{"p50", p.p50}, {"p90", p.p90}, {"p99", p.p99}, {"p999", p.p999}, {"mean", p.mean}};
}

Json serving_intervals(const PercentileBounds& b) {
    return {{"p50", {b.low.p50, b.high.p50}},
            {"p90", {b.low.p90, b.high.p90}},
            {"p99", {b.low.p99, b.high.p99}},
            {"p999", {b.low.p999, b.high.p999}},
            {"mean", {b.low.mean, b.high.mean}}};
}

Json positive_or_null(double value) {
    return value > 0 ? Json(value) : Json(nullptr);
}

Json money_or_null(std::optional<double> value) {
    return value ? Json(*value) : Json(nullptr);
}

Json served_run(const ServingResult& r) {
    const ServingSummary& s = r.summary;
    return {{"rate_per_s", positive_or_null(r.rate_per_s)},
            {"in_flight", r.in_flight > 0 ? Json(r.in_flight) : Json(nullptr)},
            {"capacity_per_s", positive_or_null(r.capacity_per_s)},
            {"overloaded", r.overloaded},
            {"time_to_first_token_s", serving_percentiles(s.time_to_first_s)},
            {"time_per_output_token_s", serving_percentiles(s.time_per_token_s)},
            {"end_to_end_s", serving_percentiles(s.end_to_end_s)},
            {"time_to_first_token_intervals_s", serving_intervals(r.bounds.time_to_first_s)},
            {"time_per_output_token_intervals_s", serving_intervals(r.bounds.time_per_token_s)},
            {"end_to_end_intervals_s", serving_intervals(r.bounds.end_to_end_s)},
            {"step_interval", {r.step_low, r.step_high}},
            {"prompt_interval", {r.prompt_low, r.prompt_high}},
            {"requests_per_s", s.requests_per_s},
            {"output_tokens_per_s", s.output_tokens_per_s},
            {"output_tokens_per_s_per_device", r.tokens_per_device()},
            {"output_tokens_per_s_per_user", r.tokens_per_user()},
            {"prompt_tokens_per_s", s.prompt_tokens_per_s},
            {"utilization", s.utilization},
            {"mean_in_system", s.mean_in_system},
            {"mean_waiting", s.mean_waiting},
            {"mean_batch", r.outcome.batch},
            {"power_w", s.watts},
            {"joules_per_million_output_tokens", s.joules_per_million_output},
            {"joules_per_million_prompt_tokens", s.joules_per_million_prompt},
            {"usd_per_million_output_tokens", money_or_null(r.usd_per_million_output())},
            {"usd_per_million_prompt_tokens", money_or_null(r.usd_per_million_prompt())},
            {"cache_bytes_per_token", r.cache_bytes_per_token},
            {"fixed_cache_bytes_per_sequence", r.fixed_cache_bytes_per_sequence},
            {"cache_room_bytes", r.cache_room_bytes},
            {"cache_peak_bytes", r.outcome.cache_peak_bytes},
            {"cache_blocks_empty", r.outcome.cache_wasted},
            {"requests", r.outcome.requests.size()},
            {"requests_warm_up", s.warm_up},
            {"requests_counted", s.counted},
            {"prefix_cache_hit", s.cached_share},
            {"energy_j", r.outcome.joules},
            {"joules_per_thousand_tokens", r.joules_per_thousand_tokens()},
            {"carbon_g_per_thousand_tokens", r.carbon_g_per_thousand_tokens()},
            {"grid_intensity_g_per_kwh", r.grid_intensity},
            {"pue", r.pue},
            {"refused", r.outcome.refused},
            {"duration_s", r.outcome.duration_s},
            {"steps", r.outcome.steps}};
}

Json serving_row(const ServingResult& r) {
    return {{"model", r.model},
            {"hardware", r.hardware},
            {"runtime", r.runtime.empty() ? Json(nullptr) : Json(r.runtime)},
            {"precision", r.precision},
            {"parallelism",
             {{"tensor", r.parallelism.tensor},
              {"pipeline", r.parallelism.pipeline},
              {"data", r.parallelism.data},
              {"experts", r.parallelism.experts}}},
            {"status", r.ok ? "ok" : "failed"},
            {"reason", r.ok ? Json(nullptr) : Json(r.reason)},
            {"notes", r.notes},
            {"run", r.ok ? served_run(r) : Json(nullptr)}};
}

} // namespace

std::string serving_json(std::span<const ServingResult> results, const ServedQuestion& asked) {
    Json request = {{"model", asked.model}, {"hardware", asked.hardware}};
    request.update(question_json({Workload{.model = {}, .sizes = asked.request.sizes},
                                  settled(asked.conditions, {.model = {}, .prompt = Prompt{}})}));
    request["server"] = server_json(asked.request);
    request["limits"] = {{"time_to_first_token_p99_s", positive_or_null(asked.level.time_to_first_s)},
                         {"time_per_output_token_p99_s", positive_or_null(asked.level.time_per_token_s)},
                         {"end_to_end_p99_s", positive_or_null(asked.level.end_to_end_s)}};
    Json rows = Json::array();
    for (const ServingResult& r : results)
        rows.push_back(serving_row(r));
    return document_text({{"schema", "archsim.serve_model/1"},
                          {"version", version()},
                          {"request", std::move(request)},
                          {"results", std::move(rows)}});
}

} // namespace archsim
