// Recorded loads: Mooncake's JSON lines, Azure's and BurstGPT's CSV files.

#include "archsim/core/finding.hpp"
#include "archsim/run/serve.hpp"
#include "core/csv_reader.hpp"
#include "core/json_document.hpp"
#include "core/parse_number.hpp"
#include "core/text_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <optional>
#include <sstream>

namespace archsim {

// Mooncake (FAST 2025), its traces: blocks of 512 tokens, times in milliseconds.
constexpr std::int64_t kMooncakeBlock = 512, kMostTraceTokens = 1 << 24;
constexpr double kTraceTick = 1e-3, kLongestTrace = 1e10;

[[noreturn]] static void bad_line(const std::string& file, std::size_t line, const std::string& what) {
    throw InputError(fmt::format("{}: line {}: {}", file, line, what));
}

static std::int64_t trace_tokens(const nlohmann::json& object, const char* key, const std::string& file,
                                 std::size_t line) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number_integer() || found->get<std::int64_t>() < 0 ||
        found->get<std::int64_t>() > kMostTraceTokens)
        bad_line(file, line, fmt::format("\"{}\" is no number of tokens", key));
    return found->get<std::int64_t>();
}

static TraceRequest mooncake_request(const std::string& text, const std::string& file, std::size_t line) {
    const auto object = nlohmann::json::parse(bounded_json(text, file), nullptr, false);
    if (!object.is_object())
        bad_line(file, line, "expected a JSON object");
    TraceRequest request;
    const auto time = object.find("timestamp");
    if (time == object.end() || !time->is_number() ||
        !(std::abs(time->get<double>()) < kLongestTrace / kTraceTick))
        bad_line(file, line, "\"timestamp\" is no time in milliseconds");
    request.arrival_s = kTraceTick * time->get<double>();
    request.prompt_tokens = trace_tokens(object, "input_length", file, line);
    request.output_tokens = trace_tokens(object, "output_length", file, line);
    if (const auto blocks = object.find("hash_ids"); blocks != object.end()) {
        if (!blocks->is_array())
            bad_line(file, line, "\"hash_ids\" is no list");
        for (const auto& block : *blocks) {
            if (!block.is_number_integer())
                bad_line(file, line, "\"hash_ids\" has an entry that is no whole number");
            request.blocks.push_back(block.get<std::int64_t>());
        }
    }
    return request;
}

/// "2023-11-16 18:17:03.9799600", with a "T" between or a zone behind: seconds since 1970.
static std::optional<double> seconds_of_date(const std::string& text) {
    std::array<int, 5> numbers{};
    constexpr std::array<std::size_t, 5> kStarts = {0, 5, 8, 11, 14};
    constexpr std::size_t kSeconds = 17;
    if (text.size() < kSeconds + 2)
        return std::nullopt;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto number = plain_number<int>(std::string_view(text).substr(kStarts[i], i == 0 ? 4 : 2));
        if (!number)
            return std::nullopt;
        numbers[i] = *number;
    }
    std::size_t end = kSeconds;
    while (end < text.size() &&
           (std::isdigit(static_cast<unsigned char>(text[end])) != 0 || text[end] == '.'))
        ++end;
    const auto seconds = parse_real(text.substr(kSeconds, end - kSeconds));
    const std::chrono::year_month_day date{std::chrono::year(numbers[0]),
                                           std::chrono::month(static_cast<unsigned>(numbers[1])),
                                           std::chrono::day(static_cast<unsigned>(numbers[2]))};
    if (!seconds || !date.ok())
        return std::nullopt;
    constexpr double kDay = 86400, kHour = 3600, kMinute = 60;
    return kDay * static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count()) +
           kHour * numbers[3] + kMinute * numbers[4] + *seconds;
}

struct TraceColumns {
    const char *time, *prompt, *output;
};
constexpr std::array kCsvTraces = {
    TraceColumns{"TIMESTAMP", "ContextTokens", "GeneratedTokens"},   // Azure LLM inference traces
    TraceColumns{"Timestamp", "Request tokens", "Response tokens"}}; // BurstGPT, arXiv:2401.17644

static std::vector<TraceRequest> read_csv_trace(const std::string& text, const std::string& file) {
    const std::vector<CsvRecord> records = parse_csv(text);
    const std::vector<std::string> head = records.empty() ? std::vector<std::string>{} : records[0].fields;
    const auto column = [&](const char* name) {
        return static_cast<std::size_t>(std::ranges::find(head, name) - head.begin());
    };
    const auto known = std::ranges::find_if(kCsvTraces, [&](const TraceColumns& columns) {
        return column(columns.time) < head.size() && column(columns.prompt) < head.size() &&
               column(columns.output) < head.size();
    });
    if (known == kCsvTraces.end())
        bad_line(
            file, 1,
            "no trace that is known: expected JSON lines with timestamp, input_length and output_length, or "
            "CSV with TIMESTAMP, ContextTokens and GeneratedTokens, or with Timestamp, Request tokens and "
            "Response tokens");
    const std::size_t time = column(known->time), prompt = column(known->prompt),
                      output = column(known->output);
    std::vector<TraceRequest> requests;
    for (std::size_t i = 1; i < records.size(); ++i) {
        const CsvRecord& record = records[i];
        const auto field = [&](std::size_t at) {
            return at < record.fields.size() ? record.fields[at] : std::string();
        };
        const auto tokens = [&](std::size_t at) {
            const auto value = parse_real(field(at)); // "374.0" in some copies
            if (!value || *value < 0 || *value > static_cast<double>(kMostTraceTokens))
                bad_line(file, record.line, fmt::format("\"{}\" is no number of tokens", field(at)));
            return static_cast<std::int64_t>(*value);
        };
        const std::string when = field(time);
        auto seconds = parse_real(when);
        if (!seconds)
            seconds = seconds_of_date(when);
        if (!seconds || !(std::abs(*seconds) < kLongestTrace))
            bad_line(file, record.line, fmt::format("\"{}\" is no time", when));
        requests.push_back(
            {.arrival_s = *seconds, .prompt_tokens = tokens(prompt), .output_tokens = tokens(output)});
    }
    return requests;
}

Trace read_trace(const std::string& file) {
    const std::string text = read_text_file(file);
    Trace trace;
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first != std::string::npos && text[first] == '{') {
        std::istringstream lines(text);
        std::size_t number = 0;
        for (std::string line; std::getline(lines, line);) {
            ++number;
            if (line.find_first_not_of(" \t\r") != std::string::npos)
                trace.requests.push_back(mooncake_request(line, file, number));
        }
        trace.block_tokens = kMooncakeBlock;
    } else {
        trace.requests = read_csv_trace(text, file);
    }
    std::erase_if(trace.requests,
                  [](const TraceRequest& r) { return r.prompt_tokens < 1 || r.output_tokens < 1; });
    if (trace.requests.empty())
        throw InputError(fmt::format("{}: no request in it", file));
    std::ranges::stable_sort(trace.requests, {}, &TraceRequest::arrival_s);
    const double start = trace.requests.front().arrival_s;
    for (TraceRequest& r : trace.requests)
        r.arrival_s -= start;
    return trace;
}

} // namespace archsim
