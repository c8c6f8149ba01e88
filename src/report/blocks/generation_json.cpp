#include "report/blocks/generation_json.hpp"

#include "archsim/compare/metric.hpp"
#include "report/blocks/result_row.hpp"
#include "report/blocks/result_text.hpp"

namespace archsim {

namespace {

using Shown = ShownGeneration;

/// A number of any estimate, as `of` gives it.
template <class Of>
auto planned(Of of) {
    return [of](const Shown& s) { return std::invoke(of, s.estimate); };
}
/// One that is known with an estimate.
template <class Of>
auto if_ok(Of of) {
    return [of](const Shown& s) { return known(s.ok, std::invoke(of, s.estimate)); };
}
/// One that is known where tokens are written one after another.
template <class Of>
auto if_stepped(Of of) {
    return [of](const Shown& s) {
        return known(s.ok && s.estimate.time_per_output_token_s > 0, std::invoke(of, s.estimate));
    };
}
auto low(Interval GenerationEstimate::*interval) {
    return [interval](const GenerationEstimate& g) { return (g.*interval).low; };
}
auto high(Interval GenerationEstimate::*interval) {
    return [interval](const GenerationEstimate& g) { return (g.*interval).high; };
}

Members<GenerationStep> step_members() {
    return {{"context", "tokens in the cache before the step", &GenerationStep::context},
            {"latency_s", "", &GenerationStep::latency_s},
            {"energy_j", "", &GenerationStep::energy_j}};
}

Members<OffloadChoice> offload_members() {
    using O = OffloadChoice;
    return {{"part", "what is kept in host memory", &O::part},
            {"bytes", "of each device", &O::bytes},
            {"time_per_output_token_low_s", "the link works beside everything else", &O::per_token_low_s},
            {"time_per_output_token_high_s", "all waits for the link", &O::per_token_high_s},
            {"time_to_first_token_low_s", "", &O::first_token_low_s},
            {"time_to_first_token_high_s", "", &O::first_token_high_s}};
}

Members<SaturatedServing> saturated_members() {
    using S = SaturatedServing;
    return {{"sequences", "that run at once", &S::sequences},
            {"step_s", "one token for each, and the prompts of those that start", &S::step_s},
            {"tokens_per_s", "of all sequences", &S::tokens_per_s},
            {"tokens_per_s_low", "", [](const S& s) { return s.tokens_interval.low; }},
            {"tokens_per_s_high", "", [](const S& s) { return s.tokens_interval.high; }},
            {"energy_per_token_j", "", &S::energy_per_token_j}};
}

} // namespace

Members<ShownGeneration> generation_members() {
    using G = GenerationEstimate;
    const auto capacity = [](const Shown& s) { return positive(s.estimate.memory_capacity_bytes); };
    return {
        {"prompt_tokens", "of each sequence", planned(&G::prompt_tokens)},
        {"generate_tokens", "of each sequence", planned(&G::generate_tokens)},
        {"batch_size", "sequences", planned(&G::batch)},
        {"devices", "", planned(&G::devices)},
        {"devices_needed", "that hold the model; null: none found",
         [](const Shown& s) { return positive(s.estimate.devices_needed); }},
        {"time_to_first_token_s", "", if_ok(&G::time_to_first_token_s)},
        {"time_to_first_token_low_s", "", if_ok(low(&G::time_to_first_token_interval))},
        {"time_to_first_token_high_s", "", if_ok(high(&G::time_to_first_token_interval))},
        {"time_per_output_token_s", "mean after the first", if_stepped(&G::time_per_output_token_s)},
        {"time_per_output_token_low_s", "", if_stepped(low(&G::time_per_output_token_interval))},
        {"time_per_output_token_high_s", "", if_stepped(high(&G::time_per_output_token_interval))},
        {"tokens_per_s_stream", "of one sequence", if_stepped(&G::tokens_per_s_stream)},
        {"tokens_per_s_total", "of all sequences", if_stepped(&G::tokens_per_s_total)},
        {"tokens_per_s_total_low", "", if_stepped(low(&G::tokens_per_s_total_interval))},
        {"tokens_per_s_total_high", "", if_stepped(high(&G::tokens_per_s_total_interval))},
        {"kv_cache_bytes", "at the end of the answer", planned(&G::kv_cache_bytes)},
        {"weight_bytes", "", planned(&G::weight_bytes)},
        {"memory_bytes_per_device", "", planned(&G::memory_bytes)},
        {"memory_capacity_bytes_per_device", "", capacity},
        {"fits", "null: the capacity is not known",
         [](const Shown& s) {
             const G& g = s.estimate;
             return g.memory_capacity_bytes > 0 ? std::optional(g.memory_bytes <= g.memory_capacity_bytes)
                                                : std::nullopt;
         }},
        {"energy_first_token_j", "", if_ok(&G::energy_first_token_j)},
        {"energy_per_token_j", "", if_stepped(&G::energy_per_token_j)},
        {"energy_per_token_low_j", "", if_stepped(low(&G::energy_per_token_interval))},
        {"energy_per_token_high_j", "", if_stepped(high(&G::energy_per_token_interval))},
        {"energy_per_prompt_token_j", "", if_ok(&G::energy_per_prompt_token_j)},
        {"energy_per_request_j", "", if_ok(&G::energy_per_request_j)},
        {"power_per_device_w", "", if_ok(&G::power_per_device_w)},
        {"power_w", "of all devices", if_ok([](const G& g) { return g.power_per_device_w() * g.devices; })},
        {"steps", "some of those that write a token", planned(&G::steps), step_members()},
        {"offload", "where the model is too large: what host memory could hold", planned(&G::offload),
         offload_members()},
        {"serving", "a server that always has requests waiting; null: not estimated",
         [](const Shown& s) { return s.estimate.serving.sequences > 0 ? &s.estimate.serving : nullptr; },
         saturated_members()}};
}

Members<ResultPart> part_members(const CostOptions& conditions) {
    using P = ResultPart;
    std::vector<Member<P>> measures;
    for (const MetricField& field : fields_of(MetricTable::standard()))
        if (*field.metric == metric::latency || *field.metric == metric::energy)
            measures.emplace_back(field.key(), meaning_of(field), [field, conditions](const P& p) {
                const auto measure = measure_of(*p.result, *field.metric, conditions);
                return known(measure.has_value(), measure ? field.of(*measure) : 0);
            });
    return Members<P>{
        {"name", "", &P::name},
        {"model", "", [](const P& p) { return p.result->model->name; }},
        {"repeat", "executions per inference", &P::repeat},
        {"parameters", "learned values", [](const P& p) { return p.result->model->parameters; }},
        {"macs", "multiply-accumulates; 1 = 2 operations", [](const P& p) { return p.result->model->macs; }},
        {"status", "", [](const P& p) { return status_text(p.result->estimate); }, result_status()},
        {"reason", "one sentence, empty when exactly as asked",
         [](const P& p) { return p.result->estimate.reason; }}}
        .with(Members<P>(std::move(measures)))
        .with({{"weight_bytes", "", [](const P& p) { return p.result->estimate.memory.weight_bytes; }},
               {"peak_bytes", "while this part runs: its weights, activations and workspace",
                [](const P& p) { return p.result->estimate.memory.peak_bytes; }},
               {"subgraphs", "null: not cut", [](const P& p) {
                    const auto& cut = p.result->partition;
                    return cut ? std::optional(cut->subgraphs.size()) : std::nullopt;
                }}});
}

} // namespace archsim
