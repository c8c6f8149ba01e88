#include "report/answers/sizing_report.hpp"

#include "archsim/core/version.hpp"
#include "ask/question_json.hpp"
#include "ask/serving_fields_json.hpp"
#include "report/answers/sizing_text.hpp"
#include "report/render/json_document.hpp"
#include "run/session/usual_precision.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

namespace archsim {

namespace {

using Json = nlohmann::ordered_json;

Json sized_or_null(std::optional<double> value) {
    return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

Json limit_or_null(double seconds) {
    return seconds > 0 ? Json(seconds) : Json(nullptr);
}

Json sizing_pressure(const SizingPressure& p) {
    return {{"limit", name_of(p.limit)},
            {"value", sized_or_null(p.value)},
            {"ratio", sized_or_null(p.ratio)},
            {"cache_full", p.cache_full},
            {"batch_full", p.batch_full}};
}

Json sized_layout(const SizedLayout& l) {
    const ServingSummary& s = l.run.summary;
    const Parallelism& p = l.run.parallelism;
    return {{"devices", l.devices()},
            {"parallelism",
             {{"tensor", p.tensor}, {"pipeline", p.pipeline}, {"data", p.data}, {"experts", p.experts}}},
            {"probability", l.probability},
            {"time_to_first_token_p99_s", s.time_to_first_s.p99},
            {"time_to_first_token_p99_interval_s",
             {l.run.bounds.time_to_first_s.low.p99, l.run.bounds.time_to_first_s.high.p99}},
            {"time_per_output_token_p99_s", s.time_per_token_s.p99},
            {"time_per_output_token_p99_interval_s",
             {l.run.bounds.time_per_token_s.low.p99, l.run.bounds.time_per_token_s.high.p99}},
            {"end_to_end_p99_s", s.end_to_end_s.p99},
            {"requests_per_s", s.requests_per_s},
            {"output_tokens_per_s", s.output_tokens_per_s},
            {"prompt_tokens_per_s", s.prompt_tokens_per_s},
            {"mean_batch", l.run.outcome.batch},
            {"utilization", s.utilization},
            {"usd_per_hour", sized_or_null(l.usd_per_hour)},
            {"usd_per_month", sized_or_null(l.usd_per_month())},
            {"usd_per_million_prompt_tokens", sized_or_null(l.run.usd_per_million_prompt())},
            {"usd_per_million_output_tokens", sized_or_null(l.run.usd_per_million_output())},
            {"power_w", s.watts},
            {"facility_power_w", l.watts},
            {"joules_per_million_prompt_tokens", s.joules_per_million_prompt},
            {"joules_per_million_output_tokens", s.joules_per_million_output},
            {"carbon_g_per_million_prompt_tokens", l.carbon_g_per_million_prompt()},
            {"carbon_g_per_million_output_tokens", l.carbon_g_per_million_output()},
            {"carbon_g_per_hour", l.carbon_g_per_hour},
            {"embodied_carbon_g_per_hour", sized_or_null(l.embodied_g_per_hour)},
            {"memory",
             {{"weights_bytes", l.memory.weights},
              {"cache_bytes", l.memory.cache},
              {"engine_bytes", l.memory.engine},
              {"free_bytes", l.memory.free},
              {"capacity_bytes", l.memory.capacity}}},
            {"pressure", sizing_pressure(l.pressure)},
            {"at_twice_the_load", sizing_pressure(l.at_twice)},
            {"notes", l.run.notes}};
}

Json text_or_null(const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
}

Json sized_device(const SizedDevice& d) {
    return {{"hardware", d.hardware},
            {"runtime", text_or_null(d.runtime)},
            {"precision", text_or_null(d.precision)},
            {"holds", d.holds},
            {"within_budget", d.within_budget},
            {"reason", text_or_null(d.reason)},
            {"price_basis", text_or_null(d.price_basis)},
            {"nearest", d.nearest.ratio > 0 ? sizing_pressure(d.nearest) : Json(nullptr)},
            {"layout", d.layout ? sized_layout(*d.layout) : Json(nullptr)}};
}

Json sized_pool(const std::string& hardware, const Parallelism& way, std::int64_t engines) {
    return {{"hardware", hardware},
            {"engines", engines},
            {"parallelism", {{"tensor", way.tensor}, {"pipeline", way.pipeline}, {"experts", way.experts}}}};
}

Json sized_pair(const SizedPair& p) {
    return {{"prompts", sized_pool(p.prompt_hardware, p.prompt_way, p.prompt_engines)},
            {"answers", sized_pool(p.answer_hardware, p.answer_way, p.answer_engines)},
            {"precision", p.precision},
            {"devices", p.devices()},
            {"probability", p.probability},
            {"within_budget", p.within_budget},
            {"time_to_first_token_p99_s", p.summary.time_to_first_s.p99},
            {"time_per_output_token_p99_s", p.summary.time_per_token_s.p99},
            {"usd_per_hour", sized_or_null(p.usd_per_hour)},
            {"facility_power_w", p.watts},
            {"transfer_bytes_per_s", sized_or_null(p.transfer_bytes_per_s)},
            {"pressure", sizing_pressure(p.pressure)}};
}

Json index_or_null(std::optional<std::size_t> index) {
    return index ? Json(*index) : Json(nullptr);
}

} // namespace

std::string to_json(const SizingAnswer& answer, const PlainView&) {
    const SizingRequest& r = answer.request;
    Json devices = Json::array();
    for (const SizedDevice& d : answer.devices)
        devices.push_back(sized_device(d));
    Json pairs = Json::array();
    for (const SizedPair& pair : answer.pairs)
        pairs.push_back(sized_pair(pair));
    const RequestPlan& load = r.serving.load;
    Json request = {{"model", answer.model}, {"hardware", answer.hardware}};
    const Workload of_prompts{.model = {}, .prompt = Prompt{}};
    for (const Conditions& conditions : answer.formats)
        request["precisions"].push_back(
            question_json({Workload{}, settled(conditions, of_prompts)}).at("precision"));
    if (!answer.formats.empty())
        request.update(question_json(
            {Workload{.model = {}, .sizes = r.serving.sizes}, settled(answer.formats.front(), of_prompts)}));
    request["server"] = server_json(r.serving);
    return document_text(
        {{"schema", "archsim.size_service/1"},
         {"version", version()},
         {"request", std::move(request)},
         {"model", answer.model},
         {"load",
          {{"rate_per_s", limit_or_null(load.rate_per_s)},
           {"users", r.serving.plan.concurrency > 0 ? Json(r.serving.plan.concurrency) : Json(nullptr)},
           {"prompt_tokens", load.prompt_tokens},
           {"output_tokens", load.output_tokens},
           {"requests", load.count},
           {"seed", load.seed}}},
         {"limits",
          {{"time_to_first_token_p99_s", limit_or_null(r.level.time_to_first_s)},
           {"time_per_output_token_p99_s", limit_or_null(r.level.time_per_token_s)},
           {"end_to_end_p99_s", limit_or_null(r.level.end_to_end_s)},
           {"confidence", r.confidence},
           {"usd_per_hour", limit_or_null(r.budget_usd_per_hour)}}},
         {"basis", basis_text(answer.basis)},
         {"verdict", sizing_takeaway(answer).lines},
         {"cheapest", index_or_null(answer.cheapest)},
         {"greenest", index_or_null(answer.greenest)},
         {"fewest", index_or_null(answer.fewest)},
         {"nearest", index_or_null(answer.nearest)},
         {"remedy", text_or_null(answer.remedy)},
         {"pairs", std::move(pairs)},
         {"unpaired", answer.unpaired},
         {"results", std::move(devices)}});
}

} // namespace archsim
