#include "fit/report/serving_peers_report.hpp"

#include "fit/errors/quantile.hpp"
#include "report/blocks/columns.hpp"
#include "report/blocks/number_format.hpp"

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

Table errors_by_quantity(const std::vector<MemoryLogRow>& rows) {
    struct Row {
        const char* title;
        std::vector<double> errors;
    };
    std::vector<Row> lines;
    for (const auto& [key, title] : kLogged)
        lines.push_back({title, errors_of(rows, key)});
    lines.push_back({"All", errors_of(rows, {})});
    std::erase_if(lines, [](const Row& row) { return row.errors.empty(); });
    const auto percent = [](double error) {
        return Cell{fmt::format("{:.1f}", kLoggedPercent * error), error};
    };
    Table table =
        table_of<Row>("Memory of engines, by quantity",
                      {{{"Quantity", "", "quantity"}, &Row::title},
                       {most_best("Rows", "", "rows"), 1, [](const Row& row) { return row.errors.size(); }},
                       {least_best("Median error", "%", "median_error"),
                        [=](const Row& row) { return percent(quantile(row.errors, 0.5)); }},
                       {least_best("Largest", "%", "largest_error"),
                        [=](const Row& row) { return percent(row.errors.back()); }}},
                      lines);
    const auto ran_out =
        std::count_if(rows.begin(), rows.end(), [](const auto& r) { return r.fits.has_value(); });
    const auto fit = std::count_if(rows.begin(), rows.end(), [](const auto& r) { return r.fits == true; });
    table.notes.emplace_back(
        fmt::format("Of {} that ran out of memory {} fit by the estimate.", ran_out, fit));
    return table;
}

Table every_row(const std::vector<MemoryLogRow>& rows) {
    using R = MemoryLogRow;
    return table_of<R>(
        "Every row",
        {{{"Engine", "", "engine"}, &R::engine},
         {{"Model", "", "model"}, &R::model},
         {{"Format", "", "format"}, &R::precision},
         {most_best("TP", "", "tensor_parallel"), 1, [](const R& r) { return r.tensor; }},
         {{"Quantity", "", "quantity"},
          [](const R& r) {
              return r.context > 0 ? fmt::format("{}, {} positions", r.quantity, r.context) : r.quantity;
          }},
         {least_best("Logged", "", "logged_bytes"),
          [](const R& r) {
              return r.logged > 0 ? Cell{format_bytes(r.logged), r.logged} : Cell{"ran out"};
          }},
         {least_best("Estimated", "", "estimated_bytes"),
          [](const R& r) {
              return r.fits   ? Cell{*r.fits ? "fits" : "does not fit"}
                     : r.ours ? Cell{format_bytes(*r.ours), *r.ours}
                              : Cell{r.problem};
          }},
         {least_best("Error", "%", "error"),
          [](const R& r) {
              const auto error = r.error();
              return error ? Cell{fmt::format("{:+.1f}", kLoggedPercent * *error), *error} : Cell{};
          }},
         {{"Source", "", "source"}, &R::source}},
        rows);
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
