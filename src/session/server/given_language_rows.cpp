// Measured passes and waits of language models against their estimates: passes are priced as phases, waits of
// clients as the simulation of a server under their load.

#include "session/given.hpp"

#include "core/parse_number.hpp"
#include "session/generation/phases.hpp"
#include "session/server/server.hpp"
#include "session/usual_precision.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace archsim {

constexpr double kMeasuredMilli = 1e3;

static std::int64_t tokens_stated(const MeasuredRow& row, const char* column, const std::string& text) {
    if (const auto tokens = parse_whole(text))
        return *tokens;
    no_estimate(row, fmt::format("{} \"{}\" is not a whole number", column, text));
}
static std::int64_t prompt_of(const MeasuredRow& row) {
    return tokens_stated(row, "prompt_tokens", row.prompt_tokens);
}
static std::int64_t answer_of(const MeasuredRow& row) {
    return tokens_stated(row, "generated_tokens", row.generated_tokens);
}

/// A pass of a language model: over prompts, or one token of each sequence.
static GivenRow given_pass(const Session& session, const MeasuredRow& row, const std::string& hardware,
                           Conditions conditions) {
    const GenerationPhase phase = row.phase == "prefill"  ? GenerationPhase::prefill
                                  : row.phase == "decode" ? GenerationPhase::decode
                                                          : GenerationPhase::generate;
    conditions.devices = row.devices;
    const bool ends_with_prompt = phase == GenerationPhase::prefill && row.generated_tokens.empty();
    const Prompt prompt{.tokens = prompt_of(row), .generate = ends_with_prompt ? 0 : answer_of(row)};
    const Workload measured{.model = session.load(row.model), .prompt = prompt};
    conditions = settled(std::move(conditions), measured);
    const GenerationModel model(measured.model, Bindings{});
    const PhaseEstimate answer =
        estimate_phase(session, model, hardware, conditions, phase, row.batch.value_or(1), prompt);
    if (answer.status != Status::ok)
        no_estimate(row, answer.reason);
    const bool rate = row.metric == MeasuredMetric::throughput_per_s;
    return given_row(*answer.machine,
                     phase == GenerationPhase::prefill ? SpreadOf::prefill : SpreadOf::decode,
                     lane_shares(answer.step),
                     rate ? std::log(answer.tokens_per_s / row.value)
                          : std::log(row.value / (kMeasuredMilli * answer.latency_s)));
}

/// The mean wait of a server's clients, with so many requests in flight.
static GivenRow given_wait(const Session& session, const MeasuredRow& row, const std::string& hardware,
                           const Conditions& conditions) {
    const bool first = row.phase == "served_first_token";
    constexpr std::int64_t kEach = 10, kFewest = 100; // requests, as benchmarks send
    ServingRequest request;
    const std::int64_t clients = row.batch.value_or(1);
    request.load.prompt_tokens = static_cast<double>(prompt_of(row));
    request.load.output_tokens = static_cast<double>(answer_of(row));
    request.load.count = std::max(kFewest, kEach * clients);
    request.plan.concurrency = clients;
    // Clients that hold a number in flight count the burst at their start; those that send at a rate have
    // none, and neither have words of somebody who looked at a server at work.
    if (!row.client.empty() && !row.at_rate)
        request.plan.warm_up = 0;
    if (row.devices > 1) // else the fewest that hold the model: it ran
        request.parallelism = Parallelism{.tensor = static_cast<std::int64_t>(row.devices)};
    request.find_capacity = false;
    Server server(session, session.load(row.model), hardware, conditions, request);
    const ServingResult run = server.run(0, false);
    if (!run.ok)
        no_estimate(row, run.reason);
    const double seconds = first ? run.summary.time_to_first_s.mean : run.summary.time_per_token_s.mean;
    return given_row(server.prices().machine(), first ? SpreadOf::first_token : SpreadOf::later_token,
                     lanes_waited_for(first ? SpreadOf::first_token : SpreadOf::later_token),
                     std::log(row.value / (kMeasuredMilli * seconds)));
}

GivenRow given_language_row(const Session& session, const MeasuredRow& row, const std::string& hardware,
                            const Conditions& conditions) {
    return row.phase.starts_with("served") ? given_wait(session, row, hardware, conditions)
                                           : given_pass(session, row, hardware, conditions);
}

} // namespace archsim
