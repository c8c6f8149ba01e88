#include "answers/sizing/sizing_report.hpp"

#include "answers/serving/serving_report.hpp"
#include "answers/sizing/sizing_fields.hpp"
#include "core/lists.hpp"
#include "fields/question_json.hpp"
#include "report/blocks/result_text.hpp"

namespace archsim {

static std::optional<double> sized_or_null(std::optional<double> value) {
    return value ? finite(*value) : std::nullopt;
}

static Members<SizingPressure> sizing_pressure_members() {
    return {{"limit", "nearest to what is allowed, or furthest beyond", &SizingPressure::limit,
             UpTo{SizingLimit::queue}},
            {"value", "seconds; of the queue, arrivals over completions",
             [](auto& p) { return finite(p.value); }},
            {"ratio", "value over limit; null: requests are longer than the cache",
             [](auto& p) { return finite(p.ratio); }},
            {"cache_full", "the requests in flight fill the cache", &SizingPressure::cache_full},
            {"batch_full", "an engine runs as many sequences as it may", &SizingPressure::batch_full}};
}

static Members<SizedMemory> sized_memory_members() {
    return {
        {"weights_bytes", "", &SizedMemory::weights},
        {"cache_bytes", "keys and values in use at most", &SizedMemory::cache},
        {"engine_bytes", "activations, and what stack and driver keep for themselves", &SizedMemory::engine},
        {"free_bytes", "blocks of the cache that nothing was in", &SizedMemory::free},
        {"capacity_bytes", "", &SizedMemory::capacity}};
}

static std::array<double, 2> sized_p99_interval(const PercentileBounds& bounds) {
    return {bounds.low.p99, bounds.high.p99};
}

static Members<SizedLayout> sized_layout_members() {
    using L = SizedLayout;
    return {
        {"devices", "of the whole service", &L::devices},
        {"parallelism", "how engines share the model, and how many there are",
         [](const L& l) { return l.run.parallelism; }, parallelism_members()},
        {"probability", "that all limits hold", &L::probability},
        {"time_to_first_token_p99_s", "", [](const L& l) { return l.run.summary.time_to_first_s.p99; }},
        {"time_to_first_token_p99_interval_s", "its 90 % interval",
         [](const L& l) { return sized_p99_interval(l.run.bounds.time_to_first_s); }},
        {"time_per_output_token_p99_s", "", [](const L& l) { return l.run.summary.time_per_token_s.p99; }},
        {"time_per_output_token_p99_interval_s", "its 90 % interval",
         [](const L& l) { return sized_p99_interval(l.run.bounds.time_per_token_s); }},
        {"end_to_end_p99_s", "", [](const L& l) { return l.run.summary.end_to_end_s.p99; }},
        {"requests_per_s", "completed", [](const L& l) { return l.run.summary.requests_per_s; }},
        {"output_tokens_per_s", "", [](const L& l) { return l.run.summary.output_tokens_per_s; }},
        {"prompt_tokens_per_s", "", [](const L& l) { return l.run.summary.prompt_tokens_per_s; }},
        {"mean_batch", "sequences in a step", [](const L& l) { return l.run.outcome.batch; }},
        {"utilization", "part of the engines' time that is spent in steps",
         [](const L& l) { return l.run.summary.utilization; }},
        {"usd_per_hour", "null: without a price", [](const L& l) { return sized_or_null(l.usd_per_hour); }},
        {"usd_per_month", "of 730.5 hours", [](const L& l) { return sized_or_null(l.usd_per_month()); }},
        {"usd_per_million_prompt_tokens", "",
         [](const L& l) { return sized_or_null(l.run.usd_per_million_prompt()); }},
        {"usd_per_million_output_tokens", "",
         [](const L& l) { return sized_or_null(l.run.usd_per_million_output()); }},
        {"power_w", "of the devices", [](const L& l) { return l.run.summary.watts; }},
        {"facility_power_w", "at the facility's meter", &L::watts},
        {"joules_per_million_prompt_tokens", "",
         [](const L& l) { return l.run.summary.joules_per_million_prompt; }},
        {"joules_per_million_output_tokens", "",
         [](const L& l) { return l.run.summary.joules_per_million_output; }},
        {"carbon_g_per_million_prompt_tokens", "", &L::carbon_g_per_million_prompt},
        {"carbon_g_per_million_output_tokens", "", &L::carbon_g_per_million_output},
        {"carbon_g_per_hour", "of the electricity at the meter", &L::carbon_g_per_hour},
        {"embodied_carbon_g_per_hour", "of making the devices, over their years; null: not published",
         [](const L& l) { return sized_or_null(l.embodied_g_per_hour); }},
        {"memory", "of one device; the parts add up to the capacity", &L::memory, sized_memory_members()},
        {"pressure", "under the load, by the estimate", &L::pressure, sizing_pressure_members()},
        {"at_twice_the_load", "what gives first", &L::at_twice, sizing_pressure_members()},
        {"notes", "", [](const L& l) { return l.run.notes; }}};
}

static Members<SizedDevice> sized_device_members() {
    using D = SizedDevice;
    return {{"hardware", "", &D::hardware},
            {"runtime", "software stack", [](const D& d) { return nonempty(d.runtime); }},
            {"precision", "format that runs", [](const D& d) { return nonempty(d.precision); }},
            evidence_member<D>([](const D& d) { return evidence_of(d.layout.has_value(), d.doubt); }),
            {"doubt", "why it is not named first", [](const D& d) { return nonempty(d.doubt.text()); }},
            {"holds", "with the confidence asked for", &D::holds},
            {"within_budget", "", &D::within_budget},
            {"reason", "why it does not hold", [](const D& d) { return nonempty(d.reason); }},
            {"price_basis", "whose price, and of when", [](const D& d) { return nonempty(d.price_basis); }},
            {"nearest", "of one request alone, where no layout holds",
             [](const D& d) { return d.nearest.ratio > 0 ? &d.nearest : nullptr; },
             sizing_pressure_members()},
            {"layout", "null: the device cannot hold the limits", &D::layout, sized_layout_members()}};
}

/// Engines of one kind in a pair.
struct SizedPool {
    const std::string& hardware;
    std::int64_t engines;
    Parallelism way;
};

static Members<SizedPool> sized_pool_members() {
    return {{"hardware", "", [](auto& p) { return p.hardware; }},
            {"engines", "", &SizedPool::engines},
            {"parallelism", "of one engine", &SizedPool::way, engine_parallelism_members()}};
}

static Members<SizedPair> sized_pair_members() {
    using P = SizedPair;
    return {
        {"prompts", "engines that read prompts",
         [](const P& p) {
             return SizedPool{p.prompt_hardware, p.prompt_engines, p.prompt_way};
         },
         sized_pool_members()},
        {"answers", "engines that write answers",
         [](const P& p) {
             return SizedPool{p.answer_hardware, p.answer_engines, p.answer_way};
         },
         sized_pool_members()},
        {"precision", "format that runs", &P::precision},
        {"devices", "of both kinds", &P::devices},
        {"probability", "that all limits hold", &P::probability},
        {"within_budget", "", &P::within_budget},
        {"time_to_first_token_p99_s", "", [](const P& p) { return p.summary.time_to_first_s.p99; }},
        {"time_per_output_token_p99_s", "", [](const P& p) { return p.summary.time_per_token_s.p99; }},
        {"usd_per_hour", "null: without a price", [](const P& p) { return sized_or_null(p.usd_per_hour); }},
        {"facility_power_w", "at the facility's meter", &P::watts},
        {"transfer_bytes_per_s",
         "of caches over the network; null where neither device states one: as between two of the answers' "
         "kind",
         [](const P& p) { return sized_or_null(p.transfer_bytes_per_s); }},
        {"pressure", "under the load, by the estimate", &P::pressure, sizing_pressure_members()}};
}

static Members<SizingAnswer> sizing_request_members() {
    using A = SizingAnswer;
    std::vector<Member<SizingRequest>> own;
    for (const SizingField& field : sizing_fields())
        own.emplace_back(
            field.key, field.help,
            [&field](const SizingRequest& r) { return field_json(field.kind, field.print(r)); },
            Shaped{[&field] { return field_schema(field.kind, {}); }});
    return Members<A>{{"model", "", &A::model}, {"hardware", "", &A::hardware}}
        .with(question_members({FieldOf::any}).of<A>([](const A& a) {
            return Question{Workload{.model = {}, .sizes = a.request.serving.sizes}, a.open ? *a.open
                                                                                     : a.formats.empty()
                                                                                         ? Conditions{}
                                                                                         : a.formats.front()};
        }))
        .with({{"precision", "formats, each sized for itself; null: that of several which takes the fewest",
                [](const A& a) {
                    return a.open ? std::nullopt
                                  : std::optional(mapped(a.formats, [](const Conditions& format) {
                                        return precision_name(format.precision);
                                    }));
                }}})
        .with(server_members(kNotSized).of<A>([](const A& a) {
            ServingRequest load = a.request.serving;
            if (a.request.users > 0) // from whom these follow
                load.load.rate_per_s = 0, load.plan.concurrency = 0;
            return load;
        }))
        .with(Members<SizingRequest>(own).of<A>([](const A& a) {
            SizingRequest asked = a.request;
            if (a.usual_level)
                asked.level = {};
            return asked;
        }));
}

static Members<SizingAnswer> sizing_load_members() {
    using A = SizingAnswer;
    const auto load = [](const A& a) { return a.request.serving.load; };
    return {{"rate_per_s", "requests that arrive; null: users instead",
             [=](const A& a) { return positive(load(a).rate_per_s); }},
            {"in_flight", "requests, always; null: a rate instead",
             [](const A& a) {
                 const auto requests = a.request.serving.plan.concurrency;
                 return requests > 0 ? std::optional(requests) : std::nullopt;
             }},
            {"users", "who ask; null: not by users",
             [](const A& a) { return a.request.users > 0 ? std::optional(a.request.users) : std::nullopt; }},
            {"think_time_s", "from one question of a user to the next",
             [](const A& a) { return sized_or_null(a.request.think_s); }},
            {"prompt_tokens", "", [=](const A& a) { return load(a).prompt_tokens; }},
            {"output_tokens", "", [=](const A& a) { return load(a).output_tokens; }},
            {"requests", "simulated", [=](const A& a) { return load(a).count; }},
            {"seed", "", [=](const A& a) { return load(a).seed; }}};
}

static Members<SizingAnswer> sizing_limit_members() {
    using A = SizingAnswer;
    return {{"time_to_first_token_p99_s", "null: no limit",
             [](const A& a) { return positive(a.request.level.time_to_first_s); }},
            {"time_per_output_token_p99_s", "null: no limit",
             [](const A& a) { return positive(a.request.level.time_per_token_s); }},
            {"end_to_end_p99_s", "null: no limit",
             [](const A& a) { return positive(a.request.level.end_to_end_s); }},
            {"confidence", "probability with which the limits must hold",
             [](const A& a) { return a.request.confidence; }},
            {"usd_per_hour", "null: no budget",
             [](const A& a) { return positive(a.request.budget_usd_per_hour); }}};
}

AnswerDocument document_of(const SizingAnswer& answer, const PlainView&) {
    using A = SizingAnswer;
    return {answer,
            "size_service",
            "how many devices serve a load within limits",
            {{"request", "what was asked", std::identity{}, sizing_request_members()},
             {"model", "", &A::model},
             {"load", "", std::identity{}, sizing_load_members()},
             {"limits", "", std::identity{}, sizing_limit_members()},
             {"basis", "of all prices", [](const A& a) { return basis_text(a.basis); }},
             {"verdict", "the answer, and to what",
              [](const A& a) {
                  std::vector<std::string> lines = sizing_takeaway(a).lines;
                  lines.push_back(fmt::format("For {}.", load_text(a)));
                  return lines;
              },
              lines_members()},
             {"cheapest", "index into results; null: none holds, or none has a price", &A::cheapest},
             {"elsewhere", "index into results: cheaper, in a market that does not compare; null: none",
              &A::elsewhere},
             {"greenest", "index into results; null: none holds", &A::greenest},
             {"fewest", "index into results; null: none holds", &A::fewest},
             {"nearest", "index into results: the smallest miss where none holds", &A::nearest},
             {"remedy", "what makes it hold", [](const A& a) { return nonempty(a.remedy); }},
             {"unused_prices", "a sentence for each that was given and decides nothing", &A::unused_prices},
             {"pairs",
              "prompts on one kind of device, answers on another: those that hold, cheapest first; where "
              "they were asked for",
              &A::pairs, sized_pair_members()},
             {"unpaired", "pairs that could not be estimated, and why", &A::unpaired},
             {"results", "", &A::devices, sized_device_members()}}};
}

} // namespace archsim
