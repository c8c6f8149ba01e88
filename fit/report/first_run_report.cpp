#include "fit/report/first_run_report.hpp"

#include "report/blocks/cells.hpp"
#include "report/blocks/number_format.hpp"

#include <fmt/format.h>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace archsim {

namespace {

constexpr std::size_t kLeastOfDevice = 3; ///< rows from which a device has a line of its own

/// One row as it was said at first and is said now; left-out predictions where there are any.
struct BeforeAndAfter {
    ValidatedRow first;
    const ValidatedRow *shipped = nullptr, *without_model = nullptr, *without_device = nullptr;
};

std::map<std::string, const ValidatedRow*> rows_by_id(const Validation& validation) {
    std::map<std::string, const ValidatedRow*> rows;
    for (const ValidatedRow& row : validation.rows)
        if (row.prediction.ok())
            rows[row.measured.id] = &row;
    return rows;
}

void add_statistics(const std::vector<const ValidatedRow*>& rows, std::vector<Cell>& cells) {
    if (rows.empty()) {
        cells.insert(cells.end(), 3, Cell{"-", std::nullopt, Tone::muted});
        return;
    }
    const ErrorStatistics errors = error_statistics(rows);
    for (const double value : {errors.median_ape, errors.within_25, errors.coverage})
        cells.push_back(share_cell(value));
}

std::vector<Cell> line_of(const std::string& name, const std::vector<const BeforeAndAfter*>& rows) {
    std::vector<const ValidatedRow*> first, shipped, model, device;
    for (const BeforeAndAfter* row : rows) {
        first.push_back(&row->first);
        shipped.push_back(row->shipped);
        if (row->without_model != nullptr)
            model.push_back(row->without_model);
        if (row->without_device != nullptr)
            device.push_back(row->without_device);
    }
    std::vector<Cell> cells = {{name}, {std::to_string(rows.size()), static_cast<double>(rows.size())}};
    for (const auto& each : {first, shipped, model, device})
        add_statistics(each, cells);
    return cells;
}

Table table_by(const char* heading, const char* key, const std::vector<BeforeAndAfter>& rows,
               std::size_t least, const std::function<std::string(const BeforeAndAfter&)>& name_of_row) {
    Table table;
    table.title = fmt::format("By {}, first run and now", key);
    table.columns = {{heading, "", key}, {"Rows", "", "n", Align::right}};
    for (const auto& [name, prefix] :
         {std::pair{"first run", "first"}, std::pair{"shipped", "shipped"},
          std::pair{"network out", "model_out"}, std::pair{"device out", "device_out"}})
        for (const auto& [what, suffix] :
             {std::pair{"Median", "median_ape"}, std::pair{"Within 25 %", "within_25"},
              std::pair{"In interval", "interval_coverage"}})
            table.columns.push_back({what, name, fmt::format("{}_{}", prefix, suffix), Align::right});
    std::map<std::string, std::vector<const BeforeAndAfter*>> groups;
    std::vector<const BeforeAndAfter*> all;
    for (const BeforeAndAfter& row : rows) {
        groups[name_of_row(row)].push_back(&row);
        all.push_back(&row);
    }
    for (const auto& [name, members] : groups)
        if (members.size() >= least)
            table.rows.push_back(line_of(name, members));
    table.rows.push_back(line_of("all", all));
    return table;
}

} // namespace

void add_first_run(const Validation& shipped, const LeftOutValidation* left_out,
                   const std::vector<FirstRun>& first, Report& report) {
    const auto now = rows_by_id(shipped);
    std::map<std::string, const ValidatedRow*> model, device;
    if (left_out != nullptr) {
        model = rows_by_id(left_out->without_model);
        device = rows_by_id(left_out->without_device);
    }
    const auto in = [](const std::map<std::string, const ValidatedRow*>& rows, const std::string& id) {
        const auto found = rows.find(id);
        return found == rows.end() ? nullptr : found->second;
    };
    std::vector<BeforeAndAfter> rows;
    for (const FirstRun& said : first) {
        const ValidatedRow* row = in(now, said.id);
        if (row == nullptr || row->measured.weight < kTrustedWeight)
            continue;
        BeforeAndAfter both{*row, row, in(model, said.id), in(device, said.id)};
        both.first.prediction.predicted = said.predicted;
        both.first.prediction.low = said.low;
        both.first.prediction.high = said.high;
        rows.push_back(std::move(both));
    }
    if (rows.empty())
        return;
    report.blocks.push_back(Heading{2, "Blind at first, and now"});
    report.blocks.push_back(Paragraph{
        "Rows that version 0.1.0 estimated before anything was fitted to them, of weight >= 0.7. First run: "
        "its "
        "predictions and intervals. Shipped: the parameters of today, some of which these rows decided. "
        "Network out and device out: without the row's network, or device, in any fit."});
    report.blocks.push_back(table_by("Family", "family", rows, 1,
                                     [](const BeforeAndAfter& row) { return row.first.prediction.family; }));
    report.blocks.push_back(table_by("Hardware", "hardware", rows, kLeastOfDevice,
                                     [](const BeforeAndAfter& row) { return row.first.measured.hardware; }));
}

} // namespace archsim
