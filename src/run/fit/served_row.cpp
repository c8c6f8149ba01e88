#include "run/fit/served_row.hpp"

#include "archsim/run/serve.hpp"
#include "run/fit/served_protocol.hpp"

namespace archsim {

namespace {

constexpr std::string_view kFirstToken = "served_first_token", kPerToken = "served_per_token";

/// Mean of what clients wait for, over the requests after the warm-up.
double mean_wait(const ServingOutcome& outcome, std::int64_t warm_up, bool first_token) {
    double sum = 0, count = 0;
    for (std::size_t i = static_cast<std::size_t>(warm_up); i < outcome.requests.size(); ++i) {
        const ServedRequest& r = outcome.requests[i];
        if (r.refused || r.end_s < 0)
            continue;
        sum += first_token ? r.time_to_first() : r.time_per_token();
        ++count;
    }
    return count > 0 ? sum / count : 0;
}

} // namespace

bool is_served(const MeasuredRow& row) {
    return row.phase == kFirstToken || row.phase == kPerToken;
}

Prediction predict_served(const Session& session, const Model& model, const MeasuredRow& row,
                          const Conditions& conditions) {
    Prediction prediction;
    const std::int64_t clients = row.batch.value_or(1);
    const ServedProtocol protocol = protocol_of(row);
    ServingRequest request;
    request.load.prompt_tokens = static_cast<double>(protocol.prompt_tokens);
    request.load.output_tokens = static_cast<double>(protocol.output_tokens);
    request.load.shape = protocol.shortest < 1 ? LengthShape::uniform : LengthShape::constant;
    request.load.shortest = protocol.shortest;
    request.load.longest = 1;
    request.load.count = (protocol.counted + protocol.warm_up) * clients;
    request.load.distinct_prompts = protocol.distinct_prompts;
    request.plan.concurrency = clients;
    request.plan.engine.step_tokens = protocol.step_tokens;
    request.plan.engine.chunked = protocol.chunked;
    request.plan.engine.wait_tokens = protocol.wait_tokens;
    request.plan.engine.wait_steps = protocol.wait_steps;
    request.parallelism = Parallelism{.tensor = static_cast<std::int64_t>(row.devices)};
    request.find_capacity = false;
    const ServingResult result = run_serving(session, model, row.hardware, conditions, request);
    if (!result.ok) {
        prediction.status = "unsupported";
        prediction.reason = result.reason;
        return prediction;
    }
    constexpr double kMilliseconds = 1e3;
    const double value =
        kMilliseconds * mean_wait(result.outcome, protocol.warm_up * clients, row.phase == kFirstToken);
    prediction.predicted = value;
    // Waiting for the first token is waiting for prompts.
    const bool first = row.phase == kFirstToken;
    prediction.low = value * (first ? result.prompt_low : result.step_low);
    prediction.high = value * (first ? result.prompt_high : result.step_high);
    prediction.regime = result.step_bound;
    return prediction;
}

} // namespace archsim
