// Measurements of the user's own in words.

#include "archsim/core/finding.hpp"
#include "core/text_file.hpp"
#include "run/session/given.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>

namespace archsim {

namespace {

std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    while (!text.empty()) {
        const auto end = text.find(' ');
        if (end != 0)
            words.push_back(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return words;
}

struct Unit {
    std::string_view name;
    MeasuredMetric metric;
    double factor; ///< to the row's unit
};
constexpr std::array kUnits = {
    Unit{"ms", MeasuredMetric::latency_ms, 1}, Unit{"us", MeasuredMetric::latency_ms, 1e-3},
    Unit{"s", MeasuredMetric::latency_ms, 1e3}, Unit{"/s", MeasuredMetric::throughput_per_s, 1},
    Unit{"fps", MeasuredMetric::throughput_per_s, 1}};

bool set_value(std::string_view text, MeasuredRow& row) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), row.value);
    if (error != std::errc{} || !std::isfinite(row.value) || !(row.value > 0))
        return false;
    std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    while (unit.starts_with(' '))
        unit.remove_prefix(1);
    for (const Unit& known : kUnits)
        if (known.name == unit) {
            row.metric = known.metric;
            row.value *= known.factor;
            return true;
        }
    return false;
}

} // namespace

MeasuredRow parse_given(std::string_view text, const Session& session, std::string_view device,
                        std::string_view flag) {
    const UsageError form(fmt::format("{}: \"{}\" is not NETWORK [FORMAT] [bN] [on DEVICE] [under STACK] = "
                                      "VALUE with ms, us, s or /s, like "
                                      "\"resnet50 int8 on Hailo-8 = 3.1ms\"",
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
    row.precision = "fp32";
    row.batch = 1;
    row.hardware = device;
    for (std::size_t i = 1; i < words.size(); ++i) {
        const std::string_view word = words[i];
        if ((word == "on" || word == "under") && i + 1 < words.size()) {
            (word == "on" ? row.hardware : row.runtime) = words[++i];
        } else if (int batch = 0; word.starts_with('b') && word.size() > 1 &&
                                  std::from_chars(word.data() + 1, word.data() + word.size(), batch).ptr ==
                                      word.data() + word.size()) {
            if (batch < 1)
                throw form;
            row.batch = batch;
        } else if (PrecisionConfig::parse(std::string(word))) {
            row.precision = word;
        } else {
            throw form;
        }
    }
    if (row.hardware.empty())
        throw UsageError(
            fmt::format("{}: \"{}\" does not say on which device: add \"on DEVICE\"", flag, text));
    const auto selected = session.hardware().device(row.hardware);
    if (const auto at = row.hardware.find('@'); at != std::string::npos) {
        row.power_mode = row.hardware.substr(at + 1);
        row.hardware.resize(at);
    }
    if (row.runtime.empty())
        row.runtime = selected.device->default_runtime;
    row.scope = row.metric == MeasuredMetric::latency_ms ? "kernel" : "offline";
    row.id = text;
    return row;
}

std::vector<MeasuredRow> read_given(std::span<const std::string> texts, const Session& session,
                                    std::string_view device, std::string_view flag) {
    std::vector<MeasuredRow> rows;
    for (const std::string& text : texts) {
        if (!std::filesystem::is_regular_file(text)) {
            rows.push_back(parse_given(text, session, device, flag));
            continue;
        }
        const std::string all = read_text_file(text);
        for (std::size_t start = 0; start < all.size();) {
            const std::size_t end = std::min(all.find('\n', start), all.size());
            const std::string line = all.substr(start, end - start);
            start = end + 1;
            if (const auto first = line.find_first_not_of(" \t\r");
                first != std::string::npos && line[first] != '#')
                rows.push_back(parse_given(line.substr(first, line.find_last_not_of(" \t\r") - first + 1),
                                           session, device, text));
        }
    }
    return rows;
}

} // namespace archsim
