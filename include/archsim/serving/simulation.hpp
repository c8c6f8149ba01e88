#pragma once
// A serving engine under load: requests arrive, wait, share steps with others, hold blocks of the cache, and
// leave. A discrete-event simulation over step times that the caller prices; nothing is drawn but arrivals,
// lengths and accepted drafts, from one seed, so that the same input gives the same bits.

#include "archsim/core/export.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace archsim {

/// One sequence in a step: tokens that are computed, and positions of it that the cache holds already.
struct StepRequest {
    std::int64_t new_tokens = 1;
    std::int64_t cached = 0;
};

/// Sequences that generate, counted by the length of their context: [0, 64), [64, 128), [128, 256), ... Sums
/// of whole numbers, so that the order of adding changes no bit.
struct ContextCounts {
    static constexpr std::int64_t kFirst = 64;
    static constexpr std::size_t kSpans = 20; ///< the last one ends at 2^25 positions, where others are, too
    std::array<std::int64_t, kSpans> sequences{}, positions{};

    /// The span that a context is in. Worked: 63 is in span 0, 64 and 127 in span 1, 128 in span 2.
    static std::size_t span_of(std::int64_t context) {
        return std::min<std::size_t>(std::bit_width(static_cast<std::uint64_t>(context / kFirst)),
                                     kSpans - 1);
    }
    /// The longest context in the span of another; worked: 127 for 100.
    static std::int64_t last_of(std::int64_t context) {
        const std::size_t span = span_of(context);
        return span + 1 < kSpans ? (kFirst << span) - 1 : std::numeric_limits<std::int64_t>::max();
    }
    /// Counts one more sequence, of so many positions.
    void add(std::int64_t context) {
        const std::size_t span = span_of(context);
        ++sequences[span];
        positions[span] += context;
    }
};

/// The requests and tokens of one step of an engine.
struct StepLoad {
    std::int64_t sequences = 0;     ///< that generate
    double context = 0;             ///< mean positions in their caches
    std::int64_t prompts = 0;       ///< that are processed
    std::int64_t prompt_tokens = 0; ///< of them, all together
    double prompt_keys = 0;         ///< mean positions that each of those attends to
    std::int64_t verified = 1;      ///< tokens of a generating sequence: 1, and the drafted ones
    /// The contexts one by one; where it has none, every sequence has the mean.
    ContextCounts contexts = {};
    /// Mean over prompt tokens: tokens that their prompt has in this step. 0: one prompt has all of them.
    double prompt_length = 0;

    /// The load of a step with these sequences. One that computes no more than `verified` tokens behind
    /// others generates, as attention kernels tell them apart (vLLM: reorder_batch_threshold); the rest are
    /// prompts or chunks of prompts. Worked: {1, 1000}, {1, 3000} and {512, 0} are two sequences of a mean
    /// context of 2000 and one prompt whose tokens attend to 256.5 positions in the mean.
    static StepLoad of(std::span<const StepRequest> requests, std::int64_t verified = 1) {
        StepLoad load;
        load.verified = verified;
        std::int64_t contexts = 0;
        double keys = 0, squares = 0;
        for (const StepRequest& r : requests) {
            if (r.new_tokens <= verified && r.cached > 0) {
                ++load.sequences;
                contexts += r.cached;
                load.contexts.add(r.cached);
                continue;
            }
            const auto tokens = static_cast<double>(r.new_tokens);
            ++load.prompts;
            load.prompt_tokens += r.new_tokens;
            keys += tokens * (static_cast<double>(r.cached) + (tokens + 1) / 2);
            squares += tokens * tokens;
        }
        if (load.sequences > 0)
            load.context = static_cast<double>(contexts) / static_cast<double>(load.sequences);
        if (load.prompt_tokens > 0) {
            load.prompt_keys = keys / static_cast<double>(load.prompt_tokens);
            load.prompt_length = squares / static_cast<double>(load.prompt_tokens);
        }
        return load;
    }
    /// So many steps later, of sequences that all generate one token a step and stay in their spans.
    void go_on(std::int64_t steps) {
        std::int64_t all = 0;
        for (std::size_t span = 0; span < ContextCounts::kSpans; ++span)
            all += contexts.positions[span] += steps * contexts.sequences[span];
        context = static_cast<double>(all) / static_cast<double>(sequences);
    }
};

/// The cost of a step, with what its prompts add to it.
struct StepCost {
    double seconds = 0, joules = 0;
    double prompt_seconds = 0, prompt_joules = 0; ///< more than the same step without prompts
};

/// Prices of steps, and bytes of a sequence's cache; made by whoever knows model and device.
class ARCHSIM_API StepPrices {
  public:
    virtual ~StepPrices() = default;
    /// Time and energy of one step with that load.
    virtual StepCost price(const StepLoad& load) = 0;
    /// The same of steps that follow each other: that of `load`, and those that it goes on to, which hold no
    /// prompts (StepLoad::go_on).
    virtual void price_on(StepLoad load, std::span<StepCost> costs);
    /// Cache of one sequence of that many positions, over the whole engine.
    virtual double cache_bytes(double positions) const = 0;
    /// The further time of a step where no step before it had as many prompt tokens: kernels that are
    /// compiled for each number of them.
    virtual StepCost new_length() const { return {}; }
};

/// When a request that waits is begun, by the room that the cache has.
enum class Admission : std::uint8_t {
    of_stack,     ///< as the stack's server does (servers.json); in a simulation: whole_answer
    whole_answer, ///< when its whole answer fits: nobody ever gives way (TensorRT-LLM, GUARANTEED_NO_EVICT)
    prompt, ///< when its prompt fits: the last one begun gives way to those that grow (vLLM, MAX_UTILIZATION)
    expected ///< when its answer fits beside what the others are expected to need (SGLang)
};

/// The need that Admission::expected takes sequences to have: a part of the rest of their answers, which
/// falls from `first` to `least` in `steps` steps, and is measured anew when somebody had to give way.
struct ExpectedAnswers {
    double first = 0.7, least = 0.098, steps = 600;
    std::int64_t longest = 4096;                             ///< tokens that are counted of a rest
    std::int64_t steps_ahead = 20;                           ///< that have room once somebody gave way
    bool operator==(const ExpectedAnswers&) const = default; ///< equal in all of it
};

/// One engine: the devices that run a step together.
struct EngineLimits {
    double cache_bytes = 0; ///< room for caches
    Admission admission = Admission::of_stack;
    ExpectedAnswers expected = {};
    /// Part of the memory that the engine is told to take, as its stack means it; 0: the stack's. Read by
    /// whoever fills in `cache_bytes`.
    double memory_share = 0;
    /// Parts of the engine that attend to requests of their own, beside each other in every step
    /// (data-parallel attention): `sequences` and `step_tokens` are those of one.
    std::int64_t groups = 1;
    std::int64_t sequences = 256;                                     ///< that run at once
    std::int64_t all_sequences() const { return groups * sequences; } ///< of all groups
    std::int64_t step_tokens = 8192; ///< of one step: longer prompts are cut into chunks
    bool chunked = true;             ///< false: a prompt is processed in one step, whole
    /// Prompts have steps of their own, in which no sequence generates (SGLang without --enable-mixed-chunk).
    bool prompts_apart = false;
    /// A step is put together while the one before it runs (vLLM's asynchronous scheduling, TensorRT-LLM's
    /// overlap scheduler): what arrives during a step is in the next but one. False: in the next.
    bool scheduled_ahead = true;
    /// The model is compiled as one graph, and captured for steps without prompts alone (vLLM: no
    /// `splitting_ops`, FULL_DECODE_ONLY); false: in pieces, captured for small steps with prompts too. Read
    /// by whoever prices the steps.
    bool whole_graph = false;
    /// Tokens of a step with prompts up to which captured graphs hold it (vLLM's max_cudagraph_capture_size);
    /// 0: the stack's (Parameter::captured_tokens). Read like `whole_graph`.
    std::int64_t captured_tokens = 0;
    /// While sequences generate, prompts wait until the step with them holds this part of `step_tokens`, but
    /// not more than `wait_steps` steps (TensorRT-LLM's batch_wait_max_tokens_ratio and
    /// batch_wait_timeout_iters).
    double wait_tokens = 0;
    /// The same until there are so many prompts, where as many sequences generate: one for each group of
    /// data-parallel attention (TensorRT-LLM's attention_dp_config, enable_balance and timeout_iters).
    std::int64_t wait_prompts = 0;
    std::int64_t wait_steps = 0; ///< 0: prompts never wait for others
    /// Among steps without prompts, one in so many is preceded by a look at what has arrived; steps with
    /// prompts and an engine without work always look (SGLang's scheduler_recv_interval).
    std::int64_t poll_steps = 1;
    std::int64_t block_tokens = 16; ///< positions that the cache is given out in
    double prefix_hit = 0;          ///< part of every prompt that is in the cache already
    /// Prompts that were computed stay in the cache while there is room, and whole blocks of them are not
    /// computed again (vLLM's automatic prefix caching). Only prompts that repeat notice: RequestPlan.
    bool prefix_cache = true;
    std::int64_t drafted = 0; ///< tokens that a drafter proposes per step and sequence
    double accepted = 0;      ///< probability that a drafted token is right
    /// Time and energy of one drafted token as part of a plain step. Below 0: that of the model's own
    /// drafting layer, filled in by whoever knows the model; free in a simulation.
    double draft_cost = -1;
    bool operator==(const EngineLimits&) const = default; ///< equal in all of it
};

struct ServedRequest;

/// Engines beside each other, each with a queue; requests go to the one with the fewest tokens ahead.
struct ServingPlan {
    EngineLimits engine;
    std::int64_t engines = 1;
    /// Engines that process prompts alone and hand the cache over; 0: every engine does both.
    std::int64_t prompt_engines = 0;
    std::optional<EngineLimits>
        prompt_engine;               ///< of those, where it is not `engine`: on devices of another kind
    double transfer_bytes_per_s = 0; ///< between the pools; 0: free
    double idle_watts = 0;           ///< of one engine between steps
    /// Before an engine sees a request: parsing, tokens, hand-over, one request after another, by a process
    /// for each engine.
    double request_s = 0;
    double prompt_token_s = 0; ///< and beside it for each token of its prompt, which is made out of text
    /// The time of one request. Worked: 8 ms and 1.3 us a token are 18.6 ms for a prompt of 8192 tokens.
    double before_engine_s(double prompt_tokens) const { return request_s + prompt_tokens * prompt_token_s; }
    /// For each token of an answer, which the same process makes text of and sends on. The engine does not
    /// wait for it, who asked does.
    double answer_token_s = 0;
    std::int64_t stream_interval = 1; ///< tokens that it sends on at once, after the first
    /// The time of so many tokens.
    double behind_engine_s(double tokens) const {
        return tokens * answer_token_s / static_cast<double>(stream_interval);
    }
    /// That process takes requests side by side (Dynamo's front end; vLLM's API server is one Python
    /// process).
    bool side_by_side = false;
    /// Times to first tokens over what the engine takes for them: of a server that somebody measured.
    double first_factor = 1;
    std::int64_t concurrency = 0; ///< requests in flight, a new one when one ends; 0: as they arrive
    /// Requests that come before those that are counted. Below 0: two for each in flight where a number is
    /// held, as benchmarks send them (genai-perf in aiconfigurator and Dynamo), but no more than half; none
    /// where requests arrive by themselves.
    std::int64_t warm_up = -1;
    /// The warm-up of so many requests.
    std::int64_t warm_up_of(std::int64_t requests) const {
        constexpr std::int64_t kEach = 2;
        return warm_up >= 0 ? std::min(warm_up, requests) : std::min(kEach * concurrency, requests / 2);
    }
    /// Called for every step that begins, with what it holds and costs; empty: nobody looks.
    std::function<void(double begins_s, std::span<const StepRequest> requests, const StepCost& cost)> on_step;
    /// Called for every request that ends, with its place among them; what is false ends the run there.
    /// Empty: all run to their ends.
    std::function<bool(std::size_t index, const ServedRequest& ended)> goes_on;
};

/// A request and what became of it; times from the start of the run.
struct ServedRequest {
    double arrival_s = 0;
    std::int64_t prompt_tokens = 1, output_tokens = 1;
    std::int64_t prompt = -1; ///< which of a set of prompts it has; -1: one of its own
    double first_token_s = -1, end_s = -1;
    std::int64_t emitted = 0;
    bool refused = false; ///< its cache is larger than an engine
    /// The prompt as blocks of `block_tokens`, the last one shorter: equal numbers are equal tokens behind
    /// equal blocks (Mooncake's hash_ids). Empty: `prompt` says all.
    std::vector<std::int64_t> blocks = {};
    std::int64_t block_tokens = 0;
    std::int64_t first_block_tokens = 0; ///< where the first one has another length; 0: it has that of all
    std::int64_t cached_tokens = 0;      ///< of the prompt, that the engine found in its cache

    /// Seconds from the arrival to the first token.
    double time_to_first() const { return first_token_s - arrival_s; }
    /// Seconds from the arrival to the last token.
    double end_to_end() const { return end_s - arrival_s; }
    /// Mean time between tokens after the first; 0 with one token.
    double time_per_token() const {
        return output_tokens > 1 ? (end_s - first_token_s) / static_cast<double>(output_tokens - 1) : 0;
    }
};

/// The events of a run.
struct ServingOutcome {
    std::vector<ServedRequest> requests;
    double duration_s = 0;    ///< first arrival to last token
    double busy_s = 0;        ///< engine seconds in steps
    double joules = 0;        ///< steps and idle time, all engines
    double prompt_joules = 0; ///< part of the steps' energy that prompts took
    double prompt_busy_s = 0;
    double in_system_s = 0;      ///< integral of the requests that have arrived and not ended
    double waiting_s = 0;        ///< integral of those that no engine has begun
    double cache_peak_bytes = 0; ///< given out at most by one engine
    double cache_wasted = 0;     ///< part of the given-out positions that hold nothing, mean over steps
    double batch = 0;            ///< mean generating sequences over steps that have some
    std::int64_t steps = 0, prompt_tokens = 0, output_tokens = 0, refused = 0;
    std::int64_t preempted = 0;         ///< times that a request gave way to others,
    std::int64_t recomputed_tokens = 0; ///< and positions that were computed again for it
    double engines = 1;
    double last_waited_s = 0; ///< when the last request that waited was begun, from the start
    std::int64_t emitted_till_then = 0;
    std::int64_t warm_up = 0; ///< requests at the start that are not counted
    bool closed = false;      ///< a number of requests was held in flight
    double ended_s = 0;       ///< last token, from the start
    bool given_up = false;    ///< ServingPlan::goes_on ended it: all this is of a part
};

/// Runs the requests, sorted by arrival, through the engines. `prompt_prices` prices the prompt engines where
/// there are some; null: as the others. Throws UsageError for a plan that no engine can follow.
ARCHSIM_API ServingOutcome simulate_serving(const ServingPlan& plan, StepPrices& prices,
                                            std::vector<ServedRequest> requests,
                                            StepPrices* prompt_prices = nullptr);

/// How lengths spread around their mean.
enum class LengthShape : std::uint8_t { constant, uniform, exponential };

/// How requests arrive at a rate.
enum class Arrivals : std::uint8_t {
    poisson,  ///< each by itself: gaps are exponential
    constant, ///< evenly
    bursty    ///< gaps follow a gamma distribution (RequestPlan::burstiness)
};

/// A request of a recorded load.
struct TraceRequest {
    double arrival_s = 0; ///< from the first one
    std::int64_t prompt_tokens = 1, output_tokens = 1;
    std::vector<std::int64_t> blocks = {}; ///< ServedRequest::blocks
};
/// A recorded load, in the order of arrival.
struct Trace {
    std::vector<TraceRequest> requests;
    std::int64_t block_tokens = 0; ///< of TraceRequest::blocks; 0: it has none
};

/// Requests to make.
struct RequestPlan {
    std::int64_t count = 1000;
    double rate_per_s = 0; ///< as `arrivals` says; 0: all at the start
    double prompt_tokens = 512, output_tokens = 128;
    std::int64_t distinct_prompts = 0; ///< a set of prompts that is gone through in turn; 0: none repeats
    /// Prompts begin with one of so many texts, in turn, each of so many tokens: what a service tells its
    /// model before it asks. 0: no two begin alike.
    std::int64_t system_prompts = 0, system_tokens = 0;
    LengthShape shape = LengthShape::constant; ///< exponential: at least one token
    /// Ends of the uniform shape, as parts of the lengths above; both lengths are drawn apart.
    double shortest = 0.5, longest = 1.5;
    std::vector<std::pair<std::int64_t, std::int64_t>> lengths; ///< (prompt, output) drawn from instead
    std::uint64_t seed = 1;
    Arrivals arrivals = Arrivals::poisson;
    /// Shape of the gamma distribution of bursty gaps, whose mean is that of the rate: below 1 requests come
    /// in bursts, 1 is Poisson, more is evener (`vllm bench serve --burstiness`).
    double burstiness = 1;
    /// A recorded load in place of all that; null: none. A rate stretches its time to so many requests per
    /// second, and `count` takes the first ones.
    std::shared_ptr<const Trace> trace = {};
};
/// The i-th request has the same lengths at any rate, and arrivals keep their proportions.
ARCHSIM_API std::vector<ServedRequest> make_requests(const RequestPlan& plan);

/// P50, P90, P99, P99.9 and mean.
struct Percentiles {
    double p50 = 0, p90 = 0, p99 = 0, p999 = 0, mean = 0;
};
/// How many of so many values are those that may lie above a limit which the ninety-ninth percentile holds.
/// Worked: 10 of 1000, none of 99.
std::int64_t beyond_p99(std::int64_t count);

/// A run in the words of its users.
struct ServingSummary {
    Percentiles time_to_first_s, time_per_token_s, end_to_end_s;
    double requests_per_s = 0, output_tokens_per_s = 0, prompt_tokens_per_s = 0;
    double utilization = 0; ///< busy part of the engines' time
    double mean_in_system = 0, mean_waiting = 0;
    double watts = 0; ///< mean, all engines
    double joules_per_million_output = 0, joules_per_million_prompt = 0;
    double cached_share = 0; ///< of the prompts' tokens, found in the cache
    /// Requests that waiting times and rates are of, and those before that warm the engine up.
    std::int64_t counted = 0, warm_up = 0;
};
/// Sums up the requests after the warm-up. Rates count the requests that end, with their tokens, while the
/// load is on: from the first request that is counted to the last arrival where a number is held in flight,
/// else over the whole run. Power, energy, use and queue are those of the whole run.
ARCHSIM_API ServingSummary summarize(const ServingOutcome& outcome);

/// Requests per second that the engines complete when the queue never empties: what `plan` stands in the long
/// run.
ARCHSIM_API double serving_capacity(const ServingPlan& plan, StepPrices& prices,
                                    const std::vector<ServedRequest>& requests,
                                    StepPrices* prompt_prices = nullptr);

} // namespace archsim
