#include "fit/report/statistic_cells.hpp"

#include "report/blocks/number_format.hpp"

#include <fmt/format.h>
#include <utility>

namespace archsim {

Cell tau_cell(const RankAgreement& agreement) {
    if (agreement.pairs == 0)
        return {"-", std::nullopt, Tone::muted};
    return {fmt::format("{:.2f} ({})", agreement.tau, agreement.pairs), agreement.tau};
}

std::vector<Column> statistic_columns(std::string heading, std::string key) {
    return {{std::move(heading), "", std::move(key)},
            {"Rows", "", "n", Align::right},
            {"Median", "error", "median_ape", Align::right},
            {"Mean", "error", "mean_ape", Align::right},
            {"90 %", "error", "p90_ape", Align::right, 1},
            {"Bias", "", "bias", Align::right, 1},
            {"Within", "10 %", "within_10", Align::right, 2},
            {"Within", "25 %", "within_25", Align::right},
            {"Within", "50 %", "within_50", Align::right, 2},
            {"In interval", "90 %", "interval_coverage", Align::right, 1},
            {"Tau", "devices", "tau_of_devices", Align::right, 1},
            {"Tau", "models", "tau_of_models", Align::right}};
}

std::vector<Cell> statistic_cells(const ValidationGroup& group) {
    const ErrorStatistics& errors = group.errors;
    return {{group.name.empty() ? "-" : group.name},
            {std::to_string(errors.n), static_cast<double>(errors.n)},
            {format_percent(errors.median_ape), errors.median_ape},
            {format_percent(errors.mean_ape), errors.mean_ape},
            {format_percent(errors.p90_ape), errors.p90_ape},
            {signed_percent(errors.bias), errors.bias},
            {format_percent(errors.within_10), errors.within_10},
            {format_percent(errors.within_25), errors.within_25},
            {format_percent(errors.within_50), errors.within_50},
            {format_percent(errors.coverage), errors.coverage},
            tau_cell(group.devices),
            tau_cell(group.models)};
}

} // namespace archsim
