#include "report/blocks/generation_json.hpp"

#include "archsim/compare/metric.hpp"

#include <cmath>

namespace archsim {

namespace {

using Json = nlohmann::ordered_json;

Json number(bool known, double value) {
    return known && std::isfinite(value) ? Json(value) : Json(nullptr);
}

} // namespace

Json generation_json(const GenerationEstimate& g, bool ok) {
    const bool stepped = ok && g.time_per_output_token_s > 0;
    Json steps = Json::array();
    for (const GenerationStep& s : g.steps)
        steps.push_back({{"context", s.context}, {"latency_s", s.latency_s}, {"energy_j", s.energy_j}});
    Json offload = Json::array();
    for (const OffloadChoice& c : g.offload)
        offload.push_back({{"part", c.part},
                           {"bytes", c.bytes},
                           {"time_per_output_token_low_s", c.per_token_low_s},
                           {"time_per_output_token_high_s", c.per_token_high_s},
                           {"time_to_first_token_low_s", c.first_token_low_s},
                           {"time_to_first_token_high_s", c.first_token_high_s}});
    Json json = {
        {"prompt_tokens", g.prompt_tokens},
        {"generate_tokens", g.generate_tokens},
        {"batch_size", g.batch},
        {"devices", g.devices},
        {"devices_needed", number(g.devices_needed > 0, g.devices_needed)},
        {"time_to_first_token_s", number(ok, g.time_to_first_token_s)},
        {"time_to_first_token_low_s", number(ok, g.time_to_first_token_interval.low)},
        {"time_to_first_token_high_s", number(ok, g.time_to_first_token_interval.high)},
        {"time_per_output_token_s", number(stepped, g.time_per_output_token_s)},
        {"time_per_output_token_low_s", number(stepped, g.time_per_output_token_interval.low)},
        {"time_per_output_token_high_s", number(stepped, g.time_per_output_token_interval.high)},
        {"tokens_per_s_stream", number(stepped, g.tokens_per_s_stream)},
        {"tokens_per_s_total", number(stepped, g.tokens_per_s_total)},
        {"tokens_per_s_total_low", number(stepped, g.tokens_per_s_total_interval.low)},
        {"tokens_per_s_total_high", number(stepped, g.tokens_per_s_total_interval.high)},
        {"kv_cache_bytes", g.kv_cache_bytes},
        {"weight_bytes", g.weight_bytes},
        {"memory_bytes_per_device", g.memory_bytes},
        {"memory_capacity_bytes_per_device", number(g.memory_capacity_bytes > 0, g.memory_capacity_bytes)},
        {"fits",
         g.memory_capacity_bytes > 0 ? Json(g.memory_bytes <= g.memory_capacity_bytes) : Json(nullptr)},
        {"energy_first_token_j", number(ok, g.energy_first_token_j)},
        {"energy_per_token_j", number(stepped, g.energy_per_token_j)},
        {"energy_per_token_low_j", number(stepped, g.energy_per_token_interval.low)},
        {"energy_per_token_high_j", number(stepped, g.energy_per_token_interval.high)},
        {"energy_per_prompt_token_j", number(ok, g.energy_per_prompt_token_j())},
        {"energy_per_request_j", number(ok, g.energy_per_request_j())},
        {"power_per_device_w", number(ok, g.power_per_device_w())},
        {"power_w", number(ok, g.power_per_device_w() * g.devices)},
        {"steps", steps},
        {"offload", offload}};
    const SaturatedServing& s = g.serving;
    json["serving"] = s.sequences > 0 ? Json{{"sequences", s.sequences},
                                             {"step_s", s.step_s},
                                             {"tokens_per_s", s.tokens_per_s},
                                             {"tokens_per_s_low", s.tokens_interval.low},
                                             {"tokens_per_s_high", s.tokens_interval.high},
                                             {"energy_per_token_j", s.energy_per_token_j}}
                                      : Json(nullptr);
    return json;
}

Json parts_json(const Result& result) {
    Json parts = Json::array();
    for (const ResultPart& part : result.parts) {
        const Result& r = *part.result;
        const Estimate& e = r.estimate;
        Json row = {{"name", part.name},     {"model", r.model->name},
                    {"repeat", part.repeat}, {"parameters", r.model->parameters},
                    {"macs", r.model->macs}, {"status", status_text(e)},
                    {"reason", e.reason}};
        for (const MetricField& field : fields_of(MetricTable::standard()))
            if (*field.metric == metric::latency || *field.metric == metric::energy) {
                const auto measure = measure_of(r, *field.metric);
                row[field.key()] = number(measure.has_value(), measure ? field.of(*measure) : 0);
            }
        row["weight_bytes"] = e.memory.weight_bytes;
        row["peak_bytes"] = e.memory.peak_bytes;
        row["subgraphs"] = r.partition ? Json(r.partition->subgraphs.size()) : Json(nullptr);
        parts.push_back(std::move(row));
    }
    return parts;
}

} // namespace archsim
