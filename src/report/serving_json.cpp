#include "archsim/report/serving.hpp"

#include <nlohmann/json.hpp>

namespace archsim {

namespace {

using Json = nlohmann::ordered_json;

Json percentiles(const Percentiles& p) {
    return {{"p50", p.p50}, {"p90", p.p90}, {"p99", p.p99}, {"mean", p.mean}};
}

Json optional_number(std::optional<double> value) {
    return value ? Json(*value) : Json(nullptr);
}

Json one(const ServingResult& r) {
    Json json = {{"model", r.model},
                 {"hardware", r.hardware},
                 {"runtime", r.runtime},
                 {"precision", r.precision},
                 {"parallelism",
                  {{"tensor", r.parallelism.tensor},
                   {"pipeline", r.parallelism.pipeline},
                   {"data", r.parallelism.data}}},
                 {"status", r.ok ? "ok" : "failed"},
                 {"reason", r.ok ? Json(nullptr) : Json(r.reason)},
                 {"notes", r.notes}};
    if (!r.ok)
        return json;
    const ServingSummary& s = r.summary;
    json.update({{"rate_per_s", r.rate_per_s > 0 ? Json(r.rate_per_s) : Json(nullptr)},
                 {"capacity_per_s", r.capacity_per_s > 0 ? Json(r.capacity_per_s) : Json(nullptr)},
                 {"overloaded", r.overloaded},
                 {"time_to_first_token_s", percentiles(s.time_to_first_s)},
                 {"time_per_output_token_s", percentiles(s.time_per_token_s)},
                 {"end_to_end_s", percentiles(s.end_to_end_s)},
                 {"requests_per_s", s.requests_per_s},
                 {"output_tokens_per_s", s.output_tokens_per_s},
                 {"prompt_tokens_per_s", s.prompt_tokens_per_s},
                 {"utilization", s.utilization},
                 {"mean_in_system", s.mean_in_system},
                 {"mean_waiting", s.mean_waiting},
                 {"mean_batch", r.outcome.batch},
                 {"power_w", s.watts},
                 {"joules_per_million_output_tokens", s.joules_per_million_output},
                 {"joules_per_million_prompt_tokens", s.joules_per_million_prompt},
                 {"usd_per_million_output_tokens", optional_number(r.usd_per_million_output())},
                 {"usd_per_million_prompt_tokens", optional_number(r.usd_per_million_prompt())},
                 {"cache_bytes_per_token", r.cache_bytes_per_token},
                 {"cache_room_bytes", r.cache_room_bytes},
                 {"cache_peak_bytes", r.outcome.cache_peak_bytes},
                 {"cache_blocks_empty", r.outcome.cache_wasted},
                 {"requests", r.outcome.requests.size()},
                 {"refused", r.outcome.refused},
                 {"duration_s", r.outcome.duration_s},
                 {"steps", r.outcome.steps}});
    return json;
}

} // namespace

std::string serving_json(std::span<const ServingResult> results) {
    Json runs = Json::array();
    for (const ServingResult& r : results)
        runs.push_back(one(r));
    return Json{{"serving", std::move(runs)}}.dump(2) + "\n";
}

} // namespace archsim
