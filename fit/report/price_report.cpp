#include "fit/report/price_report.hpp"

#include "report/blocks/columns.hpp"
#include "report/blocks/number_format.hpp"

#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace archsim {

void add_prices(const std::vector<PriceCheck>& checks, Report& report) {
    if (checks.empty())
        return;
    struct Row {
        const PriceCheck& check;
        const PriceColumn& column;
    };
    std::vector<Row> rows;
    for (const PriceCheck& check : checks)
        for (const PriceColumn& column : check.columns)
            rows.push_back({check, column});
    const auto error = [](double PriceCheck::*of) {
        return [of](const Row& r) { return std::isnan(r.check.*of) ? Cell{} : share_cell(r.check.*of); };
    };
    const auto multiple = [](double PriceColumn::*of) {
        return [of](const Row& r) { return Cell{fmt::format("{:.2f}", r.column.*of), r.column.*of}; };
    };
    Table table = table_of<Row>(
        "Prices against measured power",
        {{{"Family", "", "family"}, [](const Row& r) { return r.check.family; }},
         {{"Prices", "", "prices"},
          [](const Row& r) { return fmt::format("{}", fmt::join(r.column.prices, " + ")); }},
         {most_best("Share", "of power", "share"), [](const Row& r) { return share_cell(r.column.share); }},
         {most_best("Best multiple", "", "factor"), multiple(&PriceColumn::factor)},
         {least_best("Error", "standard", "factor_error"), multiple(&PriceColumn::error)},
         {most_best("Runs", "", "runs"), 1, [](const Row& r) { return r.check.runs; }},
         {most_best("Networks", "", "networks"), 1, [](const Row& r) { return r.check.networks; }},
         {most_best("Devices", "", "devices"), 1, [](const Row& r) { return r.check.devices; }},
         {least_best("Median", "error now", "median_before"), error(&PriceCheck::median_before)},
         {least_best("Median", "at multiples", "median_after"), error(&PriceCheck::median_after)},
         {least_best("Median", "network out", "median_network_out"), error(&PriceCheck::median_network_out)},
         {least_best("Median", "device out", "median_device_out"), error(&PriceCheck::median_device_out)}},
        rows);
    table.notes.push_back(
        "Non-negative least squares of measured power with the events of the estimates as columns, "
        "at measured times where a run states power and energy. Prices in one row cannot be told "
        "apart by any measurement here: they stand or fall together. Network out, device out: power at the "
        "multiples found without it.");
    report.blocks.push_back(Heading{2, "Energy prices"});
    report.blocks.push_back(std::move(table));
}

} // namespace archsim
