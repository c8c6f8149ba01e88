#include "answers/hardware/hardware_list.hpp"

#include "report/blocks/number_format.hpp"
#include "report/blocks/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace archsim {

namespace {

constexpr double kTeraOps = 1e12;
constexpr std::size_t kNamedAtMost = 4; ///< families, devices... named before "and N more"

/// "1979 TOPS", of the matrix engines, or of the vector engines where there are none; empty: none has it.
std::string best_peak_text(const Device& device, Precision precision) {
    double peak = device.peak(EngineClass::matrix, precision);
    if (peak <= 0)
        peak = device.peak(EngineClass::vector, precision);
    return peak > 0 ? fmt::format("{} {} {}", format_number(peak / kTeraOps),
                                  precision == Precision::int8 ? "TOPS" : "TFLOPS", name_of(precision))
                    : std::string();
}

/// "76 of 101 numbers have a source (75.2 %), 25 assumed."
std::string sourced_text(const SourceCounts& sources) {
    const std::size_t assumed = sources[SourceKind::assumed], all = sources.total();
    if (all == 0)
        return "";
    return fmt::format("{} of {} numbers have a source ({}), {} assumed.", all - assumed, all,
                       format_percent(static_cast<double>(all - assumed) / static_cast<double>(all)),
                       assumed);
}

void add(std::vector<std::string>& lines, std::string line) {
    if (!line.empty())
        lines.push_back(std::move(line));
}

/// The device with the largest known value, and the value.
std::string largest_text(const HardwareList& list, std::string_view what,
                         const std::function<double(const Device&)>& value,
                         const std::function<std::string(double)>& text) {
    const Device* most = nullptr;
    for (const HardwareRow& row : list.rows)
        if (value(*row.device) > 0 && (most == nullptr || value(*row.device) > value(*most)))
            most = row.device.get();
    return most == nullptr ? "" : fmt::format("{}: {}, {}.", what, most->id, text(value(*most)));
}

std::string families_text(const HardwareList& list) {
    std::map<std::string, std::size_t> counts;
    for (const HardwareRow& row : list.rows)
        ++counts[std::string(title_of(row.device->family))];
    std::vector<std::pair<std::size_t, std::string>> order;
    for (const auto& [name, count] : counts)
        order.emplace_back(count, name);
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<std::string> words;
    for (const auto& [count, name] : order)
        words.push_back(fmt::format("{} {}", count, name));
    return names_text(words, 2 * kNamedAtMost);
}

} // namespace

std::vector<std::string> verdict_lines(const HardwareList& list) {
    if (list.rows.empty())
        return {"No device."};
    std::vector<std::string> lines = {
        fmt::format("{}: {}.", plural(list.rows.size(), "device"), families_text(list))};
    std::string most;
    for (const std::string& part :
         {largest_text(
              list, "Most int8", [](const Device& d) { return d.peak(EngineClass::matrix, Precision::int8); },
              [](double v) { return format_number(v / kTeraOps) + " TOPS"; }),
          largest_text(
              list, "Most memory bandwidth",
              [](const Device& d) { return d.dram ? d.dram->bandwidth.value_or(0) : 0; },
              [](double v) { return format_bytes(v) + "/s"; })})
        most += (most.empty() || part.empty() ? "" : " ") + part;
    add(lines, most);
    SourceCounts sources;
    for (const HardwareRow& row : list.rows)
        sources += row.sources;
    add(lines, sourced_text(sources));
    return lines;
}

std::vector<std::string> verdict_lines(const DeviceSheet& sheet) {
    const Device& device = *sheet.choice.device;
    std::vector<std::string> parts;
    for (const Precision precision : {Precision::int8, Precision::fp16, Precision::bf16, Precision::fp32})
        if (std::string peak = best_peak_text(device, precision); !peak.empty() && parts.size() < 2)
            parts.push_back(std::move(peak));
    if (device.dram)
        parts.push_back(fmt::format("{} of memory at {}/s", format_bytes(device.dram->capacity.value_or(0)),
                                    format_bytes(device.dram->bandwidth.value_or(0))));
    const PowerMode* mode =
        sheet.choice.power_mode.empty() ? nullptr : device.power_mode(sheet.choice.power_mode);
    const Fact& limit = mode != nullptr && mode->limit.known() ? mode->limit : device.tdp;
    if (limit.known())
        parts.push_back("limit " + format_power(limit.value));
    std::vector<std::string> lines;
    lines.push_back(fmt::format("{}: {}.", device.id, joined(parts)));
    add(lines, sourced_text(count_sources(sheet.facts)));
    return lines;
}

std::vector<std::string> verdict_lines(const RuntimeSheet& sheet) {
    std::vector<std::string> lines = {fmt::format(
        "{} serves {} and is the default of {}.", sheet.runtime->id, plural(sheet.devices.size(), "device"),
        sheet.default_of.empty() ? std::string("none") : names_text(sheet.default_of, kNamedAtMost))};
    add(lines, sourced_text(count_sources(sheet.facts)));
    return lines;
}

std::vector<std::string> verdict_lines(const HardwareCheck& check) {
    std::string what = check.path;
    if (check.devices > 0)
        what = fmt::format("{} and {}", plural(check.devices, "device"),
                           plural(check.runtimes, "software stack"));
    return {check.findings.empty()
                ? fmt::format("Sound: {}, no findings.", what)
                : fmt::format("Not sound: {} in {}.", plural(check.findings.size(), "finding"), what)};
}

} // namespace archsim
