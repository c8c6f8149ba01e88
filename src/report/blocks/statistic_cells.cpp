#include "report/blocks/statistic_cells.hpp"

#include <fmt/format.h>
#include <utility>

namespace archsim {

namespace {

Cell tau_cell(const RankAgreement& agreement) {
    if (agreement.pairs == 0)
        return {"-", std::nullopt, Tone::muted};
    return {fmt::format("{:.2f}", agreement.tau), agreement.tau};
}

} // namespace

std::string percent(double share) {
    return fmt::format("{:.1f} %", 100 * share);
}

std::string signed_percent(double share) {
    return fmt::format("{:+.1f} %", 100 * share);
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
            {percent(errors.median_ape), errors.median_ape},
            {percent(errors.mean_ape), errors.mean_ape},
            {percent(errors.p90_ape), errors.p90_ape},
            {signed_percent(errors.bias), errors.bias},
            {percent(errors.within_10), errors.within_10},
            {percent(errors.within_25), errors.within_25},
            {percent(errors.within_50), errors.within_50},
            {percent(errors.coverage), errors.coverage},
            tau_cell(group.devices),
            tau_cell(group.models)};
}

} // namespace archsim
