#include "fit/rows/served_protocol.hpp"

#include "archsim/core/finding.hpp"
#include "core/json_document.hpp"
#include "core/parse_number.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>
#include <vector>

namespace archsim {

namespace {

std::int64_t tokens_in(std::string_view text) {
    return take_number<std::int64_t>(text).value_or(0);
}

/// The number under `key`; `otherwise` where there is none.
double number_at(const JsonValue& object, std::string_view key, double otherwise) {
    const JsonValue* value = object.find(key);
    return value != nullptr && value->is_number() ? value->number() : otherwise;
}

std::int64_t whole_at(const JsonValue& object, std::string_view key, std::int64_t otherwise) {
    return static_cast<std::int64_t>(number_at(object, key, static_cast<double>(otherwise)));
}

/// Whether a list of texts holds `text`; one that is absent holds any.
bool lists(const JsonValue& object, std::string_view key, std::string_view text) {
    const JsonValue* list = object.find(key);
    return list == nullptr ||
           std::any_of(list->items().begin(), list->items().end(),
                       [&](const JsonValue& one) { return one.is_text() && one.text() == text; });
}

/// Whether a measurement that names no client is of this benchmark.
bool is_known_by(const JsonValue& benchmark, std::int64_t prompt, std::int64_t output,
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

/// Whether the benchmark starts its server for the row so.
bool starts(const JsonValue& server, const ServedProtocol& p, const MeasuredRow& row) {
    const JsonValue* equal = server.find("equal_lengths");
    const std::string_view runtime = server.text_at("runtime");
    return (runtime.empty() || runtime == row.runtime) && lists(server, "models", row.model) &&
           lists(server, "hardware", row.hardware) && lists(server, "precisions", row.precision) &&
           static_cast<double>(row.batch.value_or(1)) >= number_at(server, "in_flight_at_least", 0) &&
           (equal == nullptr || equal->boolean() == (p.prompt_tokens == p.output_tokens)) &&
           row.devices < number_at(server, "devices_below", row.devices + 1);
}

void fill(const JsonValue& benchmark, const MeasuredRow& row, ServedProtocol& p) {
    p.name = benchmark.text_at("client");
    p.shortest = number_at(benchmark, "shortest", p.shortest);
    p.warm_up = whole_at(benchmark, "warm_up", p.warm_up);
    p.counted = whole_at(benchmark, "counted", p.counted);
    p.distinct_prompts = whole_at(benchmark, "distinct_prompts", p.distinct_prompts);
    const JsonValue* servers = benchmark.find("servers");
    for (const JsonValue& server : servers != nullptr ? servers->items() : std::span<const JsonValue>{}) {
        if (!starts(server, p, row))
            continue;
        p.step_tokens = whole_at(server, "step_tokens", p.step_tokens);
        if (const std::int64_t beside = whole_at(server, "tokens_beside_prompt", 0); beside > 0)
            p.step_tokens = p.prompt_tokens + beside;
        p.chunked = server.text_at("prompts") != "whole";
        p.whole_graph = server.text_at("compiled") == "whole_graph";
        p.captured_tokens = whole_at(server, "captured_tokens", p.captured_tokens);
        p.side_by_side = server.text_at("requests") == "side_by_side";
        p.scheduled_ahead = server.text_at("scheduling") != "in_turn";
        p.wait_tokens = number_at(server, "wait_tokens", p.wait_tokens);
        p.wait_steps = whole_at(server, "wait_steps", p.wait_steps);
        p.balance_steps = whole_at(server, "balance_steps", p.balance_steps);
        p.poll_steps = whole_at(server, "poll_steps", p.poll_steps);
        p.compile_s = number_at(server, "compile_s", p.compile_s);
        return;
    }
}

} // namespace

ServedProtocol protocol_of(const MeasuredRow& row, const std::filesystem::path& file) {
    ServedProtocol p;
    p.prompt_tokens = tokens_in(row.prompt_tokens);
    p.output_tokens = tokens_in(row.generated_tokens);
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

} // namespace archsim
