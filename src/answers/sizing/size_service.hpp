#pragma once
// A load and limits on waiting go in. Per device the fewest that hold the limits with the probability asked
// for come out, with how they share the model, what that costs, and which of them to take.

#include "archsim/compare/cost.hpp"
#include "archsim/run/serve.hpp"
#include "session/server/server.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace archsim {

struct SizingRequest {
    /// The load: `load.rate_per_s`, or `plan.concurrency` requests that are always in flight.
    /// `load.count` 0: as many requests as settle the percentiles (sized_requests()).
    ServingRequest serving = {.load = {.count = 0, .prompt_tokens = 2000, .output_tokens = 300}};
    ServiceLevel level;              ///< none: MLPerf's limits for a chat of people
    double confidence = 0.9;         ///< probability with which the limits must hold
    std::int64_t most_devices = 256; ///< of one service
    CostOptions cost;
    double budget_usd_per_hour = 0; ///< 0: none
    /// Users who each ask again after a time, in place of a rate: `load.rate_per_s` is so many in it. 0:
    /// none.
    std::int64_t users = 0;
    std::optional<double> think_s = {}; ///< absent: what it takes to read a mean answer (reading_time())
    bool pairs = false;                 ///< also prompts on one kind of device and answers on another
};

enum class SizingLimit : std::uint8_t {
    time_to_first,  ///< P99 time to first token
    time_per_token, ///< P99 time per output token
    end_to_end,     ///< P99 of a whole answer
    queue           ///< arrivals per second over what the engines complete
};
template <>
struct NamesOf<SizingLimit> {
    static constexpr std::array<std::string_view, 4> all = {"P99 TTFT", "P99 TPOT", "P99 E2E", "the queue"};
};

/// The limit that a layout is nearest to, or furthest beyond.
struct SizingPressure {
    SizingLimit limit = SizingLimit::queue;
    double value = 0;        ///< seconds; of the queue, arrivals over completions
    double ratio = 0;        ///< value over limit: at most 1 where all limits hold
    bool cache_full = false; ///< the requests in flight fill the cache
    bool batch_full = false; ///< an engine runs as many sequences as it may
};

/// Memory of one device, in bytes; the parts add up to the capacity.
struct SizedMemory {
    double capacity = 0, weights = 0;
    double cache = 0;  ///< of the keys and values in use at most
    double engine = 0; ///< activations, and what stack and driver keep for themselves
    double free = 0;   ///< blocks of the cache that nothing was in
};

/// The fewest of a device that hold the limits.
struct SizedLayout {
    ServingResult run;       ///< under the load: layout, percentiles with intervals, power
    double probability = 0;  ///< that all limits hold: see size_service()
    SizingPressure pressure; ///< under the load, by the estimate
    SizingPressure at_twice; ///< under twice the load
    SizedMemory memory;
    EngineLimits engine;                       ///< of each engine: those asked for, else the stack's
    PrecisionConfig formats;                   ///< that run
    std::optional<double> usd_per_hour;        ///< on the one basis; absent without a price
    double watts = 0;                          ///< at the facility's meter (PUE)
    double carbon_g_per_hour = 0;              ///< of that electricity
    std::optional<double> embodied_g_per_hour; ///< of making the devices, over their years; where published

    /// Devices of the service.
    std::int64_t devices() const { return run.parallelism.devices(); }
    /// Dollars a month of 730.5 hours.
    std::optional<double> usd_per_month() const;
    /// Grams of CO2e per million tokens that are written, by their share of the energy.
    double carbon_g_per_million_output() const;
    double carbon_g_per_million_prompt() const;
};

/// One device in one format.
struct SizedDevice {
    std::string hardware, runtime, precision;
    Doubt doubt;                       ///< why it may not be named first
    std::optional<SizedLayout> layout; ///< also where the limits hold with less than the confidence
    bool holds = false;                ///< with the confidence asked for
    bool within_budget = true;
    /// The effect of the user's own measurements on the estimates, whether or not it holds.
    GivenWaits given;
    std::string reason;      ///< one sentence where it does not hold, or has no price
    SizingPressure nearest;  ///< without a layout: of one request alone, best layout
    std::string price_basis; ///< "AWS p5.48xlarge / 8, 2025-06"; empty without a price
    std::string market;      ///< Price::market of a price per hour; empty: the user's own, or bought
};

/// Prompts on one kind of device, answers on another: the fewest engines of each that hold the limits.
struct SizedPair {
    std::string prompt_hardware, answer_hardware, precision;
    Parallelism prompt_way, answer_way; ///< of one engine
    std::int64_t prompt_engines = 1, answer_engines = 1;
    ServingSummary summary;  ///< under the load, by the estimate
    SizingPressure pressure; ///< likewise
    double probability = 0;  ///< that all limits hold; both kinds err alike
    std::optional<double> usd_per_hour;
    double watts = 0; ///< at the facility's meter
    bool within_budget = true;
    /// The rate of caches from one engine to the other over the network; absent where neither device states
    /// one: they are taken to cross as fast as between two devices of the answers' kind.
    std::optional<double> transfer_bytes_per_s;

    /// Devices of both kinds.
    std::int64_t devices() const {
        return prompt_engines * prompt_way.engine_devices() + answer_engines * answer_way.engine_devices();
    }
};

/// Every device in every format, and which to take.
struct SizingAnswer {
    std::string model, title; ///< its name, and what was asked for with the network that stands for it
    SizingRequest request;
    bool quantised = false; ///< the checkpoint states a format of its own, in which servers run it
    std::optional<Precision> stored_cache; ///< that of its cache, where it states one
    bool usual_level = false;              ///< no limit was asked for
    std::vector<std::string> hardware;     ///< as asked
    std::vector<Conditions> formats;       ///< as asked: each in one of them
    std::optional<Conditions> open;        ///< as asked, where that names no format
    std::vector<SizedDevice> devices;      ///< in the order asked, format by format
    std::optional<std::size_t> cheapest, greenest,
        fewest; ///< of those that hold within the budget and may lead
    /// The cheapest of other markets than that of `cheapest`, where it costs less: prices of one kind of
    /// provider are compared, that which rents most of the devices that hold.
    std::optional<std::size_t> elsewhere;
    /// Where none holds: the one with the smallest miss, and what would make it hold.
    std::optional<std::size_t> nearest;
    std::string remedy;
    std::vector<SizedPair> pairs;           ///< of those that hold, cheapest first; where they were asked for
    std::vector<std::string> unpaired;      ///< "A and B: why" of pairs that could not be estimated
    Tenure basis = Tenure::rent;            ///< of all prices
    std::vector<std::string> unused_prices; ///< a sentence for each that was given and decides nothing
};

/// Requests that a sizing simulates where the caller names no number: so many that the run is five times as
/// long as an answer within the limits, at least 1,000; of users eight each, at least 200.
std::int64_t sized_requests(const SizingRequest& request);

/// Seconds in which people read an answer of so many tokens: 238 words a minute of English prose (Brysbaert,
/// Journal of Memory and Language 109, 2019), four tokens to three words (OpenAI, tokenizer page). Worked:
/// 300 tokens in 57 s.
double reading_time(double tokens);

/// Sizes a service on devices, each in each of the formats of `conditions`; where one alone is given that
/// names no format, each device in that which serves with the fewest: the usual one, fp8, 4-bit weights.
///
/// A layout is tensor parallel in powers of two up to a node (pipeline stages over nodes where one does not
/// hold the model; for mixtures of experts also whole experts with attention data-parallel), times engines
/// beside each other. Each is judged by the simulation of serve_model, with the same arrivals for all. The
/// warm-up of users does not count (ServingPlan::warm_up): they start all at once, which no later ones do.
///
/// The probability that limits hold, in whole per cents, is that of steps which take no more than f times as
/// long as estimated, f being the largest factor at which the simulated percentiles still hold; f follows the
/// error model's Student t for times to later tokens, and what first tokens are less sure of comes on top, at
/// the same quantile. Worked: the 90 % interval ends at 1.4 x, the limits hold up to f = 1.25: t = 2.132
/// ln 1.25 / ln 1.4 = 1.414, probability 0.88. Where no layout holds with the confidence asked for, the
/// fewest devices are told of the likeliest that there is.
///
/// `progress` is told how many devices are done; from any thread. Throws UsageError for a request without a
/// load or a limit. Never throws for a device: what fails is its reason.
/// @code
/// const Session session;
/// SizingRequest request;
/// request.serving.load.rate_per_s = 4;
/// request.level.time_per_token_s = 0.03;
/// const std::vector<Conditions> formats(1);
/// const std::vector<std::string> hardware = {"H100"};
/// const SizingAnswer answer = size_service(session, session.load("qwen3-8b"), hardware, formats, request);
/// assert(answer.fewest && answer.devices[*answer.fewest].layout->devices() >= 1);
/// @endcode
SizingAnswer size_service(const Session& session, const Model& model, std::span<const std::string> hardware,
                          std::span<const Conditions> formats, const SizingRequest& request,
                          const std::function<void(std::size_t, std::size_t)>& progress = {});

} // namespace archsim
