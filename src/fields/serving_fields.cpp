#include "fields/serving_fields.hpp"

#include "archsim/core/finding.hpp"
#include "archsim/hardware/database.hpp"
#include "core/parse_number.hpp"
#include "fields/field_places.hpp"
#include "result/cost_terms.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace archsim {

constexpr const char* kEngineGroup = "Engine";
constexpr const char* kLoadGroup = "Load";
constexpr const char* kCarbonGroup = "Energy and carbon";
constexpr std::int64_t kMostServedRequests = 1 << 24, kMostServedSequences = 1 << 20,
                       kMostServedTokens = 1 << 24;

template <class T>
static std::vector<std::string> unusual(const T& value, const T& usual) {
    return value == usual ? std::vector<std::string>{} : std::vector<std::string>{fmt::format("{}", value)};
}

/// The number of a new request, where it is one that can be asked for.
template <class At, class T>
static auto usual_number(At at, T low) {
    return [at, low](const ServingRequest&) {
        ServingRequest usual;
        return static_cast<T>(at(usual)) < low ? std::vector<std::string>{}
                                               : std::vector{fmt::format("{}", at(usual))};
    };
}

/// The number of a request, where it is another than a new one has.
template <class At>
static auto other_number(At at) {
    return [at, usual = ServingRequest{}](const ServingRequest& r) { return unusual(at(r), at(usual)); };
}

/// A whole number within bounds. `at` gives its place in a request.
template <class At>
static ServingField whole_field(ServingField row, At at, std::int64_t low, std::int64_t high) {
    row.kind = FieldKind::whole;
    if (row.value.empty())
        row.value = "N";
    row.print = other_number(at);
    row.parse = into_whole(at, low, high);
    row.usual = usual_number(at, low);
    return row;
}

template <class At>
static ServingField real_field(ServingField row, At at, double low, double high,
                               std::optional<double> (*read)(std::string_view) = parse_real) {
    row.kind = FieldKind::real;
    row.print = other_number(at);
    row.parse = into(at, [=, what = row.help](const std::string& text, const std::string& name) {
        const std::optional<double> value = read(text);
        if (!value)
            throw UsageError(
                fmt::format("{}: expected a number such as 0.5 or 2k ({}), got \"{}\"", name, what, text));
        if (!(*value >= low && *value <= high))
            throw UsageError(fmt::format("{}: {} is not between {} and {}", name, text, low, high));
        return *value;
    });
    row.usual = usual_number(at, low);
    return row;
}

template <class At>
static ServingField choice_field(ServingField row, At at) {
    const std::vector<std::string> names = row.choices;
    row.print = [at, names](const ServingRequest& r) {
        const auto index = static_cast<std::size_t>(at(r));
        return index == 0 ? std::vector<std::string>{} : std::vector{names[index]};
    };
    row.parse = into(at, [names](const std::string& text, const std::string&) { // Field::put() has looked
        return std::ranges::find(names, text) - names.begin();
    });
    row.usual = [first = names.front()](const ServingRequest&) { return std::vector{first}; };
    return row;
}

static void give_range(const std::string& text, const std::string& name, ServingRequest& request) {
    const std::size_t comma = text.find(',');
    const auto low = comma == std::string::npos ? std::nullopt : parse_real(text.substr(0, comma)),
               high = comma == std::string::npos ? std::nullopt : parse_real(text.substr(comma + 1));
    if (!low || !high || !(*low > 0) || *high < *low)
        throw UsageError(
            fmt::format("{}: \"{}\" is no pair of parts in ascending order, such as 0.8,1", name, text));
    request.load.shortest = *low;
    request.load.longest = *high;
}

/// "500ms", "0.5s"; 0 stays 0.
static void give_request_time(const std::string& text, const std::string& name, ServingRequest& request) {
    request.plan.request_s = text == "0" ? 0 : seconds_of(text, name, true); // all of it
    request.plan.prompt_token_s = 0;
}

static std::vector<std::string> print_prompt_engines(const ServingRequest& request) {
    const auto& way = request.prompt_parallelism;
    if (!way)
        return {};
    return {fmt::format("tp={},pp={},dp={},ep={}{}{}", way->tensor, way->pipeline, way->data, way->experts,
                        request.prompt_hardware.empty() ? "" : "@", request.prompt_hardware)};
}

/// "tp=4,dp=3", or "tp=4,dp=3@H200".
static void give_prompt_engines(const std::string& text, const std::string& name, ServingRequest& request) {
    const std::size_t at = std::min(text.find('@'), text.size());
    try {
        request.prompt_parallelism = parse_parallelism(text.substr(0, at));
    } catch (const UsageError&) {
        throw UsageError(fmt::format(
            "{}: expected a layout and, where it is another, a device (tp=4,dp=3@H200), got \"{}\"", name,
            text));
    }
    request.prompt_hardware = at < text.size() ? text.substr(at + 1) : "";
}

static std::vector<ServingField> load_fields() {
    const auto load = [](auto member) { return member_at(&ServingRequest::load, member); };
    constexpr double kLeastRate = 1e-9, kMostRate = 1e9, kMostLength = 1e9;
    return {
        real_field({.key = "rate",
                    .aliases = {"rate_per_s"},
                    .help = "requests per second (or 600/min), arriving as --arrivals says",
                    .value = "RATE"},
                   load(&RequestPlan::rate_per_s), kLeastRate, kMostRate, parse_rate),
        choice_field({.key = "arrivals",
                      .help = "how requests arrive at a rate: poisson (each by itself), constant (evenly), "
                              "bursty (gaps of a gamma distribution, --burstiness)",
                      .fallback = "poisson",
                      .group = kLoadGroup,
                      .choices = {"poisson", "constant", "bursty"}},
                     load(&RequestPlan::arrivals)),
        real_field({.key = "burstiness",
                    .help = "shape of the gaps of --arrivals bursty: below 1 in bursts, 1 is Poisson",
                    .value = "SHAPE",
                    .group = kLoadGroup},
                   load(&RequestPlan::burstiness), 1e-3, 1e6),
        whole_field({.key = "concurrency",
                     .help = "requests in flight, one of each user who never pauses, instead of a rate"},
                    member_at(&ServingRequest::plan, &ServingPlan::concurrency), 1, kMostServedSequences),
        whole_field({.key = "requests", .help = "requests to simulate", .fallback = "1000"},
                    load(&RequestPlan::count), 1, kMostServedRequests),
        whole_field({.key = "warm_up",
                     .help = "requests at the start that are not counted",
                     .fallback = "two for each of --concurrency, at most half; none at a rate",
                     .group = kLoadGroup},
                    member_at(&ServingRequest::plan, &ServingPlan::warm_up), 0, kMostServedRequests),
        real_field(
            {.key = "prompt_tokens", .help = "mean length of prompts", .value = "N", .fallback = "512"},
            load(&RequestPlan::prompt_tokens), 1, kMostLength),
        real_field({.key = "output_tokens",
                    .aliases = {"generate_tokens", "--generate-tokens"},
                    .help = "mean length of answers",
                    .value = "N",
                    .fallback = "128"},
                   load(&RequestPlan::output_tokens), 1, kMostLength),
        choice_field({.key = "shape",
                      .help = "spread of lengths: constant, uniform (over --length-range), exponential",
                      .fallback = "constant",
                      .group = kLoadGroup,
                      .choices = {"constant", "uniform", "exponential"}},
                     load(&RequestPlan::shape)),
        {.key = "length_range",
         .help = "ends of the uniform spread as parts of the lengths: 0.8,1",
         .value = "LOW,HIGH",
         .fallback = "0.5,1.5",
         .group = kLoadGroup,
         .print =
             [](const ServingRequest& r) {
                 const RequestPlan usual;
                 return r.load.shortest == usual.shortest && r.load.longest == usual.longest
                            ? std::vector<std::string>{}
                            : std::vector{fmt::format("{},{}", r.load.shortest, r.load.longest)};
             },
         .parse = give_range},
        {.key = "lengths",
         .kind = FieldKind::file,
         .help = "CSV file with prompt_tokens and output_tokens to draw from",
         .value = "FILE",
         .group = kLoadGroup,
         .print = [](const ServingRequest&) { return std::vector<std::string>{}; },
         .parse = [](const std::string& text, const std::string&,
                     ServingRequest& r) { r.load.lengths = read_request_lengths(text); }},
        {.key = "trace",
         .kind = FieldKind::file,
         .help = "recorded requests of Mooncake, Azure or BurstGPT; --rate scales them",
         .value = "FILE",
         .print = [](const ServingRequest&) { return std::vector<std::string>{}; },
         .parse = [](const std::string& text, const std::string&,
                     ServingRequest& r) { r.load.trace = std::make_shared<const Trace>(read_trace(text)); }},
        whole_field({.key = "distinct_prompts",
                     .help = "prompts that repeat in turn",
                     .fallback = "0, none repeats",
                     .group = kEngineGroup},
                    load(&RequestPlan::distinct_prompts), 0, kMostServedRequests),
        whole_field({.key = "system_prompts",
                     .help = "texts that prompts begin with, in turn (with --system-tokens)",
                     .fallback = "0, no two begin alike",
                     .group = kLoadGroup},
                    load(&RequestPlan::system_prompts), 0, kMostServedRequests),
        whole_field({.key = "system_tokens",
                     .help = "length of each of --system-prompts, part of the prompt",
                     .group = kLoadGroup},
                    load(&RequestPlan::system_tokens), 0, kMostServedTokens),
        whole_field({.key = "seed",
                     .help = "of arrivals, lengths and accepted drafts",
                     .fallback = "1",
                     .group = kEngineGroup},
                    load(&RequestPlan::seed), 0, INT64_MAX),
    };
}

static std::vector<ServingField> engine_fields() {
    const auto engine = [](auto member) {
        return member_at(&ServingRequest::plan, &ServingPlan::engine, member);
    };
    return {
        whole_field({.key = "reserved_context",
                     .aliases = {"context"},
                     .flag = "--context",
                     .help = "positions reserved for every sequence, as engines without a paged cache do",
                     .fallback = "blocks of --block-tokens, as they fill"},
                    engine(&EngineLimits::block_tokens), 1, kMostServedTokens),
        choice_field({.key = "admission",
                      .help = "when a request that waits is begun: whole-answer (it fits; nobody gives way), "
                              "prompt (it fits; the last one begun gives way and is computed again), "
                              "expected (it fits beside what the others are expected to need)",
                      .fallback = "the stack's: vLLM prompt, SGLang expected, others whole-answer",
                      .choices = {"stack", "whole-answer", "prompt", "expected"}},
                     engine(&EngineLimits::admission)),
        real_field(
            {.key = "memory_share",
             .aliases = {"gpu_memory_utilization", "--gpu-memory-utilization", "mem_fraction_static",
                         "--mem-fraction-static", "free_gpu_memory_fraction", "--free-gpu-memory-fraction"},
             .help = "part of a device's memory for the engine: vLLM's gpu_memory_utilization (weights, "
                     "activations, cache), SGLang's mem_fraction_static (weights, cache), "
                     "TensorRT-LLM's free_gpu_memory_fraction (cache, of what is left)",
             .value = "SHARE",
             .fallback = "the stack's"},
            engine(&EngineLimits::memory_share), 0.01, 1),
        whole_field({.key = "max_sequences",
                     .help = "sequences that run at once",
                     .fallback = "the stack's: vLLM 1024 on GPUs of 70 GiB and more, others 256"},
                    engine(&EngineLimits::sequences), 1, kMostServedSequences),
        whole_field({.key = "step_tokens",
                     .help = "tokens of one step; longer prompts are cut into chunks",
                     .fallback = "the stack's: vLLM 8192 on GPUs of 70 GiB and more, else 2048; others 8192"},
                    engine(&EngineLimits::step_tokens), 1, kMostServedTokens),
        whole_field({.key = "block_tokens", .help = "positions per block of the cache", .fallback = "16"},
                    engine(&EngineLimits::block_tokens), 1, 1 << 16),
        truth_field<ServingRequest>({.key = "whole_prompts", .help = "process every prompt in one step"},
                                    engine(&EngineLimits::chunked), true),
        truth_field<ServingRequest>(
            {.key = "whole_graph",
             .help = "the model is compiled as one graph and captured for steps without prompts alone "
                     "(vLLM with FULL_DECODE_ONLY and no splitting_ops)"},
            engine(&EngineLimits::whole_graph)),
        whole_field({.key = "captured_tokens",
                     .help = "largest step with prompts that runs from captured graphs (vLLM's "
                             "--max-cudagraph-capture-size)",
                     .fallback = "the stack's: vLLM 512"},
                    engine(&EngineLimits::captured_tokens), 0, kMostServedTokens),
        real_field({.key = "wait_tokens",
                    .help = "part of --step-tokens that prompts wait for while others generate (with "
                            "--wait-steps)",
                    .value = "SHARE"},
                   engine(&EngineLimits::wait_tokens), 0, 1),
        whole_field({.key = "wait_prompts",
                     .help = "prompts that prompts wait for while others generate (with --wait-steps)"},
                    engine(&EngineLimits::wait_prompts), 0, 1 << 16),
        whole_field({.key = "wait_steps", .help = "steps that prompts wait at most for others"},
                    engine(&EngineLimits::wait_steps), 0, 1 << 16),
        whole_field({.key = "poll_steps",
                     .help = "steps without prompts after which the engine looks for new requests (SGLang's "
                             "--scheduler-recv-interval)"},
                    engine(&EngineLimits::poll_steps), 1, 1 << 16),
        {.key = "request_time",
         .help = "of the server for each request beside its steps: parsing, tokens, hand-over; 20ms",
         .value = "TIME",
         .fallback = "the stack's",
         .print =
             [](const ServingRequest& r) {
                 return r.plan.request_s < 0 ? std::vector<std::string>{}
                                             : std::vector{fmt::format("{}s", r.plan.request_s)};
             },
         .parse = give_request_time},
        truth_field<ServingRequest>(
            {.key = "side_by_side",
             .help = "requests do not wait for each other for --request-time (Dynamo's front end)"},
            member_at(&ServingRequest::plan, &ServingPlan::side_by_side)),
        whole_field({.key = "stream_interval",
                     .help = "tokens of an answer that the server sends on at once (vLLM's, SGLang's and "
                             "TensorRT-LLM's stream interval)",
                     .fallback = "1"},
                    member_at(&ServingRequest::plan, &ServingPlan::stream_interval), 1, 1 << 16),
        real_field({.key = "prefix_hit",
                    .help = "part of every prompt that is in the cache already",
                    .value = "SHARE"},
                   engine(&EngineLimits::prefix_hit), 0, 1),
        truth_field<ServingRequest>({.key = "no_prefix_cache", .help = "compute prompts again that repeat"},
                                    engine(&EngineLimits::prefix_cache), true),
        whole_field(
            {.key = "drafted", .help = "tokens that a drafter proposes per step (speculative decoding)"},
            engine(&EngineLimits::drafted), 0, 1 << 10),
        real_field({.key = "accepted", .help = "probability that a drafted token is right", .value = "SHARE"},
                   engine(&EngineLimits::accepted), 0, 1),
        real_field({.key = "draft_cost",
                    .help = "a drafted token's time as part of a plain step's",
                    .value = "SHARE",
                    .fallback = "that of one layer and the output head"},
                   engine(&EngineLimits::draft_cost), 0, 1e6),
        whole_field(
            {.key = "prompt_devices", .help = "devices for prompts alone; their caches are handed over"},
            member_at(&ServingRequest::prompt_devices), 0, 1 << 12),
        {.key = "prompt_parallel",
         .help = "how engines for prompts alone share the model, how many, and their device where it is "
                 "another: tp=4,dp=3@H200",
         .value = "WAY[@DEVICE]",
         .fallback = "as the others",
         .print = print_prompt_engines,
         .parse = give_prompt_engines},
    };
}

static std::vector<ServingField> carbon_fields() {
    constexpr double kMostPue = 10;
    return {
        real_field({.key = "pue",
                    .help = "facility over device power, of the run's carbon",
                    .value = "RATIO",
                    .fallback = "1.58 in data centres, else 1"},
                   member_at(&ServingRequest::pue), 1, kMostPue),
        {.key = "grid_intensity",
         .help = "g CO2e per kWh, or a country (FRA, Germany, USA, World)",
         .value = "GRAMS",
         .fallback = "480",
         .print =
             [](const ServingRequest& r) {
                 return unusual(r.grid_intensity, ServingRequest{}.grid_intensity);
             },
         .parse = [](const std::string& text, const std::string&,
                     ServingRequest& r) { r.grid_intensity = parse_grid_intensity(text); }},
    };
}

static std::vector<std::string> nothing(const ServingRequest&) {
    return {};
}

/// The table, of which `usual` leaves out what another field of the request excludes or what says it again.
static FieldTable<ServingRequest> all_serving_fields() {
    FieldTable<ServingRequest> rows;
    const auto add = [&](std::vector<ServingField> more, const char* group) {
        for (ServingField& row : more) {
            if (row.group.empty())
                row.group = group;
            rows.push_back(std::move(row));
        }
    };
    add(load_fields(), "");
    for (ServingField& row : rows) // a recording, and lengths from a file, have their own
        if (row.usual)
            row.usual = [usual = row.usual](const ServingRequest& r) {
                return r.load.trace || !r.load.lengths.empty() ? nothing(r) : usual(r);
            };
    add(engine_fields(), kEngineGroup);
    add(carbon_fields(), kCarbonGroup);
    for (ServingField& row : rows)
        if (row.key == "arrivals")
            row.usual = [usual = row.usual](const ServingRequest& r) {
                return r.load.rate_per_s > 0 ? usual(r) : nothing(r);
            };
        else if (row.key == "burstiness" || row.key == "prompt_devices" || row.key == "reserved_context")
            row.usual = nothing;
    return with_flags(std::move(rows));
}

/// One block for every sequence, as engines without a paged cache keep it.
static void check_context(const ServingRequest& request, const std::string& name) {
    const RequestPlan& load = request.load;
    const std::int64_t context = request.plan.engine.block_tokens;
    double longest =
        (load.prompt_tokens + load.output_tokens) * (load.shape == LengthShape::uniform ? load.longest : 1.0);
    for (const auto& [prompt, output] : load.lengths)
        longest = std::max(longest, static_cast<double>(prompt + output));
    if (static_cast<double>(context) < longest)
        throw UsageError(fmt::format("{}: {} positions do not hold a prompt and its answer of up to {:.0f}",
                                     name, context, longest));
}

const FieldTable<ServingRequest>& serving_fields() {
    static const FieldTable<ServingRequest> all = all_serving_fields();
    return all;
}

const ServingField* find_serving_field(std::string_view name) {
    return find_field(serving_fields(), name);
}

const FieldTable<ServiceLevel>& level_fields() {
    const auto row = [](const char* key, const char* help, double ServiceLevel::*at) {
        return Field<ServiceLevel>{
            .key = key,
            .help = help,
            .value = "TIME",
            .print =
                [at](const ServiceLevel& level) {
                    return level.*at > 0 ? std::vector{fmt::format("{}s", level.*at)}
                                         : std::vector<std::string>{};
                },
            .parse = into(member_at(at), [](const std::string& text, const std::string& name) {
                return seconds_of(text, name);
            })};
    };
    static const FieldTable<ServiceLevel> all = with_flags<ServiceLevel>(
        {row("ttft_p99", "limit on the P99 time to first token, 2s", &ServiceLevel::time_to_first_s),
         row("tpot_p99", "limit on the P99 time per output token, 30ms", &ServiceLevel::time_per_token_s),
         row("e2e_p99", "limit on the P99 time of a whole answer, 10s", &ServiceLevel::end_to_end_s)});
    return all;
}

ServingTexts::ServingTexts(Spelling spelling) : FieldTexts(serving_fields(), "a server", spelling) {}

std::vector<std::string> ServingTexts::of_servers_alone() const {
    std::vector<std::string> names;
    for (const ServingField* field : given())
        if (find_question_field(field->key) == nullptr &&
            std::ranges::none_of(field->aliases, find_question_field))
            names.push_back(field->spelled(spelling()));
    return names;
}

ServingRequest ServingTexts::request(ServingRequest usual) const {
    put_into(usual);
    check(usual);
    return usual;
}

void ServingTexts::check(const ServingRequest& request) const {
    const RequestPlan& load = request.load;
    const EngineLimits& engine = request.plan.engine;
    const auto only_with = [&](const char* key, bool allowed, const std::string& with) {
        if (has(key) && !allowed)
            throw UsageError(fmt::format("{}: only with {}", named(key), with));
    };
    const auto exclude = [&](std::string_view one, std::string_view other) {
        if (has(one) && has(other))
            throw UsageError(fmt::format("{} excludes {}", named(one), named(other)));
    };
    only_with("length_range", load.shape == LengthShape::uniform, named("shape") + " uniform");
    only_with("burstiness", load.arrivals == Arrivals::bursty, named("arrivals") + " bursty");
    only_with("arrivals", load.rate_per_s > 0, named("rate"));
    if (engine.drafted == 0 && (engine.accepted > 0 || engine.draft_cost > 0))
        throw UsageError(
            fmt::format("{} and {}: only with {}", named("accepted"), named("draft_cost"), named("drafted")));
    if ((load.system_prompts > 0) != (load.system_tokens > 0))
        throw UsageError(
            fmt::format("{} and {}: give both or neither", named("system_prompts"), named("system_tokens")));
    if ((engine.wait_tokens > 0 || engine.wait_prompts > 0) != (engine.wait_steps > 0))
        throw UsageError(fmt::format("{} or {}, and {}: give both or neither", named("wait_tokens"),
                                     named("wait_prompts"), named("wait_steps")));
    exclude("rate", "concurrency");
    exclude("prompt_devices", "prompt_parallel");
    if (differ("reserved_context", "block_tokens"))
        exclude("reserved_context", "block_tokens");
    exclude("lengths", "shape");
    exclude("lengths", "length_range");
    for (const char* key : {"shape", "length_range", "lengths", "prompt_tokens", "output_tokens", "arrivals",
                            "distinct_prompts", "system_prompts", "system_tokens"})
        exclude("trace", key);
    if (has("reserved_context"))
        check_context(request, named("reserved_context"));
}

} // namespace archsim
