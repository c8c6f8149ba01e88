#include "fit/report/power_report.hpp"

#include "fit/errors/power_validation.hpp"
#include "fit/report/statistic_cells.hpp"
#include "report/blocks/columns.hpp"
#include "report/blocks/number_format.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace archsim {

namespace {

std::string boundary_text(const PowerGroup& group) {
    return group.boundary ? std::string(name_of(*group.boundary)) : "all";
}

bool same_rows(const PowerGroup& a, const PowerGroup& b) {
    return a.metric == b.metric && a.boundary == b.boundary && a.family == b.family && a.regime == b.regime;
}

/// Median error and coverage of the same rows, left out of the fits.
void add_left_out_columns(const std::vector<PowerGroup>& groups, const char* name, const std::string& key,
                          std::vector<ColumnOf<PowerGroup>>& columns) {
    const auto share = [&groups](double ErrorStatistics::*of) {
        return [&groups, of](const PowerGroup& shipped) {
            const auto found = std::find_if(groups.begin(), groups.end(), [&](const PowerGroup& group) {
                return same_rows(group, shipped);
            });
            return found == groups.end() ? Cell{} : share_cell(found->errors.*of);
        };
    };
    append_columns(
        columns,
        {{least_best("Median", name, key + "_median_ape"), share(&ErrorStatistics::median_ape)},
         {most_best("In interval", name, key + "_interval_coverage"), share(&ErrorStatistics::coverage)}});
}

} // namespace

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
    append_columns(columns, where<G>([](const G& g) { return g.split > 0; },
                                     {{least_best("Median", "of power", "power_median_ape", 2),
                                       [](const G& g) { return share_cell(g.power_error); }},
                                      {least_best("Bias", "of power", "power_bias", 2),
                                       [](const G& g) { return signed_cell(g.power_bias); }},
                                      {least_best("Median", "of time", "time_median_ape", 2),
                                       [](const G& g) { return share_cell(g.time_error); }},
                                      {least_best("Bias", "of time", "time_bias", 2),
                                       [](const G& g) { return signed_cell(g.time_bias); }}}));
    append_columns(columns, {{most_best("Tau", "devices", "tau_of_devices", 1),
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
