#include "fit/report/statistic_cells.hpp"

#include "report/blocks/number_format.hpp"
#include "result/quantile.hpp"

#include <fmt/format.h>

#include <numeric>
#include <utility>

namespace archsim {

Cell tau_cell(const RankAgreement& agreement) {
    return agreement.pairs == 0
               ? Cell{}
               : Cell{fmt::format("{:.2f} ({})", agreement.tau, agreement.pairs), agreement.tau};
}

Cell signed_cell(double share) {
    return {signed_percent(share), share};
}

std::vector<ColumnOf<ValidationGroup>> statistic_columns(std::string heading, std::string key) {
    using G = ValidationGroup;
    const auto share = [](double ErrorStatistics::*of) {
        return [of](const G& g) { return share_cell(g.errors.*of); };
    };
    return {
        {{std::move(heading), "", std::move(key)}, &G::name},
        {most_best("Rows", "", "n"), 1, [](const G& g) { return g.errors.n; }},
        {least_best("Median", "error", "median_ape"), share(&ErrorStatistics::median_ape)},
        {least_best("Mean", "error", "mean_ape"), share(&ErrorStatistics::mean_ape)},
        {least_best("90 %", "error", "p90_ape", 1), share(&ErrorStatistics::p90_ape)},
        {least_best("Bias", "", "bias", 1), [](const G& g) { return signed_cell(g.errors.bias); }},
        {most_best("Within", "10 %", "within_10", 2), share(&ErrorStatistics::within_10)},
        {most_best("Within", "25 %", "within_25"), share(&ErrorStatistics::within_25)},
        {most_best("Within", "50 %", "within_50", 2), share(&ErrorStatistics::within_50)},
        {most_best("In interval", "90 %", "interval_coverage", 1), share(&ErrorStatistics::coverage)},
        {most_best("Tau", "devices", "tau_of_devices", 1), [](const G& g) { return tau_cell(g.devices); }},
        {most_best("Tau", "models", "tau_of_models"), [](const G& g) { return tau_cell(g.models); }}};
}

Cell error_cell(const std::vector<double>& errors) {
    if (errors.empty())
        return {};
    const double median = quantile(errors, 0.5);
    const double mean =
        std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size());
    return {fmt::format("{:.1f} / {:.1f}", 100 * median, 100 * mean), median};
}

} // namespace archsim
