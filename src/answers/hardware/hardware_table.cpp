// The list of devices as report blocks. Text form:
//
//   GPU (46)
//   Name          Year  Node  INT8   FP16/BF16  FP32    Memory  Bandwidth  Power  Price   Modes  Default
//   stack  Sourced
//                       nm    TOPS   TFLOPS     TFLOPS  GB      GB/s       W      USD of numbers
//   RTX-4090      2022  5     661    330        82.6    24      1008       450    1599    -      tensorrt 62
//   %
//
// INT8, FP16 and FP32 are dense peaks: the matrix engines, or the vector engines where there are none
// (followed by "v"). "Sourced" is the share of the entry's numbers that are not assumed.

#include "answers/hardware/hardware_list.hpp"

#include "core/lists.hpp"
#include "report/blocks/columns.hpp"
#include "report/blocks/verdict.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>

namespace archsim {

constexpr double kTera = 1e12;
constexpr double kGiga = 1e9;

/// Facts are shown as stated, not rounded.
static Cell fact_cell(const Fact& fact, double unit) {
    if (!fact.known())
        return {};
    return {fmt::format("{:.5g}", fact.value / unit), fact.value};
}

/// Matrix peak of the first format that an engine has, or the vector peak, marked "v".
static Cell peak_cell(const Device& device, const std::vector<Precision>& formats) {
    for (const Precision precision : formats)
        if (const double matrix = device.peak(EngineClass::matrix, precision); matrix > 0)
            return cell_in(kTera, matrix);
    for (const Precision precision : formats)
        if (const double vector = device.peak(EngineClass::vector, precision); vector > 0)
            return Cell{format_number(vector / kTera) + "v", vector};
    return {};
}

static std::string modes_text(const HardwareRow& row) {
    return !row.power_mode.empty() ? row.power_mode : joined(row.device->power_modes, &PowerMode::name, " ");
}

static double known_share(const SourceCounts& sources) {
    const double total = static_cast<double>(sources.total());
    return total > 0 ? 1 - static_cast<double>(sources[SourceKind::assumed]) / total : 0;
}

enum class TableLayout : std::uint8_t {
    grouped,    ///< one table per family, for terminals
    document,   ///< the same with explanations and kinds of source
    spreadsheet ///< one table
};

using HardwareColumns = std::vector<ColumnOf<const HardwareRow*>>;

static HardwareColumns hardware_columns(TableLayout layout) {
    using R = const HardwareRow*;
    const auto dram = [](Fact Dram::*of) {
        return [of](R row) {
            const auto& memory = row->device->dram;
            return memory ? fact_cell((*memory).*of, kGiga) : Cell{};
        };
    };
    const auto peak = [](std::initializer_list<Precision> formats) {
        return [formats = std::vector(formats)](R row) { return peak_cell(*row->device, formats); };
    };
    HardwareColumns columns = {{{"Name", "", "id"}, [](R row) { return row->device->id; }}};
    if (layout == TableLayout::spreadsheet)
        columns.emplace_back(Column{"Family", "", "family"},
                             [](R row) { return name_of(row->device->family); });
    append(columns,
           {{most_best("Year", "", "year", 2),
             [](R row) { return count_cell(row->device->year > 0, row->device->year); }},
            {least_best("Node", "nm", "process_nm", 4),
             [](R row) { return fact_cell(row->device->process_nm, 1); }},
            {most_best("INT8", "TOPS", "int8_ops_per_s"), peak({Precision::int8})},
            {most_best("FP16/BF16", "TFLOPS", "fp16_ops_per_s"), peak({Precision::fp16, Precision::bf16})},
            {most_best("FP32", "TFLOPS", "fp32_ops_per_s", 1), peak({Precision::fp32})},
            {most_best("Memory", "GB", "memory_bytes", 1), dram(&Dram::capacity)},
            {most_best("Bandwidth", "GB/s", "bandwidth_bytes_per_s"), dram(&Dram::bandwidth)},
            {least_best("Power", "W", "power_w"),
             [](R row) {
                 const PowerMode* mode =
                     row->power_mode.empty() ? nullptr : row->device->power_mode(row->power_mode);
                 return fact_cell(mode != nullptr && mode->limit.known() ? mode->limit : row->device->tdp, 1);
             }},
            {least_best("Price", "USD", "price_usd", 3),
             [](R row) {
                 return row->device->list_price ? fact_cell(row->device->list_price->amount, 1) : Cell{};
             }},
            {{"Default stack", "", "default_runtime", Align::left, 1},
             [](R row) { return row->device->default_runtime; }},
            {{"Power modes", "", "power_modes", Align::left, 3}, [](R row) { return modes_text(*row); }}});
    if (layout == TableLayout::grouped)
        columns.emplace_back(most_best("Sourced", "of numbers", "sourced_share", 2),
                             [](R row) { return share_cell(known_share(row->sources)); });
    else
        columns.emplace_back(Column{"Sources", "numbers", "sources", Align::left, 2},
                             [](R row) { return counts_text(row->sources); });
    return columns;
}

static void add_introduction(const HardwareList& list, Report& report) {
    report.blocks.push_back(Paragraph{fmt::format(
        "The hardware database describes {} devices. Peaks are dense: units x operations per clock x clock, "
        "with 1 multiply-accumulate = 2 operations; \"v\" marks a format that only the vector engines have. "
        "\"Sources\" counts the numbers of an entry by where they come from.",
        list.rows.size())});
    struct Kind {
        SourceKind kind;
        const char* meaning;
    };
    SourceCounts all;
    for (const HardwareRow& row : list.rows)
        all += row.sources;
    report.blocks.push_back(table_of<Kind>(
        {},
        {{{"Kind", "", "kind"}, [](const Kind& k) { return name_of(k.kind); }},
         {most_best("Numbers", "", "numbers"), [&](const Kind& k) { return whole_cell(all[k.kind]); }},
         {{"Meaning", "", "meaning"}, &Kind::meaning}},
        std::array{
            Kind{SourceKind::datasheet,
                 "stated by the maker; \"unverified\" where the document was not at hand"},
            Kind{SourceKind::paper, "published research"},
            Kind{SourceKind::measured, "published measurement"},
            Kind{SourceKind::derived, "arithmetic on other numbers"},
            Kind{SourceKind::fitted, "parameter of a fit to n measurements, with its error"},
            Kind{SourceKind::tuned, "chosen with measurements of networks in view, without a recorded fit"},
            Kind{SourceKind::assumed, "estimate without a published figure"}}));
}

static void add_deployments(const HardwareList& list, Report& report) {
    using D = Deployment;
    if (!list.deployments.empty())
        report.blocks.push_back(
            table_of<D>("Deployments (--deployment)",
                        {{{"Id", "", "id"}, &D::id},
                         {{"Title", "", "title"}, &D::title},
                         {{"For", "", "use"}, &D::description},
                         {{"Hardware", "", "devices"}, [](const D& d) { return joined(d.hardware, " "); }}},
                        list.deployments));
}

constexpr std::size_t kNamedAtMost = 4; ///< families, devices... named before "and N more"

/// "1979 TOPS", of the matrix engines, or of the vector engines where there are none; empty: none has it.
static std::string best_peak_text(const Device& device, Precision precision) {
    double peak = device.peak(EngineClass::matrix, precision);
    if (peak <= 0)
        peak = device.peak(EngineClass::vector, precision);
    return peak > 0 ? fmt::format("{} {} {}", format_number(peak / kTera),
                                  precision == Precision::int8 ? "TOPS" : "TFLOPS", name_of(precision))
                    : std::string();
}

/// "76 of 101 numbers have a source (75.2 %), 25 assumed."
static std::string sourced_text(const SourceCounts& sources) {
    const std::size_t assumed = sources[SourceKind::assumed], all = sources.total();
    if (all == 0)
        return "";
    return fmt::format("{} of {} numbers have a source ({}), {} assumed.", all - assumed, all,
                       format_percent(static_cast<double>(all - assumed) / static_cast<double>(all)),
                       assumed);
}

static void add(std::vector<std::string>& lines, std::string line) {
    if (!line.empty())
        lines.push_back(std::move(line));
}

/// The device with the largest known value, and the value.
static std::string largest_text(const HardwareList& list, std::string_view what,
                                const std::function<double(const Device&)>& value,
                                const std::function<std::string(double)>& text) {
    const Device* most = nullptr;
    for (const HardwareRow& row : list.rows)
        if (value(*row.device) > 0 && (most == nullptr || value(*row.device) > value(*most)))
            most = row.device.get();
    return most == nullptr ? "" : fmt::format("{}: {}, {}.", what, most->id, text(value(*most)));
}

static std::string families_text(const HardwareList& list) {
    std::map<std::string, std::size_t> counts;
    for (const HardwareRow& row : list.rows)
        ++counts[std::string(title_of(row.device->family))];
    std::vector<std::pair<std::string, std::size_t>> order(counts.begin(), counts.end());
    std::ranges::stable_sort(order, std::ranges::greater{}, [](const auto& one) { return one.second; });
    return names_text(
        mapped(order, [](const auto& one) { return fmt::format("{} {}", one.second, one.first); }),
        2 * kNamedAtMost);
}

Report describe(const HardwareList& list, PlainView, Format format) {
    const TableLayout layout = format == Format::csv    ? TableLayout::spreadsheet
                               : format == Format::text ? TableLayout::grouped
                                                        : TableLayout::document;
    Report report{"Hardware", {}};
    std::vector<const HardwareRow*> all = mapped(list.rows, [](const HardwareRow& row) { return &row; });
    if (layout == TableLayout::spreadsheet)
        return {report.title, {table_of({}, hardware_columns(layout), all)}};
    const bool document = layout == TableLayout::document;
    add_blocks(report, Heading{1, "HARDWARE"}, Takeaway{verdict_lines(list)});
    if (document)
        add_introduction(list, report);
    if (!list.deployment.empty())
        return {
            report.title,
            {table_of(fmt::format("{} ({})", list.deployment, all.size()), hardware_columns(layout), all)}};
    for (const Family family : families()) {
        const auto rows = kept(all, [&](const HardwareRow* row) { return row->device->family == family; });
        if (rows.empty())
            continue;
        const std::string title = fmt::format("{} ({})", title_of(family), rows.size());
        if (document)
            report.blocks.push_back(Heading{2, title});
        report.blocks.push_back(table_of(document ? std::string() : title, hardware_columns(layout), rows));
    }
    add_deployments(list, report);
    if (!document && !all.empty())
        report.blocks.push_back(Paragraph{
            "Dense peaks, 1 multiply-accumulate = 2 operations; v: vector engines only. Sourced: share of "
            "the entry's numbers that are not assumed. --show NAME lists every number with its source.",
            Tone::muted});
    return report;
}

std::vector<std::string> verdict_lines(const HardwareList& list) {
    if (list.rows.empty())
        return {"No device."};
    std::vector<std::string> lines = {
        fmt::format("{}: {}.", plural(list.rows.size(), "device"), families_text(list))};
    const std::string most[] = {
        largest_text(
            list, "Most int8", [](const Device& d) { return d.peak(EngineClass::matrix, Precision::int8); },
            [](double v) { return format_number(v / kTera) + " TOPS"; }),
        largest_text(
            list, "Most memory bandwidth",
            [](const Device& d) { return d.dram ? d.dram->bandwidth.value_or(0) : 0; },
            [](double v) { return format_bytes(v) + "/s"; })};
    add(lines, joined(most, std::identity{}, " "));
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
