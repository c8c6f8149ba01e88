// Clients that measure servers of language models, in their JSON: `vllm bench serve --save-result` and
// sglang.bench_serving (one object, or one a line: completed, duration, total_input_tokens,
// total_output_tokens, max_concurrency, mean_ttft_ms, mean_tpot_ms), genai-perf and aiperf
// (time_to_first_token, inter_token_latency, input_sequence_length, output_sequence_length, each with "avg";
// input_config). In: the text. Out: a row for the time to the first token and one for the time per token.

#include "measurements/readers.hpp"

#include "core/json_document.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace archsim::tool_output {

using Json = nlohmann::json;

static double number_at(const Json& object, std::string_view key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

static std::string text_at(const Json& object, std::string_view key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// The first value of that name, however deep.
static const Json* named(const Json& value, std::string_view key) {
    if (value.is_object())
        if (const auto found = value.find(key); found != value.end() && !found->is_null())
            return &*found;
    if (value.is_structured())
        for (const Json& part : value)
            if (const Json* inner = named(part, key))
                return inner;
    return nullptr;
}

/// Python writes numbers that JSON does not have: "request_rate": Infinity.
static Json parsed(std::string_view text) {
    std::string plain;
    plain.reserve(text.size());
    while (!text.empty()) {
        const std::size_t colon = std::min(text.find(": "), text.size());
        plain += text.substr(0, colon);
        text.remove_prefix(colon);
        for (const std::string_view word : {": Infinity", ": -Infinity", ": NaN", ": "})
            if (text.starts_with(word)) {
                plain += word == ": " ? word : ": null";
                text.remove_prefix(word.size());
                break;
            }
    }
    return Json::parse(bounded_json(plain, "the output of a benchmark"), nullptr, false);
}

struct Run {
    std::string client, model, runtime;
    double in_flight = 0, prompt_tokens = 0, output_tokens = 0, first_ms = 0, each_ms = 0;
    bool at_rate = false; ///< `in_flight` follows from a rate (Little's law), the client held no number
};

static void add_rows(ToolOutput& out, const Run& run) {
    if (!(run.in_flight > 0) || !(run.prompt_tokens > 0) || !(run.output_tokens > 0))
        return;
    constexpr double kMostInFlight = 1e6;
    for (const auto& [phase, value] :
         {std::pair{"served_first_token", run.first_ms}, std::pair{"served_per_token", run.each_ms}}) {
        if (!(value > 0))
            continue;
        MeasuredRow row = row_of(run.runtime, MeasuredMetric::latency_ms, value,
                                 run.at_rate ? "in flight: rate times mean time of a request" : "");
        row.at_rate = run.at_rate;
        row.scope = "end_to_end";
        row.phase = phase;
        row.model = run.model;
        row.client = run.client;
        row.batch = static_cast<int>(std::lround(std::clamp(run.in_flight, 1.0, kMostInFlight)));
        row.prompt_tokens = fmt::format("{:.0f}", std::max(1.0, run.prompt_tokens));
        row.generated_tokens = fmt::format("{:.0f}", std::max(1.0, run.output_tokens));
        out.rows.push_back(std::move(row));
    }
}

/// Requests in flight: the limit that the client held, else their rate times their time (Little's law).
static double in_flight_of(const Json& result, Run& run) {
    if (const double held = number_at(result, "max_concurrency"); held > 0)
        return held;
    const double lasts = number_at(result, "duration"), completed = number_at(result, "completed");
    if (lasts <= 0)
        return 0;
    run.at_rate = true;
    return completed / lasts * kMilli * (run.first_ms + run.each_ms * std::max(0.0, run.output_tokens - 1));
}

static Run run_of(const Json& result) {
    Run run;
    const std::string backend = text_at(result, "backend");
    run.model = text_at(result, "model_id");
    const bool sglang = run.model.empty();
    run.client = sglang ? "sglang.bench_serving" : "vllm bench serve";
    run.runtime = backend.starts_with("sglang")                                   ? "sglang"
                  : backend.starts_with("trt") || backend.starts_with("tensorrt") ? "trt-llm"
                  : backend.starts_with("vllm") || !sglang                        ? "vllm"
                                                                                  : "";
    if (const double completed = number_at(result, "completed"); completed > 0) { // else lengths are unknown
        run.prompt_tokens = number_at(result, "total_input_tokens") / completed;
        run.output_tokens = number_at(result, "total_output_tokens") / completed;
    }
    run.first_ms = number_at(result, "mean_ttft_ms");
    run.each_ms = number_at(result, "mean_tpot_ms");
    run.in_flight = in_flight_of(result, run);
    return run;
}

static double average_of(const Json& result, std::string_view metric) {
    const auto found = result.find(metric);
    return found != result.end() && found->is_object() ? number_at(*found, "avg") : 0;
}

/// Milliseconds, whatever unit it has.
static double milliseconds_of(const Json& result, std::string_view metric) {
    const auto found = result.find(metric);
    if (found == result.end() || !found->is_object())
        return 0;
    const std::string unit = text_at(*found, "unit");
    constexpr double kSecond = 1e3, kMicrosecond = 1e-3, kNanosecond = 1e-6;
    return number_at(*found, "avg") * (unit == "s" || unit == "sec" ? kSecond
                                       : unit == "us"               ? kMicrosecond
                                       : unit == "ns"               ? kNanosecond
                                                                    : 1);
}

bool is_serving_bench(std::string_view text) {
    return text.find("\"mean_ttft_ms\"") != std::string_view::npos &&
           text.find("\"total_output_tokens\"") != std::string_view::npos;
}

ToolOutput read_serving_bench(std::string_view text) {
    ToolOutput out;
    const auto add = [&](const Json& result) {
        if (!result.is_object() || !result.contains("mean_ttft_ms"))
            return;
        const Run run = run_of(result);
        out.tool = run.client;
        add_rows(out, run);
    };
    if (const Json whole = parsed(text); whole.is_object())
        add(whole);
    else if (whole.is_array())
        for (const Json& result : whole)
            add(result);
    else
        each_line(text, [&](std::string_view line) { add(parsed(line)); });
    if (out.tool.empty())
        out.tool = "vllm bench serve";
    return out;
}

bool is_genai_perf(std::string_view text) {
    return text.find("\"time_to_first_token\"") != std::string_view::npos &&
           text.find("\"output_sequence_length\"") != std::string_view::npos;
}

ToolOutput read_genai_perf(std::string_view text) {
    ToolOutput out;
    const Json result = parsed(text);
    out.tool = text.find("aiperf") != std::string_view::npos ? "aiperf" : "genai-perf";
    if (!result.is_object())
        return out;
    Run run;
    run.client = out.tool;
    const auto config = result.find("input_config");
    const Json& asked = config != result.end() ? *config : result;
    for (const char* key : {"model_names", "model", "model_name"})
        if (const Json* name = run.model.empty() ? named(asked, key) : nullptr) {
            const Json& first = name->is_array() && !name->empty() ? name->front() : *name;
            if (first.is_string())
                run.model = first.get<std::string>();
        }
    if (const Json* held = named(asked, "concurrency"); held != nullptr && held->is_number())
        run.in_flight = held->get<double>();
    run.prompt_tokens = average_of(result, "input_sequence_length");
    run.output_tokens = average_of(result, "output_sequence_length");
    run.first_ms = milliseconds_of(result, "time_to_first_token");
    run.each_ms = milliseconds_of(result, "inter_token_latency");
    if (!(run.in_flight > 0)) {
        run.in_flight =
            average_of(result, "request_throughput") * kMilli * milliseconds_of(result, "request_latency");
        run.at_rate = true;
    }
    add_rows(out, run);
    return out;
}

} // namespace archsim::tool_output
