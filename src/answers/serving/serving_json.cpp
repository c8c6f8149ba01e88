#include "answers/serving/serving_report.hpp"

#include "fields/question_json.hpp"
#include "report/blocks/result_text.hpp"
#include "report/render/answer_document.hpp"
#include "result/ranking.hpp"
#include "session/usual_precision.hpp"

#include <fmt/format.h>

namespace archsim {

static Members<Percentiles> serving_percentile_members() {
    return {{"p50", "", &Percentiles::p50},
            {"p90", "", &Percentiles::p90},
            {"p99", "", &Percentiles::p99},
            {"p999", "", &Percentiles::p999},
            {"mean", "", &Percentiles::mean}};
}

static Members<PercentileBounds> serving_interval_members() {
    const auto both = [](double Percentiles::*which) {
        return [which](const PercentileBounds& b) { return std::array{b.low.*which, b.high.*which}; };
    };
    return {{"p50", "", both(&Percentiles::p50)},
            {"p90", "", both(&Percentiles::p90)},
            {"p99", "", both(&Percentiles::p99)},
            {"p999", "", both(&Percentiles::p999)},
            {"mean", "", both(&Percentiles::mean)}};
}

static Members<ServingResult> served_run_members() {
    using R = ServingResult;
    const char* const intervals = "90 % intervals: the same load with every step at the ends of its own";
    const char* const bounds = "bounds of a step's 90 % interval over its estimate";
    return {{"rate_per_s", "offered; null: a fixed number of requests in flight",
             [](const R& r) { return positive(r.rate_per_s); }},
            {"in_flight", "requests held in flight; null: a rate",
             [](const R& r) { return r.in_flight > 0 ? std::optional(r.in_flight) : std::nullopt; }},
            {"capacity_per_s", "requests that it stands in the long run",
             [](const R& r) { return positive(r.capacity_per_s); }},
            {"overloaded", "the queue grows without bound", &R::overloaded},
            {"time_to_first_token_s", "from arrival", [](const R& r) { return r.summary.time_to_first_s; },
             serving_percentile_members()},
            {"time_per_output_token_s", "mean between the tokens of one answer, after the first",
             [](const R& r) { return r.summary.time_per_token_s; }, serving_percentile_members()},
            {"end_to_end_s", "from arrival to the last token",
             [](const R& r) { return r.summary.end_to_end_s; }, serving_percentile_members()},
            {"time_to_first_token_intervals_s", intervals,
             [](const R& r) { return r.bounds.time_to_first_s; }, serving_interval_members()},
            {"time_per_output_token_intervals_s", intervals,
             [](const R& r) { return r.bounds.time_per_token_s; }, serving_interval_members()},
            {"end_to_end_intervals_s", intervals, [](const R& r) { return r.bounds.end_to_end_s; },
             serving_interval_members()},
            {"step_interval", bounds,
             [](const R& r) {
                 return std::array{r.step_low, r.step_high};
             }},
            {"prompt_interval", bounds,
             [](const R& r) {
                 return std::array{r.prompt_low, r.prompt_high};
             }},
            {"requests_per_s", "completed", [](const R& r) { return r.summary.requests_per_s; }},
            {"output_tokens_per_s", "", [](const R& r) { return r.summary.output_tokens_per_s; }},
            {"output_tokens_per_s_per_device", "", &R::tokens_per_device},
            {"output_tokens_per_s_per_user", "one over the median time per token", &R::tokens_per_user},
            {"prompt_tokens_per_s", "", [](const R& r) { return r.summary.prompt_tokens_per_s; }},
            {"utilization", "part of the engines' time that is spent in steps",
             [](const R& r) { return r.summary.utilization; }},
            {"mean_in_system", "requests", [](const R& r) { return r.summary.mean_in_system; }},
            {"mean_waiting", "requests", [](const R& r) { return r.summary.mean_waiting; }},
            {"mean_batch", "sequences in a step", [](const R& r) { return r.outcome.batch; }},
            {"power_w", "of all devices", [](const R& r) { return r.summary.watts; }},
            {"joules_per_million_output_tokens", "",
             [](const R& r) { return r.summary.joules_per_million_output; }},
            {"joules_per_million_prompt_tokens", "",
             [](const R& r) { return r.summary.joules_per_million_prompt; }},
            {"usd_per_million_output_tokens", "null: without a price", &R::usd_per_million_output},
            {"usd_per_million_prompt_tokens", "null: without a price", &R::usd_per_million_prompt},
            {"cache_bytes_per_token", "", &R::cache_bytes_per_token},
            {"fixed_cache_bytes_per_sequence",
             "cache that a sequence takes once: full windows and fixed states",
             &R::fixed_cache_bytes_per_sequence},
            {"cache_room_bytes", "", &R::cache_room_bytes},
            {"cache_peak_bytes", "", [](const R& r) { return r.outcome.cache_peak_bytes; }},
            {"cache_blocks_empty", "share of the allocated positions that hold no token",
             [](const R& r) { return r.outcome.cache_wasted; }},
            {"requests", "completed", [](const R& r) { return r.outcome.requests.size(); }},
            {"requests_warm_up", "at the start, not counted", [](const R& r) { return r.summary.warm_up; }},
            {"requests_counted", "that waiting times are of", [](const R& r) { return r.summary.counted; }},
            {"prefix_cache_hit", "share of the prompts' tokens that the cache held",
             [](const R& r) { return r.summary.cached_share; }},
            {"energy_j", "of the whole run, all devices", [](const R& r) { return r.outcome.joules; }},
            {"joules_per_thousand_tokens", "of prompts and answers together, over the whole run",
             &R::joules_per_thousand_tokens},
            {"carbon_g_per_thousand_tokens", "g CO2e of that electricity with the facility's share",
             &R::carbon_g_per_thousand_tokens},
            {"grid_intensity_g_per_kwh", "", &R::grid_intensity},
            {"pue", "facility over device power", &R::pue},
            {"refused", "requests longer than the cache", [](const R& r) { return r.outcome.refused; }},
            {"preempted", "times that a request gave way to others and was computed again",
             [](const R& r) { return r.outcome.preempted; }},
            {"duration_s", "", [](const R& r) { return r.outcome.duration_s; }},
            {"steps", "", [](const R& r) { return r.outcome.steps; }}};
}

static Members<ServingResult> served_row_members() {
    using R = ServingResult;
    return {
        {"model", "", &R::model},
        {"hardware", "", &R::hardware},
        {"runtime", "software stack", [](const R& r) { return nonempty(r.runtime); }},
        {"precision", "format that runs", &R::precision},
        {"parallelism", "how devices share the model", &R::parallelism, parallelism_members()},
        {"status", "", [](const R& r) { return r.ok ? "ok" : "failed"; }, OneOf{{"ok", "failed"}}},
        {"reason", "why it failed", [](const R& r) { return r.ok ? std::nullopt : std::optional(r.reason); }},
        evidence_member<R>([](const R& r) { return evidence_of(r.ok, r.doubt); }),
        {"doubt", "why it is not named first", [](const R& r) { return nonempty(r.doubt.text()); }},
        {"notes", "", &R::notes},
        {"run", "null where it failed", [](const R& r) { return r.ok ? &r : nullptr; },
         served_run_members()}};
}

static Members<ServedQuestion> served_request_members() {
    using Q = ServedQuestion;
    return Members<Q>{{"model", "", &Q::model}, {"hardware", "", &Q::hardware}}
        .with(question_members({FieldOf::any}).of<Q>([](const Q& q) {
            return Question{Workload{.model = {}, .sizes = q.request.sizes}, q.conditions};
        }))
        .with(server_members().of<Q>([](const Q& q) { return q.request; }))
        .with(level_members().of<Q>([](const Q& q) { return q.level; }))
        .with({{"parallel", "how devices share the model, each in turn; empty: the fewest that hold it",
                [](const Q& q) {
                    return q.parallel.empty() && q.request.parallelism
                               ? std::vector{parallel_text(*q.request.parallelism)}
                               : q.parallel;
                }},
               {"devices", "counts that share the model as its stack does, each in turn; empty: none",
                [](const Q& q) {
                    return q.devices.empty() && q.conditions.devices > 1
                               ? std::vector{fmt::format("{:.0f}", q.conditions.devices)}
                               : q.devices;
                }},
               {"frontier", "requests in flight from 1 on", &Q::frontier}});
}

/// A question and its answers.
struct Served {
    std::span<const ServingResult> results;
    const ServedQuestion* asked = nullptr;
};

static AnswerDocument serving_document(const Served& served) {
    return {
        served,
        "serve_model",
        "a language model under load",
        {{"request", "what was asked", [](const Served& s) { return *s.asked; }, served_request_members()},
         {"verdict", "the answer", [](const Served& s) { return serving_lines(s.results, *s.asked); },
          lines_members()},
         {"results", "", &Served::results, served_row_members()}}};
}

Members<Parallelism> engine_parallelism_members() {
    return {{"tensor", "devices that share every layer", &Parallelism::tensor},
            {"pipeline", "stages one after another", &Parallelism::pipeline},
            {"experts",
             "devices of a stage that hold whole experts; 1: experts are shared like every other matrix",
             &Parallelism::experts}};
}

Members<Parallelism> parallelism_members() {
    return {{"tensor", "devices that share every layer", &Parallelism::tensor},
            {"pipeline", "stages one after another", &Parallelism::pipeline},
            {"data", "engines beside each other", &Parallelism::data},
            {"experts",
             "devices of a stage that hold whole experts; 1: experts are shared like every other matrix",
             &Parallelism::experts}};
}

nlohmann::ordered_json serve_model_schema() {
    return serving_document({}).schema();
}

ServedQuestion served_question(const Model& model, std::vector<std::string> hardware,
                               const Conditions& conditions, ServingRequest request, ServiceLevel level) {
    return {model.name(), std::move(hardware), settled(conditions, {.model = model, .prompt = Prompt{}}),
            std::move(request), level};
}

std::string serving_json(std::span<const ServingResult> results, const ServedQuestion& asked) {
    return serving_document({results, &asked}).text();
}

} // namespace archsim
