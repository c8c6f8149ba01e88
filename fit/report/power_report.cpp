#include "fit/errors/price_check.hpp"
#include "fit/report/validation_report.hpp"
#include "report/blocks/columns.hpp"
#include "report/blocks/number_format.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/ranges.h>
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

static std::string boundary_text(const PowerGroup& group) {
    return group.boundary ? std::string(name_of(*group.boundary)) : "all";
}

static bool same_rows(const PowerGroup& a, const PowerGroup& b) {
    return a.metric == b.metric && a.boundary == b.boundary && a.family == b.family && a.regime == b.regime;
}

/// Median error and coverage of the same rows, left out of the fits.
static void add_left_out_columns(const std::vector<PowerGroup>& groups, const char* name,
                                 const std::string& key, std::vector<ColumnOf<PowerGroup>>& columns) {
    const auto share = [&groups](double ErrorStatistics::*of) {
        return [&groups, of](const PowerGroup& shipped) {
            const auto found = std::ranges::find_if(
                groups, [&](const PowerGroup& group) { return same_rows(group, shipped); });
            return found == groups.end() ? Cell{} : share_cell(found->errors.*of);
        };
    };
    append(columns,
           {{least_best("Median", name, key + "_median_ape"), share(&ErrorStatistics::median_ape)},
            {most_best("In interval", name, key + "_interval_coverage"), share(&ErrorStatistics::coverage)}});
}

void add_power(const Validation& validation, const LeftOutValidation* left_out, Report& report) {
    const std::vector<PowerGroup> groups = power_groups(validation);
    if (groups.empty())
        return;
    using G = PowerGroup;
    const auto share = [](double ErrorStatistics::*of) {
        return [of](const G& g) { return share_cell(g.errors.*of); };
    };
    std::vector<ColumnOf<G>> columns = {
        {{"Metric", "", "metric"}, [](const G& g) { return name_of(g.metric); }},
        {{"Boundary", "", "boundary"}, boundary_text},
        {{"Family", "", "family"}, &G::family},
        {{"Regime", "", "regime"}, &G::regime},
        {most_best("Rows", "", "n"), 1, [](const G& g) { return g.errors.n; }},
        {least_best("Median", "error", "median_ape"), share(&ErrorStatistics::median_ape)},
        {least_best("Bias", "", "bias"), [](const G& g) { return signed_cell(g.errors.bias); }},
        {most_best("Within", "25 %", "within_25", 1), share(&ErrorStatistics::within_25)},
        {most_best("In interval", "90 %", "interval_coverage"), share(&ErrorStatistics::coverage)}};
    std::vector<G> without_model, without_device;
    if (left_out != nullptr) {
        without_model = power_groups(left_out->without_model);
        without_device = power_groups(left_out->without_device);
        add_left_out_columns(without_model, "network out", "model_out", columns);
        add_left_out_columns(without_device, "device out", "device_out", columns);
    }
    // Which factor of an energy is wrong.
    append(columns, where<G>([](const G& g) { return g.split > 0; },
                             {{least_best("Median", "of power", "power_median_ape", 2),
                               [](const G& g) { return share_cell(g.power_error); }},
                              {least_best("Bias", "of power", "power_bias", 2),
                               [](const G& g) { return signed_cell(g.power_bias); }},
                              {least_best("Median", "of time", "time_median_ape", 2),
                               [](const G& g) { return share_cell(g.time_error); }},
                              {least_best("Bias", "of time", "time_bias", 2),
                               [](const G& g) { return signed_cell(g.time_bias); }}}));
    append(columns, {{most_best("Tau", "devices", "tau_of_devices", 1),
                      [](const G& g) { return tau_cell(g.devices); }},
                     {{"Worst row", "", "worst", Align::left, 3}, &G::worst},
                     {least_best("Its error", "", "worst_error", 3),
                      [](const G& g) { return signed_cell(g.worst_error); }}});
    Table table = table_of("Power and energy (weight >= 0.7)", columns, groups);
    table.notes.emplace_back(
        "Boundary: what lies inside of the measurement. Power at the wall is that of the whole "
        "system, elsewhere that of one device; energy is per item or generated token.",
        "boundary");
    table.notes.emplace_back(
        "Of power, of time: energy is power x time per item; for the rows of energy whose run "
        "states its power too, the error of each factor.",
        "power_median_ape");
    report.blocks.push_back(Heading{2, "Power and energy"});
    report.blocks.push_back(std::move(table));
}

} // namespace archsim
