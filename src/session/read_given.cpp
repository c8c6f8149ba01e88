// Measurements of the user's own in words.

#include "archsim/core/finding.hpp"
#include "core/parse_number.hpp"
#include "core/text_file.hpp"
#include "session/generation/language_model.hpp"
#include "session/given.hpp"
#include "session/named_format.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <utility>

namespace archsim {

static std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    while (!text.empty()) {
        const auto end = text.find(' ');
        if (end != 0)
            words.push_back(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return words;
}

struct GivenUnit {
    std::string_view name;
    MeasuredMetric metric;
    double factor; ///< to the row's unit
};
constexpr std::array kUnits = {GivenUnit{"ms", MeasuredMetric::latency_ms, 1},
                               GivenUnit{"us", MeasuredMetric::latency_ms, 1e-3},
                               GivenUnit{"s", MeasuredMetric::latency_ms, 1e3},
                               GivenUnit{"/s", MeasuredMetric::throughput_per_s, 1},
                               GivenUnit{"fps", MeasuredMetric::throughput_per_s, 1},
                               GivenUnit{"tok/s", MeasuredMetric::throughput_per_s, 1}};

// Lengths of llama-bench, which most people have at hand: pp512, and tg128 from an empty cache.
constexpr std::string_view kUsualPrompt = "512", kUsualAnswer = "128", kEmptyCache = "1";

/// The times of a language model, as rows call them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kPhases = {
    {{"prefill", "prefill"},
     {"decode", "decode"},
     {"ttft", "served_first_token"},
     {"tpot", "served_per_token"}}};

/// The number of "b8" behind "b"; nothing where there is none, or one below 1.
static std::optional<int> number_behind(std::string_view word, std::string_view prefix) {
    if (!word.starts_with(prefix))
        return std::nullopt;
    const auto number = plain_number<int>(word.substr(prefix.size()));
    return number && *number > 0 ? number : std::nullopt;
}

/// Takes a word of a language model; false where it is none.
static bool take_language_word(std::string_view word, MeasuredRow& row) {
    const auto phase = std::ranges::find_if(kPhases, [&](const auto& known) { return known.first == word; });
    if (phase != kPhases.end())
        row.phase = phase->second;
    else if (const auto prompt = number_behind(word, "in"))
        row.prompt_tokens = std::to_string(*prompt);
    else if (const auto answer = number_behind(word, "out"))
        row.generated_tokens = std::to_string(*answer);
    else if (const auto clients = number_behind(word, "c"))
        row.batch = *clients;
    else if (const auto devices = number_behind(word, "tp="))
        row.devices = *devices;
    else
        return false;
    return true;
}

static bool set_value(std::string_view text, MeasuredRow& row) {
    row.value = take_number<double>(text).value_or(0);
    if (!(row.value > 0))
        return false;
    while (text.starts_with(' '))
        text.remove_prefix(1);
    for (const GivenUnit& known : kUnits)
        if (known.name == text) {
            row.metric = known.metric;
            row.value *= known.factor;
            return true;
        }
    return false;
}

MeasuredRow parse_given(std::string_view text, const Session& session, std::string_view device,
                        std::string_view flag, std::string_view stack) {
    const UsageError form(
        fmt::format("{}: \"{}\" is not NETWORK [FORMAT] [bN] [prefill|decode|ttft|tpot] [inN] [outN] [cN] "
                    "[tp=N] [on DEVICE] [under STACK] = VALUE with ms, us, s or /s, like \"resnet50 int8 on "
                    "Hailo-8 = 3.1ms\" or \"qwen3-8b int4 decode on RTX-4090 = 120/s\"",
                    flag, text));
    const auto equals = text.rfind('=');
    if (equals == std::string_view::npos)
        throw form;
    MeasuredRow row;
    std::string_view value = text.substr(equals + 1);
    while (value.starts_with(' '))
        value.remove_prefix(1);
    while (value.ends_with(' '))
        value.remove_suffix(1);
    const auto words = words_of(text.substr(0, equals));
    if (words.empty() || !set_value(value, row))
        throw form;
    row.model = words.front();
    row.batch = 1;
    row.hardware = device;
    for (std::size_t i = 1; i < words.size(); ++i) {
        const std::string_view word = words[i];
        const std::string in_type = fmt::format("{}-{}", row.model, word);
        if ((word == "on" || word == "under") && i + 1 < words.size()) {
            (word == "on" ? row.hardware : row.runtime) = words[++i];
        } else if (const auto batch = number_behind(word, "b")) {
            row.batch = batch;
        } else if (take_language_word(word, row)) {
            continue;
        } else if (!gguf_type_in(in_type).empty() && gguf_type_in(row.model).empty()) {
            row.model = in_type; // a type of files is a part of their name, and says the stack
        } else if (PrecisionConfig::parse(std::string(word))) {
            row.precision = word;
        } else {
            throw form;
        }
    }
    const bool language = !row.phase.empty();
    if (!language && (row.devices > 1 || !row.prompt_tokens.empty() || !row.generated_tokens.empty()))
        throw form; // what was timed?
    if (row.precision.empty() && !language)
        row.precision = "fp32";
    if (language && row.prompt_tokens.empty())
        row.prompt_tokens = row.phase == "decode" ? kEmptyCache : kUsualPrompt;
    if (language && row.generated_tokens.empty())
        row.generated_tokens = kUsualAnswer;
    if (row.phase.starts_with("served") && row.metric != MeasuredMetric::latency_ms)
        throw form; // clients wait
    if (row.hardware.empty())
        throw UsageError(
            fmt::format("{}: \"{}\" does not say on which device: add \"on DEVICE\"", flag, text));
    const auto selected = session.hardware().device(row.hardware);
    if (const auto at = row.hardware.find('@'); at != std::string::npos) {
        row.power_mode = row.hardware.substr(at + 1);
        row.hardware.resize(at);
    }
    if (row.runtime.empty())
        row.runtime = !language        ? selected.device->default_runtime
                      : !stack.empty() ? std::string(stack)
                                       : measured_language_runtime(session, row.hardware,
                                                                   session.load(row.model).info.file);
    row.scope = row.metric == MeasuredMetric::latency_ms ? "kernel" : "offline";
    row.id = text;
    return row;
}

std::vector<MeasuredRow> read_given(std::span<const std::string> texts, const Session& session,
                                    std::string_view device, std::string_view flag, std::string_view stack) {
    std::vector<MeasuredRow> rows;
    for (const std::string& text : texts) {
        if (!std::filesystem::is_regular_file(text)) {
            if (text.find('=') == std::string::npos)
                throw UsageError(fmt::format("{}: \"{}\": no such file, and no measurement either, which is "
                                             "like \"resnet50 int8 on Hailo-8 = 3.1ms\"",
                                             flag, text));
            rows.push_back(parse_given(text, session, device, flag, stack));
            continue;
        }
        const std::string all = read_text_file(text);
        const std::size_t before = rows.size();
        for (std::size_t start = 0; start < all.size();) {
            const std::size_t end = std::min(all.find('\n', start), all.size());
            const std::string line = all.substr(start, end - start);
            start = end + 1;
            if (const auto first = line.find_first_not_of(" \t\r");
                first != std::string::npos && line[first] != '#')
                rows.push_back(parse_given(line.substr(first, line.find_last_not_of(" \t\r") - first + 1),
                                           session, device, text, stack));
        }
        if (rows.size() == before)
            throw InputError(fmt::format("{}: this file holds no measurement; a line of one is like "
                                         "\"resnet50 int8 on Hailo-8 = 3.1ms\"",
                                         text));
    }
    return rows;
}

} // namespace archsim
