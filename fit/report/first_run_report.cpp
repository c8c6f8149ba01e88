#include "fit/report/first_run_report.hpp"

#include "report/blocks/columns.hpp"
#include "report/blocks/number_format.hpp"

#include <array>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <optional>
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

/// Of one group, under four sets of parameters.
struct FirstRunRow {
    std::string name;
    std::size_t rows;
    std::array<std::optional<ErrorStatistics>, 4> errors;
};

FirstRunRow line_of(const std::string& name, const std::vector<const BeforeAndAfter*>& rows) {
    std::array<std::vector<const ValidatedRow*>, 4> sets;
    for (const BeforeAndAfter* row : rows) {
        const std::array<const ValidatedRow*, 4> each = {&row->first, row->shipped, row->without_model,
                                                         row->without_device};
        for (std::size_t i = 0; i < each.size(); ++i)
            if (each[i] != nullptr)
                sets[i].push_back(each[i]);
    }
    FirstRunRow line{name, rows.size(), {}};
    for (std::size_t i = 0; i < sets.size(); ++i)
        if (!sets[i].empty())
            line.errors[i] = error_statistics(sets[i]);
    return line;
}

Table table_by(const char* heading, const char* key, const std::vector<BeforeAndAfter>& rows,
               std::size_t least, const std::function<std::string(const BeforeAndAfter&)>& name_of_row) {
    std::vector<ColumnOf<FirstRunRow>> columns = {{{heading, "", key}, &FirstRunRow::name},
                                                  {most_best("Rows", "", "n"), 1, &FirstRunRow::rows}};
    static constexpr std::array<std::pair<const char*, const char*>, 4> kSets = {
        {{"first run", "first"},
         {"shipped", "shipped"},
         {"network out", "model_out"},
         {"device out", "device_out"}}};
    for (std::size_t i = 0; i < kSets.size(); ++i) {
        const auto& [name, prefix] = kSets[i];
        const auto share = [i](double ErrorStatistics::*of) {
            return [i, of](const FirstRunRow& row) {
                return row.errors[i] ? share_cell((*row.errors[i]).*of) : Cell{};
            };
        };
        append_columns(columns, {{least_best("Median", name, fmt::format("{}_median_ape", prefix)),
                                  share(&ErrorStatistics::median_ape)},
                                 {most_best("Within 25 %", name, fmt::format("{}_within_25", prefix)),
                                  share(&ErrorStatistics::within_25)},
                                 {most_best("In interval", name, fmt::format("{}_interval_coverage", prefix)),
                                  share(&ErrorStatistics::coverage)}});
    }
    std::map<std::string, std::vector<const BeforeAndAfter*>> groups;
    std::vector<const BeforeAndAfter*> all;
    for (const BeforeAndAfter& row : rows) {
        groups[name_of_row(row)].push_back(&row);
        all.push_back(&row);
    }
    std::vector<FirstRunRow> lines;
    for (const auto& [name, members] : groups)
        if (members.size() >= least)
            lines.push_back(line_of(name, members));
    lines.push_back(line_of("all", all));
    return table_of(fmt::format("By {}, first run and now", key), columns, lines);
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
