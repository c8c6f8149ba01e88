#include "fit/report/price_report.hpp"

#include "report/blocks/cells.hpp"
#include "report/blocks/number_format.hpp"

#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace archsim {

void add_prices(const std::vector<PriceCheck>& checks, Report& report) {
    if (checks.empty())
        return;
    Table table;
    table.title = "Prices against measured power";
    table.columns = {{"Family", "", "family"},
                     {"Prices", "", "prices"},
                     {"Share", "of power", "share", Align::right},
                     {"Best multiple", "", "factor", Align::right},
                     {"Error", "standard", "factor_error", Align::right},
                     {"Runs", "", "runs", Align::right},
                     {"Networks", "", "networks", Align::right},
                     {"Devices", "", "devices", Align::right},
                     {"Median", "error now", "median_before", Align::right},
                     {"Median", "at multiples", "median_after", Align::right},
                     {"Median", "network out", "median_network_out", Align::right},
                     {"Median", "device out", "median_device_out", Align::right}};
    const auto error = [](double value) {
        return std::isnan(value) ? Cell{"-", std::nullopt, Tone::muted} : share_cell(value);
    };
    for (const PriceCheck& check : checks)
        for (const PriceColumn& column : check.columns)
            table.rows.push_back({{check.family},
                                  {fmt::format("{}", fmt::join(column.prices, " + "))},
                                  share_cell(column.share),
                                  {fmt::format("{:.2f}", column.factor), column.factor},
                                  {fmt::format("{:.2f}", column.error), column.error},
                                  {std::to_string(check.runs), static_cast<double>(check.runs)},
                                  {std::to_string(check.networks), static_cast<double>(check.networks)},
                                  {std::to_string(check.devices), static_cast<double>(check.devices)},
                                  error(check.median_before),
                                  error(check.median_after),
                                  error(check.median_network_out),
                                  error(check.median_device_out)});
    table.notes.push_back(
        "Non-negative least squares of measured power with the events of the estimates as columns, "
        "at measured times where a run states power and energy. Prices in one row cannot be told "
        "apart by any measurement here: they stand or fall together. Network out, device out: power at the "
        "multiples found without it.");
    report.blocks.push_back(Heading{2, "Energy prices"});
    report.blocks.push_back(std::move(table));
}

} // namespace archsim
