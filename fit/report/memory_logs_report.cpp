#include "fit/report/memory_logs_report.hpp"

#include "report/blocks/cells.hpp"
#include "report/blocks/number_format.hpp"
#include "result/quantile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace archsim {

namespace {

constexpr double kLoggedPercent = 100;
constexpr std::array<std::pair<std::string_view, const char*>, 5> kLogged = {
    {{"weights", "Weights"},
     {"cache_per_token", "Cache of a token"},
     {"cache", "Cache of a context"},
     {"compute", "Compute buffer"},
     {"room", "Room for caches"}}};

std::vector<double> errors_of(const std::vector<MemoryLogRow>& rows, std::string_view quantity) {
    std::vector<double> errors;
    for (const MemoryLogRow& row : rows)
        if (const auto error = row.error(); error && (quantity.empty() || row.quantity == quantity))
            errors.push_back(std::abs(*error));
    std::sort(errors.begin(), errors.end());
    return errors;
}

std::vector<Cell> line_of(const char* title, const std::vector<double>& errors) {
    const double median = quantile(errors, 0.5);
    return {{title},
            whole_cell(errors.size()),
            {fmt::format("{:.1f}", kLoggedPercent * median), median},
            {fmt::format("{:.1f}", kLoggedPercent * errors.back()), errors.back()}};
}

Table errors_by_quantity(const std::vector<MemoryLogRow>& rows) {
    Table table;
    table.title = "Memory of engines, by quantity";
    table.columns = {{"Quantity", "", "quantity"},
                     {"Rows", "", "rows", Align::right},
                     {"Median error", "%", "median_error", Align::right},
                     {"Largest", "%", "largest_error", Align::right}};
    for (const auto& [key, title] : kLogged)
        if (const auto errors = errors_of(rows, key); !errors.empty())
            table.rows.push_back(line_of(title, errors));
    if (const auto errors = errors_of(rows, {}); !errors.empty())
        table.rows.push_back(line_of("All", errors));
    const auto ran_out =
        std::count_if(rows.begin(), rows.end(), [](const auto& r) { return r.fits.has_value(); });
    const auto fit = std::count_if(rows.begin(), rows.end(), [](const auto& r) { return r.fits == true; });
    table.notes.emplace_back(
        fmt::format("Of {} that ran out of memory {} fit by the estimate.", ran_out, fit));
    return table;
}

Table every_row(const std::vector<MemoryLogRow>& rows) {
    Table table;
    table.title = "Every row";
    table.columns = {{"Engine", "", "engine"},
                     {"Model", "", "model"},
                     {"Format", "", "format"},
                     {"TP", "", "tensor_parallel", Align::right},
                     {"Quantity", "", "quantity"},
                     {"Logged", "", "logged_bytes", Align::right},
                     {"Estimated", "", "estimated_bytes", Align::right},
                     {"Error", "%", "error", Align::right},
                     {"Source", "", "source"}};
    for (const MemoryLogRow& row : rows) {
        const auto error = row.error();
        table.rows.push_back(
            {{row.engine},
             {row.model},
             {row.precision},
             whole_cell(static_cast<std::size_t>(row.tensor)),
             {row.context > 0 ? fmt::format("{}, {} positions", row.quantity, row.context) : row.quantity},
             row.logged > 0 ? Cell{format_bytes(row.logged), row.logged} : Cell{"ran out"},
             row.fits   ? Cell{*row.fits ? "fits" : "does not fit"}
             : row.ours ? Cell{format_bytes(*row.ours), *row.ours}
                        : Cell{row.problem},
             error ? Cell{fmt::format("{:+.1f}", kLoggedPercent * *error), *error} : Cell{"-"},
             {row.source}});
    }
    return table;
}

} // namespace

Report describe_memory_logs(const std::vector<MemoryLogRow>& rows) {
    Report report;
    report.title = "Memory of engines: logged and estimated";
    report.blocks.emplace_back(Heading{1, report.title});
    report.blocks.emplace_back(errors_by_quantity(rows));
    report.blocks.emplace_back(every_row(rows));
    return report;
}

} // namespace archsim
