#include "fit/rows/served_row.hpp"

#include "archsim/core/finding.hpp"
#include "core/data_dir.hpp"
#include "core/json_document.hpp"
#include "core/parse_number.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>
#include <vector>

namespace archsim {

/// "1000", or "variable:177" of a data set with that mean, whose lengths lie around it.
static std::int64_t mean_tokens(std::string_view text, ServedProtocol& p) {
    constexpr std::string_view kDataSet = "variable:";
    if (text.starts_with(kDataSet)) {
        text.remove_prefix(kDataSet.size());
        p.shortest = 0;
        p.longest = 2;
    }
    return take_number<std::int64_t>(text).value_or(0);
}

/// The number under `key`; `otherwise` where there is none.
static double number_at(const JsonValue& object, std::string_view key, double otherwise) {
    const JsonValue* value = object.find(key);
    return value != nullptr && value->is_number() ? value->number() : otherwise;
}

static std::int64_t whole_at(const JsonValue& object, std::string_view key, std::int64_t otherwise) {
    return static_cast<std::int64_t>(number_at(object, key, static_cast<double>(otherwise)));
}

/// Whether a list of texts holds `text`; one that is absent holds any.
static bool lists(const JsonValue& object, std::string_view key, std::string_view text) {
    const JsonValue* list = object.find(key);
    return list == nullptr ||
           std::any_of(list->items().begin(), list->items().end(),
                       [&](const JsonValue& one) { return one.is_text() && one.text() == text; });
}

/// Whether a measurement that names no client is of this benchmark.
static bool is_known_by(const JsonValue& benchmark, std::int64_t prompt, std::int64_t output,
                        const MeasuredRow& row) {
    const JsonValue* lengths = benchmark.find("lengths");
    const auto has = [&](const JsonValue& pair) {
        const auto both = pair.items();
        return both.size() == 2 && both[0].is_number() && both[1].is_number() &&
               both[0].number() == static_cast<double>(prompt) &&
               both[1].number() == static_cast<double>(output);
    };
    return (lengths == nullptr || std::any_of(lengths->items().begin(), lengths->items().end(), has)) &&
           lists(benchmark, "runtimes", row.runtime);
}

static bool starts(const JsonValue& server, const ServedProtocol& p, const MeasuredRow& row) {
    const JsonValue* equal = server.find("equal_lengths");
    const std::string_view runtime = server.text_at("runtime");
    return (runtime.empty() || runtime == row.runtime) && lists(server, "models", row.model) &&
           lists(server, "hardware", row.hardware) && lists(server, "precisions", row.precision) &&
           static_cast<double>(row.batch.value_or(1)) >= number_at(server, "in_flight_at_least", 0) &&
           (equal == nullptr || equal->boolean() == (p.prompt_tokens == p.output_tokens)) &&
           row.devices < number_at(server, "devices_below", row.devices + 1);
}

static void fill(const JsonValue& benchmark, const MeasuredRow& row, ServedProtocol& p) {
    p.name = benchmark.text_at("client");
    if (p.longest <= 1)
        p.shortest = number_at(benchmark, "shortest", p.shortest);
    const JsonValue* defaults = benchmark.find("defaults");
    p.defaults = defaults != nullptr && defaults->boolean();
    p.warm_up = whole_at(benchmark, "warm_up", p.warm_up);
    p.counted = whole_at(benchmark, "counted", p.counted);
    p.distinct_prompts = whole_at(benchmark, "distinct_prompts", p.distinct_prompts);
    const JsonValue* servers = benchmark.find("servers");
    for (const JsonValue& server : servers != nullptr ? servers->items() : std::span<const JsonValue>{}) {
        if (!starts(server, p, row))
            continue;
        p.counted = whole_at(server, "counted", p.counted);
        p.step_tokens = whole_at(server, "step_tokens", p.step_tokens);
        if (const std::int64_t prompts = whole_at(server, "step_prompts", 0); prompts > 0)
            p.step_tokens = p.prompt_tokens * prompts;
        if (const std::int64_t beside = whole_at(server, "tokens_beside_prompt", 0); beside > 0)
            p.step_tokens = p.prompt_tokens + beside;
        p.chunked = server.text_at("prompts") != "whole";
        p.whole_graph = server.text_at("compiled") == "whole_graph";
        p.captured_tokens = whole_at(server, "captured_tokens", p.captured_tokens);
        p.side_by_side = server.text_at("requests") == "side_by_side";
        p.kv_cache = parse_precision(server.text_at("kv_cache"));
        p.wait_tokens = number_at(server, "wait_tokens", p.wait_tokens);
        p.wait_steps = whole_at(server, "wait_steps", p.wait_steps);
        p.balance_steps = whole_at(server, "balance_steps", p.balance_steps);
        p.poll_steps = whole_at(server, "poll_steps", p.poll_steps);
        p.compile_s = number_at(server, "compile_s", p.compile_s);
        if (const JsonValue* kept = server.find("prefix_cache"))
            p.prefix_cache = kept->boolean();
        return;
    }
}

constexpr std::string_view kFirstToken = "served_first_token", kPerToken = "served_per_token";

/// The waits of clients in the run of one measurement, in milliseconds.
struct Waits {
    Prediction first, per_token;
};

static Waits not_run(const std::string& why) {
    const Prediction none{.status = "unsupported", .reason = why};
    return {none, none};
}

static Waits serve(const Session& session, const Model& model, const MeasuredRow& row,
                   const Conditions& conditions) {
    const std::int64_t clients = row.batch.value_or(1);
    const ServedProtocol protocol = protocol_of(row, data_table("server_benchmarks.json"));
    // Far beyond every published run; a row may state any number, and each request is kept.
    constexpr std::int64_t kMostClients = 1 << 14, kMostTokens = 1 << 20;
    if (clients > kMostClients || protocol.output_tokens > kMostTokens)
        return not_run(fmt::format("a run of more than {} clients or {} tokens per answer is not simulated",
                                   kMostClients, kMostTokens));
    ServingRequest request = request_of(protocol, clients);
    request.parallelism = Parallelism{.tensor = static_cast<std::int64_t>(row.devices)};
    Conditions started = conditions;
    started.kv_cache = protocol.kv_cache ? protocol.kv_cache : conditions.kv_cache;
    const ServingResult result = run_serving(session, model, row.hardware, started, request);
    if (!result.ok)
        return not_run(result.reason);
    const auto wait = [&](double mean, double low, double high) {
        return Prediction{
            .predicted = mean, .low = mean * low, .high = mean * high, .regime = result.step_bound};
    };
    const MeanWaits mean = mean_waits(result.outcome, protocol, clients);
    // Waiting for the first token is waiting for prompts.
    return {wait(mean.first_ms, result.prompt_low, result.prompt_high),
            wait(mean.token_ms, result.step_low, result.step_high)};
}

/// Rows of one key are read from one run.
static RowKey key_of(MeasuredRow row) {
    row.phase.clear();
    return row_key(row);
}

ServedProtocol protocol_of(const MeasuredRow& row, const std::filesystem::path& file) {
    ServedProtocol p;
    p.prompt_tokens = mean_tokens(row.prompt_tokens, p);
    p.output_tokens = mean_tokens(row.generated_tokens, p);
    p.name = row.client;
    p.step_tokens = 0;
    std::vector<Finding> findings;
    const auto document = parse_document(file.string(), findings);
    const JsonValue* benchmarks = document ? document->root.find("benchmarks") : nullptr;
    if (!document)
        throw InputError(findings.front());
    if (benchmarks == nullptr || !benchmarks->is_array())
        throw InputError(fmt::format("{}: no list of \"benchmarks\"", file.string()));
    for (const JsonValue& benchmark : benchmarks->items())
        if (row.client.empty() ? is_known_by(benchmark, p.prompt_tokens, p.output_tokens, row)
                               : benchmark.text_at("client") == row.client) {
            fill(benchmark, row, p);
            break;
        }
    return p;
}

MeanWaits mean_waits(const ServingOutcome& outcome, const ServedProtocol& protocol, std::int64_t in_flight) {
    constexpr double kMilliseconds = 1e3;
    const auto warm_up = static_cast<std::size_t>(protocol.warm_up * in_flight);
    MeanWaits sum;
    double count = 0;
    for (std::size_t i = warm_up; i < outcome.requests.size(); ++i) {
        const ServedRequest& r = outcome.requests[i];
        if (r.refused || r.end_s < 0)
            continue;
        const double compiles = r.arrival_s <= 0 ? protocol.compile_s : 0;
        sum.first_ms += kMilliseconds * (r.time_to_first() + compiles);
        sum.token_ms += kMilliseconds * r.time_per_token();
        ++count;
    }
    return count > 0 ? MeanWaits{sum.first_ms / count, sum.token_ms / count} : MeanWaits{};
}

ServingRequest request_of(const ServedProtocol& protocol, std::int64_t clients) {
    ServingRequest request;
    request.load.prompt_tokens = static_cast<double>(protocol.prompt_tokens);
    request.load.output_tokens = static_cast<double>(protocol.output_tokens);
    request.load.shape = protocol.shortest < 1 ? LengthShape::uniform : LengthShape::constant;
    request.load.shortest = protocol.shortest;
    request.load.longest = protocol.longest;
    request.load.count = (protocol.counted + protocol.warm_up) * clients;
    request.load.distinct_prompts = protocol.distinct_prompts;
    request.plan.concurrency = clients;
    request.plan.engine.step_tokens = protocol.step_tokens;
    request.plan.engine.chunked = protocol.chunked;
    request.plan.engine.whole_graph = protocol.whole_graph;
    request.plan.engine.captured_tokens = protocol.captured_tokens;
    request.plan.side_by_side = protocol.side_by_side;
    request.plan.engine.wait_tokens = protocol.wait_tokens;
    request.plan.engine.wait_steps = protocol.wait_steps;
    request.plan.engine.poll_steps = protocol.poll_steps;
    request.plan.engine.prefix_cache = protocol.prefix_cache;
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
    const auto waited = row.phase == kFirstToken ? &Waits::first : &Waits::per_token;
    if (conditions.overrides != nullptr || conditions.changes != MachineChanges{})
        return serve(session, model, row, conditions).*waited;
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
    return *run->waits.*waited;
}

} // namespace archsim
