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
#include "answers/hardware/sheet_text.hpp"
#include "report/blocks/number_format.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>
#include <utility>

namespace archsim {

namespace {

constexpr double kTera = 1e12;
constexpr double kGiga = 1e9;

Cell number_cell(double value, double unit, std::string_view suffix = "") {
    return {format_number(value / unit) + std::string(suffix), value};
}

/// Facts are shown as stated, not rounded.
Cell fact_cell(const Fact& fact, double unit) {
    if (!fact.known())
        return {"-", std::nullopt, Tone::muted};
    return {fmt::format("{:.5g}", fact.value / unit), fact.value};
}

/// Matrix peak of the first format that an engine has, or the vector peak, marked "v".
Cell peak_cell(const Device& device, std::initializer_list<Precision> formats) {
    for (const Precision precision : formats)
        if (const double matrix = device.peak(EngineClass::matrix, precision); matrix > 0)
            return number_cell(matrix, kTera);
    for (const Precision precision : formats)
        if (const double vector = device.peak(EngineClass::vector, precision); vector > 0)
            return number_cell(vector, kTera, "v");
    return {"-", std::nullopt, Tone::muted};
}

std::string modes_text(const HardwareRow& row) {
    if (!row.power_mode.empty())
        return row.power_mode;
    std::string text;
    for (const PowerMode& mode : row.device->power_modes)
        text += (text.empty() ? "" : " ") + mode.name;
    return text.empty() ? "-" : text;
}

double known_share(const SourceCounts& sources) {
    const double total = static_cast<double>(sources.total());
    return total > 0 ? 1 - static_cast<double>(sources[SourceKind::assumed]) / total : 0;
}

enum class Layout : std::uint8_t {
    grouped,    ///< one table per family, for terminals
    document,   ///< the same with explanations and kinds of source
    spreadsheet ///< one table
};

Layout layout_for(Format format) {
    if (format == Format::csv)
        return Layout::spreadsheet;
    return format == Format::text ? Layout::grouped : Layout::document;
}

std::vector<Column> columns_of(Layout layout) {
    std::vector<Column> columns = {{"Name", "", "id"}};
    if (layout == Layout::spreadsheet)
        columns.push_back({"Family", "", "family"});
    for (Column& column : std::vector<Column>{{"Year", "", "year", Align::right, 2},
                                              {"Node", "nm", "process_nm", Align::right, 4},
                                              {"INT8", "TOPS", "int8_ops_per_s", Align::right},
                                              {"FP16/BF16", "TFLOPS", "fp16_ops_per_s", Align::right},
                                              {"FP32", "TFLOPS", "fp32_ops_per_s", Align::right, 1},
                                              {"Memory", "GB", "memory_bytes", Align::right, 1},
                                              {"Bandwidth", "GB/s", "bandwidth_bytes_per_s", Align::right},
                                              {"Power", "W", "power_w", Align::right},
                                              {"Price", "USD", "price_usd", Align::right, 3},
                                              {"Default stack", "", "default_runtime", Align::left, 1},
                                              {"Power modes", "", "power_modes", Align::left, 3}})
        columns.push_back(std::move(column));
    if (layout == Layout::grouped)
        columns.push_back({"Sourced", "of numbers", "sourced_share", Align::right, 2});
    else
        columns.push_back({"Sources", "numbers", "sources", Align::left, 2});
    return columns;
}

std::vector<Cell> cells_of(const HardwareRow& row, Layout layout) {
    const Device& device = *row.device;
    std::vector<Cell> cells = {{device.id}};
    if (layout == Layout::spreadsheet)
        cells.push_back({std::string(name_of(device.family))});
    cells.push_back({device.year > 0 ? std::to_string(device.year) : "-"});
    cells.push_back(fact_cell(device.process_nm, 1));
    cells.push_back(peak_cell(device, {Precision::int8}));
    cells.push_back(peak_cell(device, {Precision::fp16, Precision::bf16}));
    cells.push_back(peak_cell(device, {Precision::fp32}));
    cells.push_back(device.dram ? fact_cell(device.dram->capacity, kGiga) : Cell{"-"});
    cells.push_back(device.dram ? fact_cell(device.dram->bandwidth, kGiga) : Cell{"-"});
    const PowerMode* mode = row.power_mode.empty() ? nullptr : device.power_mode(row.power_mode);
    cells.push_back(fact_cell(mode != nullptr && mode->limit.known() ? mode->limit : device.tdp, 1));
    cells.push_back(device.list_price ? fact_cell(device.list_price->amount, 1) : Cell{"-"});
    cells.push_back({device.default_runtime.empty() ? "-" : device.default_runtime});
    cells.push_back({modes_text(row)});
    const double share = known_share(row.sources);
    if (layout == Layout::grouped)
        cells.push_back({format_percent(share), share});
    else
        cells.push_back({counts_text(row.sources)});
    return cells;
}

Table table_of(std::string title, const std::vector<const HardwareRow*>& rows, Layout layout) {
    Table table;
    table.title = std::move(title);
    table.columns = columns_of(layout);
    for (const HardwareRow* row : rows)
        table.rows.push_back(cells_of(*row, layout));
    return table;
}

void add_introduction(const HardwareList& list, Report& report) {
    report.blocks.push_back(Paragraph{fmt::format("The hardware database describes {} devices. Peaks are "
                                                  "dense: units x operations per clock x clock, with 1 "
                                                  "multiply-accumulate = 2 operations; \"v\" marks a format "
                                                  "that only the vector engines have. \"Sources\" "
                                                  "counts the numbers of an entry by where they come from.",
                                                  list.rows.size())});
    Table kinds;
    kinds.columns = {
        {"Kind", "", "kind"}, {"Numbers", "", "numbers", Align::right}, {"Meaning", "", "meaning"}};
    SourceCounts all;
    for (const HardwareRow& row : list.rows)
        all += row.sources;
    for (const auto& [kind, meaning] :
         {std::pair{SourceKind::datasheet,
                    "stated by the maker; \"unverified\" where the document was not at hand"},
          std::pair{SourceKind::paper, "published research"},
          std::pair{SourceKind::measured, "published measurement"},
          std::pair{SourceKind::derived, "arithmetic on other numbers"},
          std::pair{SourceKind::fitted, "parameter of a fit to n measurements, with its error"},
          std::pair{SourceKind::tuned,
                    "chosen with measurements of networks in view, without a recorded fit"},
          std::pair{SourceKind::assumed, "estimate without a published figure"}})
        kinds.rows.push_back({{std::string(name_of(kind))}, {std::to_string(all[kind])}, {meaning}});
    report.blocks.push_back(std::move(kinds));
}

void add_deployments(const HardwareList& list, Report& report) {
    if (list.deployments.empty())
        return;
    Table table;
    table.title = "Deployments (--deployment)";
    table.columns = {
        {"Id", "", "id"}, {"Title", "", "title"}, {"For", "", "use"}, {"Hardware", "", "devices"}};
    for (const Deployment& deployment : list.deployments) {
        std::string names;
        for (const std::string& name : deployment.hardware)
            names += (names.empty() ? "" : " ") + name;
        table.rows.push_back(
            {{deployment.id}, {deployment.title}, {deployment.description}, {std::move(names)}});
    }
    report.blocks.push_back(std::move(table));
}

} // namespace

Report describe(const HardwareList& list, PlainView, Format format) {
    const Layout layout = layout_for(format);
    Report report;
    report.title = "Hardware";
    std::vector<const HardwareRow*> all;
    for (const HardwareRow& row : list.rows)
        all.push_back(&row);
    if (layout == Layout::spreadsheet) {
        report.blocks.push_back(table_of({}, all, layout));
        return report;
    }
    const bool document = layout == Layout::document;
    report.blocks.push_back(Heading{1, "HARDWARE"});
    report.blocks.push_back(Takeaway{verdict_lines(list)});
    if (document)
        add_introduction(list, report);
    if (!list.deployment.empty()) {
        report.blocks.push_back(table_of(fmt::format("{} ({})", list.deployment, all.size()), all, layout));
        return report;
    }
    for (const Family family : families()) {
        std::vector<const HardwareRow*> rows;
        std::copy_if(all.begin(), all.end(), std::back_inserter(rows),
                     [&](const HardwareRow* row) { return row->device->family == family; });
        if (rows.empty())
            continue;
        const std::string title = fmt::format("{} ({})", title_of(family), rows.size());
        if (document)
            report.blocks.push_back(Heading{2, title});
        report.blocks.push_back(table_of(document ? std::string() : title, rows, layout));
    }
    add_deployments(list, report);
    if (!document && !all.empty())
        report.blocks.push_back(
            Paragraph{"Dense peaks, 1 multiply-accumulate = 2 operations; v: vector engines only. Sourced: "
                      "share of the "
                      "entry's numbers that are not assumed. --show NAME lists every number with its source.",
                      Tone::muted});
    return report;
}

} // namespace archsim
