#include "fit/rows/served_row.hpp"

#include "archsim/run/serve.hpp"
#include "core/data_dir.hpp"
#include "fit/rows/mean_waits.hpp"
#include "fit/rows/served_protocol.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace archsim {

namespace {

constexpr std::string_view kFirstToken = "served_first_token", kPerToken = "served_per_token";

/// Mean of what clients wait for, in milliseconds, with its bounds.
struct Wait {
    double mean_ms = 0, low_ms = 0, high_ms = 0;
};

/// What the rows of one measurement are predicted from; a problem where it cannot be run.
struct Waits {
    std::string problem;
    Wait first, per_token;
    std::string regime;
};

Waits serve(const Session& session, const Model& model, const MeasuredRow& row,
            const Conditions& conditions) {
    const std::int64_t clients = row.batch.value_or(1);
    const ServedProtocol protocol = protocol_of(row, data_table("server_benchmarks.json"));
    // Far beyond every published run; a row may state any number, and each request is kept.
    constexpr std::int64_t kMostClients = 1 << 14, kMostTokens = 1 << 20;
    if (clients > kMostClients || protocol.output_tokens > kMostTokens)
        return {.problem =
                    fmt::format("a run of more than {} clients or {} tokens per answer is not simulated",
                                kMostClients, kMostTokens),
                .first = {},
                .per_token = {},
                .regime = {}};
    ServingRequest request = request_of(protocol, clients);
    request.parallelism = Parallelism{.tensor = static_cast<std::int64_t>(row.devices)};
    const ServingResult result = run_serving(session, model, row.hardware, conditions, request);
    Waits waits;
    if (!result.ok) {
        waits.problem = result.reason;
        return waits;
    }
    const auto wait = [](double mean, double low, double high) {
        return Wait{mean, mean * low, mean * high};
    };
    const MeanWaits mean = mean_waits(result.outcome, protocol, clients);
    // Waiting for the first token is waiting for prompts.
    waits.first = wait(mean.first_ms, result.prompt_low, result.prompt_high);
    waits.per_token = wait(mean.token_ms, result.step_low, result.step_high);
    waits.regime = result.step_bound;
    return waits;
}

/// Rows of one key are read from one run.
RowKey key_of(MeasuredRow row) {
    row.phase.clear();
    return row_key(row);
}

Prediction prediction_of(const Waits& waits, bool first_token) {
    Prediction prediction;
    if (!waits.problem.empty()) {
        prediction.status = "unsupported";
        prediction.reason = waits.problem;
        return prediction;
    }
    const Wait& wait = first_token ? waits.first : waits.per_token;
    prediction.predicted = wait.mean_ms;
    prediction.low = wait.low_ms;
    prediction.high = wait.high_ms;
    prediction.regime = waits.regime;
    return prediction;
}

} // namespace

ServingRequest request_of(const ServedProtocol& protocol, std::int64_t clients) {
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
    request.plan.engine.whole_graph = protocol.whole_graph;
    request.plan.engine.captured_tokens = protocol.captured_tokens;
    request.plan.side_by_side = protocol.side_by_side;
    request.plan.engine.scheduled_ahead = protocol.scheduled_ahead;
    request.plan.engine.wait_tokens = protocol.wait_tokens;
    request.plan.engine.wait_steps = protocol.wait_steps;
    request.plan.engine.poll_steps = protocol.poll_steps;
    request.find_capacity = false;
    return request;
}

struct ServedRuns::Run {
    std::mutex mutex;
    std::optional<Waits> waits;
};

ServedRuns::ServedRuns() = default;
ServedRuns::~ServedRuns() = default;

bool is_served(const MeasuredRow& row) {
    return row.phase == kFirstToken || row.phase == kPerToken;
}

Prediction ServedRuns::predict(const Session& session, const Model& model, const MeasuredRow& row,
                               const Conditions& conditions) {
    const bool first_token = row.phase == kFirstToken;
    if (conditions.overrides != nullptr || conditions.changes != MachineChanges{})
        return prediction_of(serve(session, model, row, conditions), first_token);
    std::shared_ptr<Run> run;
    {
        const std::lock_guard lock(mutex_);
        std::shared_ptr<Run>& known = runs_[key_of(row)];
        if (known == nullptr)
            known = std::make_shared<Run>();
        run = known;
    }
    const std::lock_guard lock(run->mutex);
    if (!run->waits)
        run->waits = serve(session, model, row, conditions);
    return prediction_of(*run->waits, first_token);
}

} // namespace archsim
